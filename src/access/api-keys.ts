import { isIP } from 'node:net';

import { SCOPES, type Scope } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../lib/dates.ts';
import { rows, type Knex, type Queryable } from '../lib/db.ts';
import { AppError, invalid, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { MerchantScope } from '../lib/scope.ts';
import { ApiKey } from './api-key.ts';
import { hashKey, lastFourOf, generateKey, pepperId, prefixOf, type KeyKind } from './key-format.ts';

export type { ApiKey };

/** How long a rotated key goes on working beside the new one, in hours. */
export const ROTATION_OVERLAP_HOURS = { default: 24, max: 168 } as const;

/** How long a key with an end may live, in days; and how long its name may be. */
export const KEY_DAYS_MAX = 3_650;
const NAME_CHARACTERS_MAX = 100;

export type KeyDeps = { trx: Knex.Transaction; pepper: string; clock: Clock };

/** What a new key may do. Scopes belong to restricted keys only: a secret key has all. */
export type NewKey = MerchantScope & {
  kind: KeyKind;
  name?: string;
  scopes?: readonly Scope[];
  /** Addresses in CIDR notation it may be used from; none = any. */
  ipRanges?: readonly string[];
  expiresAt?: Date | null;
  /** The operator who makes it (opr_…). */
  createdBy?: string | null;
  /** The operators who may know its secret, and so may not approve what it asks for (four-eyes.ts). */
  secretHolders?: readonly string[];
};

/** A key just made: `secret` is its text, which nobody can show again. */
export type MadeKey = { key: ApiKey; secret: string };

/** Makes a key. Throws VALIDATION_ERROR for a name, scopes, ranges or an end that make no sense. */
export async function createKey({ trx, pepper, clock }: KeyDeps, input: NewKey): Promise<MadeKey> {
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
    throw invalid('scopes', 'must be left out for a secret key: it has all. Make a restricted key instead');
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

/** A range as net.BlockList takes it; an address alone is a range of one. null when it is neither. */
export function parseRange(range: string): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | null {
  const [, address = '', bitsText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(range) ?? [];
  const version = isIP(address);
  if (version === 0) return null;
  const bitsMax = version === 4 ? 32 : 128;
  const bits = bitsText === undefined ? bitsMax : Number(bitsText);
  return bits > bitsMax ? null : { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** The keys that match, the newest first; ended ones too. */
export async function listKeys(db: Queryable, filter: { id?: string } & Partial<MerchantScope>): Promise<ApiKey[]> {
  return ApiKey.query(db.knex())
    .where(filter)
    .orderBy([
      { column: 'createdAt', order: 'desc' },
      { column: 'id', order: 'desc' },
    ]);
}

/** Ends a key; within 5 s no process takes it any more. `ended`: whether it was this call. Throws NOT_FOUND. */
export async function revokeKey(
  { trx, clock }: Pick<KeyDeps, 'trx' | 'clock'>,
  keyId: string,
): Promise<{ key: ApiKey; ended: boolean }> {
  const ended = await ApiKey.query(trx.knex()).findById(keyId).whereNull('revokedAt').patch({ revokedAt: clock() });
  const key = await ApiKey.query(trx.knex()).findById(keyId);
  if (!key) throw notFound('key');
  return { key, ended: ended > 0 };
}

/** Which key is to be followed by another one; who makes that, as of a new key. */
export type Rotation = Pick<NewKey, 'createdBy' | 'secretHolders'> & { keyId: string; overlapHours?: number };

/**
 * Makes a key that may do the same, and lets the old one live for `overlapHours` (0–168, 24 unless said).
 * A key with an end gets a successor with as long a life. Who may know the old one counts as knowing the new one too.
 * Throws NOT_FOUND, INVALID_STATE, VALIDATION_ERROR.
 */
export async function rotateKey(deps: KeyDeps, input: Rotation): Promise<MadeKey & { old: ApiKey }> {
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
  const made = await createKey(deps, { ...same, createdBy, secretHolders, expiresAt });
  const overlapEnd = now.getTime() + overlapHours * HOUR_MS;
  const ended = await ApiKey.query(trx.knex()).patchAndFetchById(old.id, {
    rotatedTo: made.key.id,
    expiresAt: new Date(Math.min(overlapEnd, old.expiresAt?.getTime() ?? overlapEnd)),
  });
  return { ...made, old: ended };
}

function ensureNotRevoked(key: ApiKey, now: Date): void {
  const state = key.revokedAt
    ? 'was revoked'
    : key.rotatedTo
      ? `was already rotated to ${key.rotatedTo}`
      : key.expiresAt && key.expiresAt <= now
        ? 'has expired'
        : null;
  if (state) throw new AppError('INVALID_STATE', `The key ${key.id} ${state}. Make a new key.`);
}

/**
 * How many keys, operators' too, can still be used, and how many of those are not known to be under this pepper: they
 * are when they are used next.
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
