import { z } from 'zod';

import {
  acceptPasskey,
  addPasskey,
  listPasskeys,
  newPasskeyOptions,
  passkeyOptions,
  removePasskey,
  type Passkey,
} from '../access/users/passkeys.ts';
import { endSessions, recordStepUp, type Audience } from '../access/users/sessions.ts';
import { findUser } from '../access/users/users.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { KeyRing } from '../lib/crypto.ts';
import type { Database } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import { enqueueMail } from '../outbox/mail.ts';
import { securityMail } from './mails.ts';
import { readMe } from './routes.ts';
import * as schema from './schema.ts';

export type PasskeyDeps = {
  db: Database;
  keyRing: KeyRing;
  baseUrl: string;
  /** The addresses of the portal and the console, without a slash at their end. */
  sites: Readonly<Record<Audience, string>>;
};

const PATH = '/api/portal/security/passkeys';
const STEP_UP_PATH = '/api/portal/security/step-up/passkey';
const PERSON = { tag: 'Portal', auth: { by: 'person' } } as const;

const present = ({ id: passkeyId, ...passkey }: Passkey) => ({ passkeyId, ...passkey });

/** A person's passkeys, each of which signs in without password and code, and replaces a code. */
export function passkeyRoutes(deps: PasskeyDeps): Route[] {
  return [...ownPasskeyRoutes(deps), ...stepUpRoutes(deps)];
}

function ownPasskeyRoutes({ db, keyRing, sites }: PasskeyDeps): Route[] {
  return [
    readRoute(`GET ${PATH}`, {
      ...PERSON,
      operationId: 'listPasskeys',
      summary: 'Your passkeys, oldest first',
      responses: { 200: z.array(schema.Passkey) },
      handle: async ({ caller: { userId } }) => ({
        message: 'Passkeys retrieved',
        data: (await listPasskeys(db, userId)).map(present),
      }),
    }),
    writeRoute(`POST ${PATH}/options`, {
      ...PERSON,
      operationId: 'beginPasskey',
      summary: 'Get the options with which your browser creates a passkey, within 10 minutes',
      stepUp: 'always',
      responses: { 201: schema.PasskeyOptions },
      errors: ['INVALID_STATE'],
      handle: async ({ tx: { trx }, caller, at }) => {
        const user = await findUser(trx, caller.userId);
        const data = await newPasskeyOptions(trx, sites[caller.audience], { user, at });
        return { status: 201, message: 'Options created', data: { ...data } };
      },
    }),
    writeRoute(`POST ${PATH}`, {
      ...PERSON,
      operationId: 'addPasskey',
      audit: 'passkey.add',
      summary: 'Add the passkey that your browser has created',
      stepUp: 'always',
      body: schema.NewPasskey,
      responses: { 201: schema.Passkey },
      errors: ['INVALID_STATE'],
      handle: async ({ tx: { trx }, caller, body: { name, ...passkey }, at }) => {
        const { userId } = caller;
        const added = await addPasskey(trx, sites[caller.audience], { userId, name, passkey, at });
        const { email, language } = await findUser(trx, userId);
        await enqueueMail(trx, keyRing, { recipient: email, ...securityMail(language, 'passkey') });
        return { status: 201, message: 'Passkey added', data: present(added) };
      },
    }),
    writeRoute(`POST ${PATH}/:passkeyId/remove`, {
      ...PERSON,
      operationId: 'removePasskey',
      audit: 'passkey.remove',
      summary: 'Remove one of your passkeys, such as that of a lost device; all other sessions end',
      stepUp: 'always',
      params: schema.PasskeyParams,
      responses: { 200: z.null() },
      errors: ['NOT_FOUND'],
      handle: async ({ tx: { trx }, caller: { userId, sessionId }, params: { passkeyId: id }, at }) => {
        await removePasskey(trx, { id, userId, at });
        await endSessions(trx, userId, { at, keep: sessionId });
        return { message: 'Passkey removed. All other sessions have ended', data: null };
      },
    }),
  ];
}

function stepUpRoutes({ baseUrl, sites }: PasskeyDeps): Route[] {
  return [
    writeRoute(`POST ${STEP_UP_PATH}-options`, {
      ...PERSON,
      operationId: 'beginStepUpWithPasskey',
      summary: 'Get the options with which your browser signs with one of your passkeys, within 10 minutes',
      responses: { 201: schema.PasskeyOptions },
      handle: async ({ tx: { trx }, caller, at }) => {
        const data = await passkeyOptions(trx, sites[caller.audience], { userId: caller.userId, at });
        return { status: 201, message: 'Options created', data: { ...data } };
      },
    }),
    writeRoute(`POST ${STEP_UP_PATH}`, {
      ...PERSON,
      operationId: 'stepUpWithPasskey',
      summary: 'Use a passkey in place of a code, for what needs one in the next 5 minutes',
      body: schema.PasskeySignature,
      responses: { 200: schema.Me },
      handle: async ({ tx: { trx }, caller, body: signed, at }) => {
        const { userId, sessionId } = caller;
        if (!(await acceptPasskey(trx, sites[caller.audience], { userId, signed, at }))) {
          throw invalid('signature', 'is not of an open request of this person, or by no passkey of theirs');
        }
        await recordStepUp(trx, sessionId, at);
        return { message: 'Passkey accepted', data: await readMe({ db: trx, baseUrl }, sessionId, at) };
      },
    }),
  ];
}
