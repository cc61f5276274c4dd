import { isIP } from 'node:net';

import { SCOPES, type Scope } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS, isoOrNull } from '../lib/dates.ts';
import { type Queryable, rows, type Trx } from '../lib/db.ts';
import { AppError, invalid, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import type { MerchantScope } from '../lib/scope.ts';
import { ApiKey } from './api-key.ts';
import { hashKey, lastFourOf, generateKey, maskKey, pepperId, prefixOf, type KeyKind } from './key-format.ts';

export type { ApiKey };

/** How long a rotated key stays valid beside its successor, in hours. */
export const ROTATION_OVERLAP_HOURS = { default: 24, max: 168 } as const;

/** The longest lifetime of a key that expires, in days. */
export const KEY_DAYS_MAX = 3_650;
const NAME_CHARACTERS_MAX = 100;

export type KeyDeps = { trx: Trx; pepper: string; clock: Clock };

/** A key to create. Scopes belong to restricted keys only: a secret key has all. */
export type NewKey = MerchantScope & {
  kind: KeyKind;
  name?: string;
  scopes?: readonly Scope[];
  /** Addresses in CIDR notation it may be used from; none: any. */
  ipRanges?: readonly string[];
  expiresAt?: Date | null;
  /** The operator who creates it (opr_…). */
  createdBy?: string | null;
  /** The operators who may know its secret, and so cannot approve what it requests (separation-of-duties.ts). */
  secretHolders?: readonly string[];
};

/** A new key; `secret` is its text, which is stored nowhere. */
export type CreatedKey = { key: ApiKey; secret: string };

/** Creates a key. Throws VALIDATION_ERROR for an unusable name, scope, range or expiry. */
export async function createKey({ trx, pepper, clock }: KeyDeps, input: NewKey): Promise<CreatedKey> {
  rejectUnusable(input, clock());
  const id = newId('key', clock().getTime());
  const secret = generateKey({ ...input, id });
  const key = await ApiKey.query(trx.knex()).insertAndFetch({
    id,
    merchantId: input.merchantId,
    environment: input.environment,
    kind: input.kind,
    name: input.name ?? '',
    prefix: prefixOf(secret),
    lastFour: lastFourOf(secret),
    secretHash: hashKey(pepper, secret),
    pepperId: pepperId(pepper),
    scopes: [...(input.scopes ?? [])],
    ipRanges: [...(input.ipRanges ?? [])],
    expiresAt: input.expiresAt ?? null,
    createdBy: input.createdBy ?? null,
    secretHolders: [...(input.secretHolders ?? [])],
    createdAt: clock(),
  });
  return { key, secret };
}

function rejectUnusable(input: NewKey, now: Date): void {
  const { kind, name = '', scopes = [], ipRanges = [], expiresAt } = input;
  if (name.length > NAME_CHARACTERS_MAX || /\p{Cc}/u.test(name)) {
    throw invalid('name', `must have at most ${NAME_CHARACTERS_MAX} characters, none of them for control`);
  }
  if (kind === 'secret' && scopes.length > 0) {
    throw invalid('scopes', 'must be omitted for a secret key, which has all. Create a restricted key instead');
  }
  if (kind === 'restricted' && scopes.length === 0) {
    throw invalid('scopes', `must list at least one of ${SCOPES.join(', ')} for a restricted key`);
  }
  const unknown = scopes.find((scope) => !SCOPES.includes(scope));
  if (unknown !== undefined) throw invalid('scopes', `must be of ${SCOPES.join(', ')}, got "${unknown}"`);
  const badRange = ipRanges.find((range) => parseRange(range) === null);
  if (badRange !== undefined) {
    throw invalid('ipRanges', `must be addresses in CIDR notation such as 203.0.113.0/24, got "${badRange}"`);
  }
  if (expiresAt && expiresAt <= now) {
    throw invalid('expiresAt', `must be in the future, got ${expiresAt.toISOString()}`);
  }
  if (expiresAt && expiresAt.getTime() > now.getTime() + KEY_DAYS_MAX * DAY_MS) {
    throw invalid('expiresAt', `must be at most ${KEY_DAYS_MAX} days from now, got ${expiresAt.toISOString()}`);
  }
}

/** A range as net.BlockList takes it; a single address is a range of one. null: neither. */
export function parseRange(range: string): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | null {
  const [, address = '', bitsText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(range) ?? [];
  const version = isIP(address);
  if (version === 0) return null;
  const bitsMax = version === 4 ? 32 : 128;
  const bits = bitsText === undefined ? bitsMax : Number(bitsText);
  return bits > bitsMax ? null : { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** The keys that match, expired and revoked ones too, newest first. */
export async function listKeys(db: Queryable, filter: { id?: string } & Partial<MerchantScope>): Promise<ApiKey[]> {
  return ApiKey.query(db.knex())
    .where(filter)
    .orderBy([
      { column: 'createdAt', order: 'desc' },
      { column: 'id', order: 'desc' },
    ]);
}

/** One page of the keys that match, of all merchants unless one is named, newest first. */
export async function listAllKeys(
  db: Queryable,
  {
    merchantId = null,
    environment = null,
  }: { [Field in keyof MerchantScope]?: MerchantScope[Field] | null | undefined },
  page: Page,
) {
  const where = `(CAST(:merchantId AS text) IS NULL OR merchant_id = :merchantId)
    AND (CAST(:environment AS text) IS NULL OR environment = :environment)`;
  const listed = { columns: '*', table: 'api_key', time: 'created_at', where, values: { merchantId, environment } };
  return paginateNewest<ApiKey>(db, listed, page);
}

/** Revokes a key; all processes reject it within 5 s. `ended`: this call has revoked it. Throws NOT_FOUND. */
export async function revokeKey(
  { trx, clock }: Pick<KeyDeps, 'trx' | 'clock'>,
  keyId: string,
): Promise<{ key: ApiKey; ended: boolean }> {
  const ended = await ApiKey.query(trx.knex()).findById(keyId).whereNull('revokedAt').patch({ revokedAt: clock() });
  const key = await ApiKey.query(trx.knex()).findById(keyId);
  if (!key) throw notFound('key');
  return { key, ended: ended > 0 };
}

/** The rotation of a key; creator and secret holders as of a new key. */
export type Rotation = Pick<NewKey, 'createdBy' | 'secretHolders'> & { keyId: string; overlapHours?: number };

/**
 * Creates a key with the same permissions; the old one stays valid for `overlapHours` (0–168, 24 unless given). A key
 * that expires gets a successor with the same lifetime. The secret holders of the old key are holders of the new one too.
 * Throws NOT_FOUND, INVALID_STATE, VALIDATION_ERROR.
 */
export async function rotateKey(deps: KeyDeps, input: Rotation): Promise<CreatedKey & { old: ApiKey }> {
  const { trx, clock } = deps;
  const overlapHours = input.overlapHours ?? ROTATION_OVERLAP_HOURS.default;
  if (!Number.isInteger(overlapHours) || overlapHours < 0 || overlapHours > ROTATION_OVERLAP_HOURS.max) {
    throw invalid(
      'overlapHours',
      `must be a whole number from 0 to ${ROTATION_OVERLAP_HOURS.max}, got ${overlapHours}`,
    );
  }
  const old = await ApiKey.query(trx.knex()).findById(input.keyId).forUpdate();
  if (!old) throw notFound('key');
  const now = clock();
  ensureNotRevoked(old, now);

  const { merchantId, environment, kind, name, scopes, ipRanges } = old;
  const lifeMs = old.expiresAt && old.expiresAt.getTime() - old.createdAt.getTime();
  const expiresAt = lifeMs === null ? null : new Date(now.getTime() + lifeMs);
  const same = { merchantId, environment, kind, name, scopes, ipRanges };
  const createdBy = input.createdBy ?? old.createdBy;
  const secretHolders = [...new Set([...(input.secretHolders ?? []), ...old.secretHolders])];
  const created = await createKey(deps, { ...same, createdBy, secretHolders, expiresAt });
  const overlapEnd = now.getTime() + overlapHours * HOUR_MS;
  const expiring = await ApiKey.query(trx.knex()).patchAndFetchById(old.id, {
    rotatedTo: created.key.id,
    expiresAt: new Date(Math.min(overlapEnd, old.expiresAt?.getTime() ?? overlapEnd)),
  });
  return { ...created, old: expiring };
}

function ensureNotRevoked(key: ApiKey, now: Date): void {
  const state = key.revokedAt
    ? 'was revoked'
    : key.rotatedTo
      ? `was already rotated to ${key.rotatedTo}`
      : key.expiresAt && key.expiresAt <= now
        ? 'has expired'
        : null;
  if (state) throw new AppError('INVALID_STATE', `The key ${key.id} ${state}. Create a new key.`);
}

/** A merchant's key as operators see it. */
export function presentKey(key: ApiKey) {
  const { id, environment, kind, name, scopes, ipRanges, rotatedTo, createdBy, secretHolders } = key;
  return {
    keyId: id,
    environment,
    kind,
    key: maskKey(key),
    name,
    scopes,
    ipRanges,
    expiresAt: isoOrNull(key.expiresAt),
    revokedAt: isoOrNull(key.revokedAt),
    rotatedTo,
    createdBy,
    secretHolders,
    lastUsedAt: isoOrNull(key.lastUsedAt),
    createdAt: key.createdAt.toISOString(),
  };
}

/**
 * How many keys, operators' too, are valid, and how many of those may be hashed under an older pepper: they are hashed
 * again when they are used next.
 */
export async function countUnderOlderPeppers(db: Queryable, pepper: string): Promise<{ all: number; older: number }> {
  const usable = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())';
  const [count] = await rows<{ all: number; older: number }>(
    db,
    `SELECT count(*)::int AS all, count(*) FILTER (WHERE pepper_id IS DISTINCT FROM :current)::int AS older
     FROM (SELECT pepper_id FROM api_key WHERE ${usable}
           UNION ALL SELECT pepper_id FROM operator_key WHERE ${usable}) k`,
    { current: pepperId(pepper) },
  );
  return count ?? { all: 0, older: 0 };
}
