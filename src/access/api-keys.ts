import type { Scope } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { snakeCase } from '../lib/column-names.ts';
import { DAY_MS, HOUR_MS } from '../lib/dates.ts';
import { first, insertRow, type Queryable, rows, type Trx, updateRow } from '../lib/db.ts';
import { AppError, found, invalidState } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { paginateNewest, whereGiven } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import type { Environment } from '../lib/scope.ts';
import { generateKey, hashKey, maskKey, pepperId, type KeyKind } from './key-format.ts';

/** How long a rotated key stays valid beside its successor, in hours. */
export const ROTATION_OVERLAP_HOURS = { default: 24, max: 168 } as const;

/** The lifetime of an operator's key, in days. */
export const OPERATOR_KEY_DAYS = { default: 90, max: 365 } as const;

/** A row of `api_key`: the key of a merchant in one environment, or of an operator. */
export type ApiKey = {
  id: string;
  merchantId: string | null;
  environment: Environment | null;
  operatorId: string | null;
  kind: KeyKind;
  name: string;
  /** Its first 12 characters, and its last four: a part of the checksum, they reveal nothing of the secret itself. */
  prefix: string;
  lastFour: string | null;
  secretHash: Buffer;
  /** Of the pepper it is hashed under; null: unknown. */
  pepperId: string | null;
  /** Of restricted keys: a secret key has all. */
  scopes: Scope[];
  /** Addresses in CIDR notation it may be used from; none: any. */
  ipRanges: string[];
  /** opr_…, who invited the merchant to create it; null: not created through an invitation. */
  createdBy: string | null;
  rotatedTo: string | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
};

export type KeyDeps = { trx: Trx; pepper: string; clock: Clock };

type Owner = 'merchantId' | 'environment' | 'operatorId';

/** A key to create, for a merchant in one environment or for an operator. */
export type NewKey = Pick<ApiKey, 'kind'> &
  Partial<Pick<ApiKey, Owner | 'name' | 'scopes' | 'ipRanges' | 'expiresAt' | 'createdBy'>>;

/** A merchant's key to create, which expires `days` after its creation, or never; or one to rotate. */
export type InvitedKey =
  | (Pick<ApiKey, 'environment' | 'kind' | 'name' | 'scopes' | 'ipRanges'> & { days?: number | undefined })
  | { rotates: string; overlapHours?: number | undefined };

/** A new key; `secret` is its text, of which the table stores a hash. */
export type CreatedKey = { key: ApiKey; secret: string };

/** Creates a key. Throws API_KEY_REVOKED for an inactive operator. */
export async function createKey({ trx, pepper, clock }: KeyDeps, input: NewKey): Promise<CreatedKey> {
  const sql = 'SELECT id FROM operator WHERE id = :operatorId AND active FOR SHARE';
  if (input.operatorId && !(await first(trx, sql, { operatorId: input.operatorId })))
    throw new AppError('API_KEY_REVOKED', 'This operator is inactive. Ask an admin.');
  const createdAt = clock();
  const id = newId(input.kind === 'operator' ? 'opk' : 'key', createdAt.getTime());
  const secret = generateKey({ id, kind: input.kind, environment: input.environment ?? null });
  const stored = { prefix: secret.slice(0, 12), lastFour: secret.slice(-4), secretHash: hashKey(pepper, secret) };
  const row = { ...input, ...stored, id, pepperId: pepperId(pepper), createdAt };
  return { key: await insertRow<ApiKey>(trx, 'api_key', row), secret };
}

/** Creates an operator's key, for 90 days unless given. Throws API_KEY_REVOKED for an inactive operator. */
export async function createOperatorKey(
  deps: KeyDeps,
  { days = OPERATOR_KEY_DAYS.default, ...key }: { operatorId: string; name?: string; days?: number | undefined },
): Promise<CreatedKey> {
  return createKey(deps, { ...key, kind: 'operator', expiresAt: daysAfter(deps.clock(), days) });
}

/** When a key with this lifetime expires. */
export function daysAfter(at: Date, days: number): Date {
  return new Date(at.getTime() + days * DAY_MS);
}

type KeyFilter = Partial<Pick<ApiKey, 'id' | Owner>>;

/** The keys that match, expired and revoked ones too, newest first. */
export async function listKeys(db: Queryable, filter: KeyFilter): Promise<ApiKey[]> {
  const conditions = Object.keys(filter).map((name) => `${snakeCase(name)} = :${name}`);
  const sql = `SELECT * FROM api_key WHERE ${conditions.join(' AND ')} ORDER BY created_at DESC, id DESC`;
  return rows<ApiKey>(db, sql, filter);
}

/** The key that matches. Throws NOT_FOUND. */
export async function findKey(db: Queryable, filter: KeyFilter & { id: string }): Promise<ApiKey> {
  return found((await listKeys(db, filter))[0], 'key');
}

/** One page of merchants' keys that match, newest first. */
export async function listMerchantsKeys(
  db: Queryable,
  { merchantId, environment }: { merchantId?: string | undefined; environment?: Environment | undefined },
  page: Page,
) {
  const { where, values } = whereGiven({ merchantId, environment });
  return paginateNewest<ApiKey>(db, { table: 'api_key', where: `merchant_id IS NOT NULL AND ${where}`, values }, page);
}

/** Revokes a key; all processes reject it within 5 s. `ended`: this call has revoked it. Throws NOT_FOUND. */
export async function revokeKey({ trx, clock }: Pick<KeyDeps, 'trx' | 'clock'>, keyId: string) {
  const sql = 'UPDATE api_key SET revoked_at = :at WHERE id = :keyId AND revoked_at IS NULL RETURNING *';
  const revoked = await first<ApiKey>(trx, sql, { keyId, at: clock() });
  return { key: revoked ?? (await findKey(trx, { id: keyId })), ended: revoked !== undefined };
}

/** The rotation of a key; `createdBy` and `expiresAt` as of a new key. */
export type Rotation = Pick<NewKey, 'createdBy' | 'expiresAt'> & { keyId: string; overlapHours?: number | undefined };

/**
 * Creates a key with the same permissions, and the same lifetime unless given; the old one stays valid for `overlapHours`
 * (24 unless given), never beyond its own expiry. Throws NOT_FOUND, INVALID_STATE.
 */
export async function rotateKey(
  deps: KeyDeps,
  { keyId, overlapHours = ROTATION_OVERLAP_HOURS.default, ...changes }: Rotation,
): Promise<CreatedKey & { old: ApiKey }> {
  const { trx, clock } = deps;
  const now = clock();
  const locked = await first<ApiKey>(trx, 'SELECT * FROM api_key WHERE id = :keyId FOR UPDATE', { keyId });
  const old = found(locked, 'key');
  ensureRotatable(old, now);
  const { merchantId, environment, operatorId, kind, name, scopes, ipRanges, createdBy } = old;
  const same = { merchantId, environment, operatorId, kind, name, scopes, ipRanges, createdBy };
  const expiresAt = old.expiresAt && new Date(now.getTime() + old.expiresAt.getTime() - old.createdAt.getTime());
  const created = await createKey(deps, { ...same, expiresAt, ...changes });
  const overlapEnd = now.getTime() + overlapHours * HOUR_MS;
  const ends = new Date(Math.min(overlapEnd, old.expiresAt?.getTime() ?? overlapEnd));
  const expiring = { rotatedTo: created.key.id, expiresAt: ends };
  await updateRow(trx, { table: 'api_key', id: old.id }, expiring);
  return { ...created, old: { ...old, ...expiring } };
}

/** Throws INVALID_STATE for a key that has ended or was rotated before. */
export function ensureRotatable(key: ApiKey, now: Date): void {
  const state = key.revokedAt
    ? 'was revoked'
    : key.rotatedTo
      ? `was already rotated to ${key.rotatedTo}`
      : key.expiresAt && key.expiresAt <= now
        ? 'has expired'
        : null;
  if (state) throw invalidState(`The key ${key.id} ${state}. Create a new key.`);
}

/** A key as operators see it. */
export function presentKey(key: ApiKey) {
  const { secretHash: _, ...shown } = key;
  return { ...shown, keyId: key.id, key: maskKey(key) };
}

/** A key in the audit log. */
export function auditOfKey({ id, merchantId, environment, operatorId }: ApiKey) {
  const resourceType = operatorId === null ? ('key' as const) : ('operatorKey' as const);
  return { resourceType, resourceId: id, merchantId, environment };
}

const USABLE = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())';

/** Whether a text is a valid key. */
export async function isValidKey(db: Queryable, text: string, peppers: readonly string[]): Promise<boolean> {
  const hashes = peppers.map((pepper) => hashKey(pepper, text));
  const sql = `SELECT 1 FROM api_key WHERE secret_hash = ANY (:hashes) AND ${USABLE}`;
  return (await rows(db, sql, { hashes })).length > 0;
}

/**
 * How many keys are valid, and how many of those may be hashed under an older pepper: they are hashed again when they are
 * used next.
 */
export async function countUnderOlderPeppers(db: Queryable, pepper: string): Promise<{ all: number; older: number }> {
  const sql = `SELECT count(*)::int AS all, count(*) FILTER (WHERE pepper_id IS DISTINCT FROM :current)::int AS older
               FROM api_key WHERE ${USABLE}`;
  return (await first<{ all: number; older: number }>(db, sql, { current: pepperId(pepper) })) ?? { all: 0, older: 0 };
}
