import type { z } from 'zod';

import { liveRequirementIssues } from '../access/authenticate.ts';
import { stepUpUntil } from '../access/users/identify.ts';
import { ALL_PERMISSIONS, permissionsOf, rolesWith, TWO_FACTOR_ROLES } from '../access/users/roles.ts';
import { readSession, switchMerchant } from '../access/users/sessions.ts';
import { listMemberships } from '../access/users/users.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { Database, Queryable } from '../lib/db.ts';
import { countUnsentMails } from '../outbox/mail.ts';
import * as schema from './schema.ts';

type Deps = {
  db: Database;
  baseUrl: string;
  /** Whether mails are shown at /dev/mail: of a local installation. */
  showsMail: boolean;
};

const PERSON = { tag: 'Portal', auth: { by: 'person' } } as const;

/** What the portal's pages need beside the merchants' API. */
export function portalRoutes({ db, baseUrl, showsMail }: Deps): Route[] {
  return [
    readRoute('GET /api/portal/me', {
      ...PERSON,
      operationId: 'getMe',
      summary: 'Who is signed in, in which merchant, and what the role may do there',
      responses: { 200: schema.Me },
      handle: async ({ caller, at }) => {
        const mailCount = showsMail ? await countUnsentMails(db) : undefined;
        return { message: 'Signed in', data: { ...(await readMe({ db, baseUrl }, caller.sessionId, at)), mailCount } };
      },
    }),
    writeRoute('POST /api/portal/switch', {
      ...PERSON,
      operationId: 'switchMerchant',
      summary: 'Make another of your merchants the active one of this session',
      body: schema.Switch,
      responses: { 200: schema.Me },
      errors: ['NOT_FOUND'],
      handle: async ({ tx: { trx }, caller, body, at }) => {
        await switchMerchant(trx, { ...caller, merchantId: body.merchantId });
        return { message: 'Merchant switched', data: await readMe({ db: trx, baseUrl }, caller.sessionId, at) };
      },
    }),
  ];
}

/** The person of a session. Throws AUTHENTICATION_REQUIRED. */
export async function readMe(
  { db, baseUrl }: { db: Queryable; baseUrl: string },
  sessionId: string,
  at: Date,
): Promise<z.input<typeof schema.Me>> {
  const session = await readSession(db, sessionId, at);
  const { userId, email, name, language, calendar, clock, role, kycStatus } = session;
  const issues = liveRequirementIssues(session).map(({ issue }) => issue);
  const permissions: string[] = role ? permissionsOf(role) : [];
  const denied = ALL_PERMISSIONS.filter((permission) => !permissions.includes(permission));
  return {
    user: { userId, email, name, language, calendar, clock },
    merchant: role && {
      merchantId: session.merchantId ?? '',
      name: session.merchantName ?? '',
      status: session.merchantStatus ?? 'ACTIVE',
      kycStatus,
      liveEnabled: issues.length === 0,
      liveReason: issues.length === 0 ? null : `Live works once ${issues.join(', and ')}.`,
    },
    memberships: await listMemberships(db, userId),
    role,
    permissions,
    denied: denied.map((permission) => ({ permission, roles: rolesWith(permission) })),
    apiUrl: baseUrl,
    twoFactor: {
      enabled: session.totpEnabledAt !== null,
      requiredForLive: role !== null && TWO_FACTOR_ROLES.includes(role),
      stepUpUntil: stepUpUntil(session, at),
    },
  };
}
