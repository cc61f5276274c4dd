import type { z } from 'zod';

import type * as portal from '../../../src/portal/schema.ts';
import { createCalls } from '../use-calls.ts';

/** The signed-in person. */
export type Me = z.output<typeof portal.Me>;
export type Passkey = z.output<typeof portal.Passkey>;
export type PasskeyOptions = z.output<typeof portal.PasskeyOptions>;
type RecoveryCodes = z.output<typeof portal.RecoveryCodes>;
export type PersonSession = z.output<typeof portal.PersonSession>;

/** The routes of a person's own account, which the listeners of all people have. */
type Routes = {
  'GET /api/portal/security': z.output<typeof portal.Security>;
  'POST /api/portal/security/password': null;
  'PATCH /api/portal/profile': Me;
  'POST /api/portal/security/two-factor': z.output<typeof portal.NewTwoFactor>;
  'POST /api/portal/security/two-factor/confirm': RecoveryCodes;
  'POST /api/portal/security/two-factor/off': null;
  'POST /api/portal/security/recovery-codes': RecoveryCodes;
  'POST /api/portal/security/step-up': Me;
  'POST /api/portal/security/step-up/passkey-options': PasskeyOptions;
  'POST /api/portal/security/step-up/passkey': Me;
  'GET /api/portal/security/passkeys': Passkey[];
  'POST /api/portal/security/passkeys/options': PasskeyOptions;
  'POST /api/portal/security/passkeys': Passkey;
  'POST /api/portal/security/passkeys/:passkeyId/remove': null;
  'GET /api/portal/sessions': PersonSession[];
  'POST /api/portal/sessions/:sessionId/end': null;
  'POST /api/portal/sessions/end-all': null;
  'POST /api/portal/sign-out': null;
};

export const { call, useRead, useChange } = createCalls<Routes>();
