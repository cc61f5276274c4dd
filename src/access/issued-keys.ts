import type { Clock } from '../lib/clock.ts';
import type { Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { scopeOf } from '../lib/scope.ts';
import {
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
  type ApiKey,
  type CreatedKey,
  type NewKey,
  type Rotation,
} from './api-keys.ts';
import type { AuditContext, AuditedChange } from './audit.ts';
import { secretHoldersOf } from './separation-of-duties.ts';

type Deps = { pepper: string; clock: Clock };
type Audited = { audit: AuditedChange | null };

/** An operator creates a key for a merchant. Throws VALIDATION_ERROR. */
export async function issueKey(context: AuditContext, deps: Deps, input: NewKey): Promise<CreatedKey & Audited> {
  const { trx } = context.tx;
  const created = await createKey({ trx, ...deps }, { ...input, ...(await issuerOf(context)) });
  const { kind, name, scopes, ipRanges, expiresAt } = created.key;
  return { ...created, audit: auditKey(created.key, { kind, name, scopes, ipRanges, expiresAt }) };
}

/** An operator rotates a merchant's key. Throws NOT_FOUND, INVALID_STATE, VALIDATION_ERROR. */
export async function rotateIssuedKey(
  context: AuditContext,
  deps: Deps,
  { merchantId, ...rotation }: Rotation & { merchantId: string },
): Promise<CreatedKey & Audited> {
  const { trx } = context.tx;
  await requireKey(trx, { id: rotation.keyId, merchantId });
  const { key, secret, old } = await rotateKey({ trx, ...deps }, { ...rotation, ...(await issuerOf(context)) });
  return { key, secret, audit: auditKey(old, { rotatedTo: key.id, expiresAt: old.expiresAt }) };
}

/** An operator revokes a merchant's key. Idempotent. Throws NOT_FOUND. */
export async function revokeIssuedKey(
  { tx, at }: AuditContext,
  { merchantId, keyId }: { merchantId: string; keyId: string },
): Promise<{ key: ApiKey } & Audited> {
  const { trx } = tx;
  await requireKey(trx, { id: keyId, merchantId });
  const { key, ended } = await revokeKey({ trx, clock: () => at }, keyId);
  return { key, audit: ended ? auditKey(key, { revokedAt: key.revokedAt }) : null };
}

async function requireKey(db: Queryable, key: { id: string; merchantId: string }): Promise<void> {
  if ((await listKeys(db, key)).length === 0) throw notFound('key');
}

async function issuerOf(context: AuditContext): Promise<Pick<NewKey, 'createdBy' | 'secretHolders'>> {
  return { createdBy: context.operatorId, secretHolders: await secretHoldersOf(context.tx.trx, context) };
}

function auditKey(key: ApiKey, after: Record<string, unknown>): AuditedChange {
  return { resourceType: 'key', resourceId: key.id, ...scopeOf(key), after };
}
