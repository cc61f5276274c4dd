import { z } from 'zod';

import { recordMerchantAudit } from '../access/merchant-audit.ts';
import { hashPassword, isPassword, passwordIssue } from '../access/users/passwords.ts';
import { endSession, endSessions, listSessions, recordStepUp } from '../access/users/sessions.ts';
import {
  acceptSecondFactor,
  beginTwoFactor,
  checkLimited,
  confirmTwoFactor,
  countRecoveryCodes,
  renewRecoveryCodes,
  turnTwoFactorOff,
} from '../access/users/totp.ts';
import { changeUser, findUser } from '../access/users/users.ts';
import { auditRow } from '../http/audit.ts';
import type { MerchantAction } from '../http/people.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import { invalid, notFound } from '../lib/errors.ts';
import { enqueueMail } from '../outbox/mail.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { securityMail } from './mails.ts';
import { passkeyRoutes, type PasskeyDeps } from './passkey-routes.ts';
import { replacePassword } from './replace-password.ts';
import { readMe } from './routes.ts';
import * as schema from './schema.ts';

export type SecurityDeps = PasskeyDeps & { runInTransaction: RunInTransaction };

const PATH = '/api/portal/security';
const PERSON = { tag: 'Portal', auth: { by: 'person' } } as const;

/** A person's own account: password, two factors, sessions and profile. */
export function securityRoutes(deps: SecurityDeps): Route[] {
  return [
    ...accountRoutes(deps),
    ...appRoutes(deps),
    ...codeRoutes(deps),
    ...passkeyRoutes(deps),
    ...sessionRoutes(deps),
  ];
}

function accountRoutes(deps: SecurityDeps): Route[] {
  return [
    readRoute('GET /api/portal/security', {
      ...PERSON,
      operationId: 'getSecurity',
      summary: 'Whether two-factor authentication is on, and how many recovery codes are left',
      responses: { 200: schema.Security },
      handle: async ({ caller: { userId } }) => {
        const [{ totpEnabledAt }, recoveryCodesLeft] = await Promise.all([
          findUser(deps.db, userId),
          countRecoveryCodes(deps.db, userId),
        ]);
        return { message: 'Security retrieved', data: { twoFactorSince: totpEnabledAt, recoveryCodesLeft } };
      },
    }),
    readRoute('POST /api/portal/security/password', {
      ...PERSON,
      operationId: 'changePassword',
      summary: 'Change your password; all other sessions end',
      body: schema.PasswordChange,
      responses: { 200: z.null() },
      handle: async ({ body, ...request }) => {
        const { caller, at } = request;
        const { userId, sessionId } = caller;
        const { email, name } = await findUser(deps.db, userId);
        const issue = passwordIssue(body.newPassword, [email, name]);
        if (issue) throw invalid('newPassword', ISSUES[issue]);
        const passwordHash = await hashPassword(body.newPassword);
        await withPassword(deps, { userId, at, ...body }, async (trx, user, tx) => {
          await replacePassword(trx, deps.keyRing, { user, passwordHash, at, keepSession: sessionId });
          await recordOwnChange(tx, request, 'password.change');
        });
        return { message: 'Password changed. All other sessions have ended', data: null };
      },
    }),
    writeRoute('PATCH /api/portal/profile', {
      ...PERSON,
      operationId: 'changeProfile',
      summary: 'Change your name, language, calendar or clock',
      body: schema.Profile,
      responses: { 200: schema.Me },
      handle: async ({ tx: { trx }, caller, body, at }) => {
        await changeUser(trx, caller.userId, body);
        return { message: 'Profile changed', data: await readMe({ ...deps, db: trx }, caller.sessionId, at) };
      },
    }),
  ];
}

/** In the audit log of the active merchant, by a route that opens its own transaction. */
async function recordOwnChange(tx: UnitOfWork, request: Parameters<typeof auditRow>[0], action: MerchantAction) {
  const row = auditRow(request, action);
  if (row) await recordMerchantAudit(tx, row);
}

const ISSUES = {
  short: { issue: 'must have at least 10 characters', code: 'too_short', params: { minimum: 10 } },
  long: { issue: 'must have at most 256 characters', code: 'too_long', params: { maximum: 256 } },
  common: {
    issue: 'is too common, or has your name or address: choose several words that do not belong together',
    code: 'common_password',
  },
} as const;

/** Throws VALIDATION_ERROR for a wrong code, RATE_LIMITED after too many. */
async function ensureCode(
  { runInTransaction }: SecurityDeps,
  of: { userId: string; at: Date },
  check: Check,
): Promise<void> {
  if (await checkLimited(runInTransaction, of, check)) return;
  const issue = 'is wrong, or was used before: enter the next one that the app shows';
  throw invalid('code', { issue, code: 'wrong_code' });
}

type Check = Parameters<typeof checkLimited>[2];

/** Does `work` if the person's password is right. Throws VALIDATION_ERROR for a wrong one, RATE_LIMITED after too many. */
async function withPassword(
  { runInTransaction }: SecurityDeps,
  { userId, at, currentPassword }: { userId: string; at: Date; currentPassword: string },
  work: (...of: Parameters<Check>) => Promise<void>,
): Promise<void> {
  const isRight = await checkLimited(runInTransaction, { userId, at }, async (...of) => {
    const [, { passwordHash }] = of;
    if (!(await isPassword(passwordHash, currentPassword))) return false;
    await work(...of);
    return true;
  });
  if (!isRight) throw invalid('currentPassword', { issue: 'is wrong', code: 'wrong_password' });
}

function appRoutes(deps: SecurityDeps): Route[] {
  const { keyRing } = deps;
  return [
    readRoute(`POST ${PATH}/two-factor`, {
      ...PERSON,
      operationId: 'beginTwoFactor',
      summary: 'Get a secret for your authenticator app; it counts once a code of it was entered',
      description: 'Needs your password: whoever found your session open could lock you out otherwise.',
      body: schema.CurrentPassword,
      responses: { 201: schema.NewTwoFactor },
      errors: ['INVALID_STATE'],
      handle: async ({ body, caller: { userId }, at }) => {
        let data: Awaited<ReturnType<typeof beginTwoFactor>> | undefined;
        await withPassword(deps, { userId, at, ...body }, async (trx) => {
          data = await beginTwoFactor(trx, keyRing, userId);
        });
        return { status: 201, message: 'Secret created', data };
      },
    }),
    readRoute(`POST ${PATH}/two-factor/confirm`, {
      ...PERSON,
      operationId: 'confirmTwoFactor',
      summary:
        'Turn two-factor authentication on with a code of the app; all other sessions end, and the recovery codes are returned once',
      body: schema.Code,
      responses: { 201: schema.RecoveryCodes },
      handle: async ({ body: { code }, ...request }) => {
        const { caller, at } = request;
        let recoveryCodes: string[] | null = null;
        await ensureCode(deps, { ...caller, at }, async (trx, user, tx) => {
          recoveryCodes = await confirmTwoFactor(trx, keyRing, { user, code, at });
          if (recoveryCodes === null) return false;
          await recordStepUp(trx, caller.sessionId, at);
          // They began with a password alone, and would now be let into live.
          await endSessions(trx, caller.userId, { at, keep: caller.sessionId });
          await recordOwnChange(tx, request, 'two-factor.turn-on');
          return true;
        });
        return {
          status: 201,
          message: 'Two-factor authentication is on. All other sessions have ended',
          data: { recoveryCodes },
        };
      },
    }),
    writeRoute(`POST ${PATH}/two-factor/off`, {
      ...PERSON,
      operationId: 'turnTwoFactorOff',
      audit: 'two-factor.turn-off',
      summary: 'Turn two-factor authentication off',
      stepUp: 'always',
      responses: { 200: z.null() },
      handle: async ({ tx: { trx }, caller: { userId }, at }) => {
        await turnTwoFactorOff(trx, { userId, at });
        const { email, language } = await findUser(trx, userId);
        await enqueueMail(trx, keyRing, { recipient: email, ...securityMail(language, 'twoFactorOff') });
        return { message: 'Two-factor authentication is off', data: null };
      },
    }),
  ];
}

function codeRoutes(deps: SecurityDeps): Route[] {
  const { runInTransaction, keyRing } = deps;
  return [
    writeRoute(`POST ${PATH}/recovery-codes`, {
      ...PERSON,
      operationId: 'renewRecoveryCodes',
      audit: 'two-factor.renew-codes',
      summary: 'Replace the recovery codes; the new ones are returned once',
      stepUp: 'always',
      responses: { 201: schema.RecoveryCodes },
      handle: async ({ tx: { trx }, caller, at }) => {
        const recoveryCodes = await renewRecoveryCodes(trx, caller.userId, at);
        return { status: 201, message: 'Recovery codes replaced', data: { recoveryCodes } };
      },
    }),
    readRoute(`POST ${PATH}/step-up`, {
      ...PERSON,
      operationId: 'stepUp',
      summary: 'Enter a code of the app, or a recovery code, for what needs one in the next 5 minutes',
      body: schema.Code,
      responses: { 200: schema.Me },
      handle: async ({ caller, body: { code }, at }) => {
        await ensureCode(deps, { ...caller, at }, async (trx, user) => {
          if (!(await acceptSecondFactor(trx, keyRing, { user, code, at }))) return false;
          await recordStepUp(trx, caller.sessionId, at);
          return true;
        });
        const data = await runInTransaction(({ trx }) => readMe({ ...deps, db: trx }, caller.sessionId, at));
        return { message: 'Code accepted', data };
      },
    }),
  ];
}

function sessionRoutes({ db }: SecurityDeps): Route[] {
  return [
    writeRoute('POST /api/portal/sign-out', {
      ...PERSON,
      operationId: 'signOut',
      summary: 'End this session',
      responses: { 200: z.null() },
      handle: async ({ tx: { trx }, caller, at }) => {
        await endSession(trx, { id: caller.sessionId, userId: caller.userId }, at);
        return { message: 'Signed out', data: null };
      },
    }),
    readRoute('GET /api/portal/sessions', {
      ...PERSON,
      operationId: 'listOwnSessions',
      summary: 'Your sessions that have not ended, newest first',
      responses: { 200: z.array(schema.PersonSession) },
      handle: async ({ caller, at }) => {
        const sessions = await listSessions(db, caller.userId, at);
        const data = sessions.map((row) => ({ ...row, sessionId: row.id, current: row.id === caller.sessionId }));
        return { message: 'Sessions retrieved', data };
      },
    }),
    writeRoute('POST /api/portal/sessions/:sessionId/end', {
      ...PERSON,
      operationId: 'endOwnSession',
      summary: 'End one of your sessions; its next request is rejected',
      params: schema.SessionParams,
      responses: { 200: z.null() },
      handle: async ({ tx: { trx }, caller: { userId }, params, at }) => {
        if (!(await endSession(trx, { id: params.sessionId, userId }, at))) throw notFound('session');
        return { message: 'Session ended', data: null };
      },
    }),
    writeRoute('POST /api/portal/sessions/end-all', {
      ...PERSON,
      operationId: 'endAllSessions',
      summary: 'Sign out everywhere, here too',
      responses: { 200: z.null() },
      handle: async ({ tx: { trx }, caller, at }) => {
        await endSessions(trx, caller.userId, { at });
        return { message: 'Signed out everywhere', data: null };
      },
    }),
  ];
}
