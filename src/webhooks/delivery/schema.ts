import { z } from 'zod';

import { environment, id, links, reason, requestListQuery, temporalUrl } from '../../access/operator-schema.ts';
import { instant, plainText, reference } from '../../lib/fields.ts';
import { statusParam } from '../../lib/pagination.ts';
import { EVENT_TYPE_NAMES } from '../events/catalogue.ts';
import { Attempt, Delivery } from '../events/schema.ts';
import { DELIVERY_STATUSES } from './states.ts';

const HOST_CHARACTERS_MAX = 253;

/** The states of operators' lists: DEAD_LETTER has an open dead letter, also while a resend of it is pending. */
export const LISTED_STATUSES = [...DELIVERY_STATUSES, 'DEAD_LETTER'] as const;

export const DeliveryParams = z.strictObject({ deliveryId: id });
export const DeliveryQuery = z.strictObject({
  status: statusParam(LISTED_STATUSES).optional(),
  event: z.enum(EVENT_TYPE_NAMES).optional(),
  receiverHost: plainText(HOST_CHARACTERS_MAX).min(1).optional().describe("The host name of the receiver's URL"),
  checkoutOrderNo: reference.optional(),
  ...requestListQuery,
});
export const ResendBody = z.strictObject({
  reason: reason.describe('Recorded with the attempt, where the merchant sees it too, and in the audit log'),
  force: z.boolean().optional().describe('Also if it was delivered'),
});

/** A delivery as operators see it. */
export const OperatorDelivery = Delivery.extend({
  eventId: z.string(),
  event: z.string(),
  merchantId: z.string(),
  merchantName: z.string(),
  environment,
  checkoutOrderNo: z.string().nullable().describe('Of the transaction that the event is about'),
  receiverHost: z.string(),
  createdAt: instant,
  temporalUrl,
  links,
}).meta({ id: 'OpsDelivery' });

/** The same with the event, the subscription, and every attempt. */
export const OperatorDeliveryDetail = OperatorDelivery.extend({
  resourceType: z.string(),
  resourceId: z.string(),
  subscription: z.object({
    state: z.enum(['active', 'inactive', 'deleted']),
    description: z.string(),
    consecutiveFailures: z.int().describe('Of all its deliveries'),
    throttledUntil: instant.nullable().describe('Until then few attempts run at once, because many have failed'),
  }),
  workflowId: z.string(),
  attemptLog: z.array(Attempt).describe('The last 100 attempts, oldest first, with the first part of each response'),
}).meta({ id: 'OpsDeliveryDetail' });
