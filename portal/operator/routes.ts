import type { z } from 'zod';

import type { Hit as HitSchema } from '../../src/backoffice/search.ts';
import type * as deliveries from '../../src/webhooks/delivery/schema.ts';
import { askForCode as onStepUp } from '../ui/step-up.ts';
import { createCalls } from '../ui/use-calls.ts';

/** The signed-in operator, and what their role may do. */
export type Me = {
  operatorId: string;
  role: string;
  user: { name: string; email: string; language: string; calendar: 'gregorian' | 'ethiopic' | 'both' };
  permissions: string[];
  denied: { permission: string; roles: string[] }[];
};
export type Hit = z.output<typeof HitSchema>;
export type Delivery = z.output<typeof deliveries.OperatorDelivery>;
export type DeliveryDetail = z.output<typeof deliveries.OperatorDeliveryDetail>;

/** The routes that the console calls, and the data of their success. */
type Routes = {
  'GET /api/ops/me': Me;
  'GET /api/ops/search': Hit[];
  'GET /api/ops/webhooks/deliveries': Delivery[];
  'GET /api/ops/webhooks/deliveries/:deliveryId': DeliveryDetail;
  'POST /api/portal/sign-out': null;
  'POST /api/portal/security/step-up': unknown;
  /** Commands, by the address in the links of what they change. */
  [command: `${'POST' | 'PUT' | 'PATCH' | 'DELETE'} /api/ops/${string}`]: unknown;
};

const onSignedOut = (): void => {
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
};

export const { call, useRead, useChange } = createCalls<Routes>({ headers: {}, onSignedOut, onStepUp });

/** Who is signed in. */
export const readMe = async (): Promise<Me> => (await call('GET /api/ops/me', {})).data;
