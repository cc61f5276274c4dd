import { z } from 'zod';

import {
  createKey,
  daysAfter,
  findKey,
  listKeys,
  presentKey,
  revokeKey,
  rotateKey,
  ROTATION_OVERLAP_HOURS,
  type ApiKey,
} from '../access/api-keys.ts';
import { ensureLiveRequirements } from '../access/authenticate.ts';
import { ensurePermission } from '../access/users/identify.ts';
import { readSession } from '../access/users/sessions.ts';
import { readRoute, SCOPES, writeRoute, type Route, type Scope, type UserCaller } from '../http/route.ts';
import type { Database, Queryable } from '../lib/db.ts';
import { scopeOf } from '../lib/scope.ts';
import { KeyRotation } from '../merchants/schema.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; pepper: string };

const READ = { tag: 'Portal', auth: { by: 'member', permission: 'keys:read' } } as const;
const WRITE = { tag: 'Portal', auth: { by: 'member', permission: 'keys:write' }, stepUp: 'live' } as const;

/** A merchant's keys in the environment of the request, for its people. */
export function keyRoutes(deps: Deps): Route[] {
  return [...readingRoutes(deps), ...changingRoutes(deps)];
}

function readingRoutes({ db, pepper }: Deps): Route[] {
  return [
    readRoute('GET /api/portal/keys', {
      ...READ,
      operationId: 'listKeys',
      summary: 'The keys of your merchant in this environment, expired and revoked ones too, newest first',
      responses: { 200: z.array(schema.PersonsKey) },
      handle: async ({ caller }) => {
        if (caller.environment === 'live') ensurePermission(caller, 'live-keys:read');
        return { message: 'Keys retrieved', data: (await listKeys(db, scopeOf(caller))).map(presentKey) };
      },
    }),
    writeRoute('POST /api/portal/keys', {
      ...WRITE,
      operationId: 'createKey',
      audit: 'key.create',
      summary: 'Create a key; its secret is returned once',
      description:
        'A live key works once the merchant is verified; until then it is not created. In live a key has no scope that your role lacks.',
      body: schema.NewKey,
      responses: { 201: schema.CreatedKey },
      errors: ['KYC_REQUIRED'],
      handle: async ({ tx: { trx }, caller, body, at }) => {
        const { name = '', scopes = [], ipRanges = [], days } = body;
        await ensureMayHold(trx, { caller, at }, scopes.length === 0 ? SCOPES : scopes);
        const created = await createKey(
          { trx, pepper, clock: () => at },
          {
            ...scopeOf(caller),
            kind: scopes.length === 0 ? 'secret' : 'restricted',
            name,
            scopes,
            ipRanges,
            expiresAt: days === undefined ? null : daysAfter(at, days),
            createdBy: caller.userId,
          },
        );
        return presentCreated(created, 'Key created', {});
      },
    }),
  ];
}

function changingRoutes({ pepper }: Deps): Route[] {
  const one = { params: schema.KeyParams };
  return [
    writeRoute('POST /api/portal/keys/:keyId/rotate', {
      ...WRITE,
      ...one,
      operationId: 'rotateKey',
      audit: 'key.rotate',
      summary: 'Create a successor of a key; both work until the overlap ends. The secret is returned once',
      body: KeyRotation,
      responses: { 201: schema.CreatedKey },
      errors: ['INVALID_STATE', 'KYC_REQUIRED'],
      handle: async ({ tx: { trx }, caller, params: { keyId }, body, at }) => {
        const old = await findKey(trx, { id: keyId, ...scopeOf(caller) });
        await ensureMayHold(trx, { caller, at }, old.kind === 'secret' ? SCOPES : old.scopes);
        const overlapHours = body.overlapHours ?? ROTATION_OVERLAP_HOURS.default;
        const created = await rotateKey(
          { trx, pepper, clock: () => at },
          { keyId, overlapHours, createdBy: caller.userId },
        );
        return presentCreated(created, 'Key rotated', { successorOf: keyId, overlapHours });
      },
    }),
    writeRoute('POST /api/portal/keys/:keyId/revoke', {
      ...WRITE,
      ...one,
      operationId: 'revokeKey',
      audit: 'key.revoke',
      summary: 'Revoke a key; it is rejected within 5 s',
      responses: { 200: schema.PersonsKey },
      handle: async ({ tx: { trx }, caller, params: { keyId }, at }) => {
        if (caller.environment === 'live') ensurePermission(caller, 'live-keys:write');
        await findKey(trx, { id: keyId, ...scopeOf(caller) });
        const { key, ended } = await revokeKey({ trx, clock: () => at }, keyId);
        const audit = ended ? { before: { name: key.name } } : null;
        return { message: 'Key revoked', data: presentKey(key), audit };
      },
    }),
  ];
}

/**
 * Throws in live: INSUFFICIENT_SCOPE for a role that may not, or that lacks a scope of the key, since a key would give what
 * the role does not; KYC_REQUIRED before the merchant is verified.
 */
async function ensureMayHold(
  db: Queryable,
  { caller, at }: { caller: UserCaller; at: Date },
  scopes: readonly Scope[],
): Promise<void> {
  if (caller.environment === 'sandbox') return;
  ensurePermission(caller, 'live-keys:write');
  for (const scope of scopes) ensurePermission(caller, scope);
  ensureLiveRequirements(await readSession(db, caller.sessionId, at), 'Live keys can be created');
}

function presentCreated({ key, secret }: { key: ApiKey; secret: string }, message: string, more: object) {
  const data = { ...presentKey(key), secret };
  const { id: resourceId, name, kind, scopes, ipRanges, expiresAt } = key;
  const audit = { resourceId, after: { name, kind, scopes, ipRanges, expiresAt, ...more } };
  return { status: 201, message: `${message}. Store it now: it is not returned again`, data, audit };
}
