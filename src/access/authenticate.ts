import {
  SCOPES,
  SCOPES_BEFORE_VERIFICATION,
  type KeyCaller,
  type OperatorCaller,
  type OperatorRole,
  type Scope,
} from '../http/route.ts';
import { createCache } from '../lib/cache.ts';
import type { Clock } from '../lib/clock.ts';
import { equalInConstantTime } from '../lib/crypto.ts';
import { type Database, first, rows } from '../lib/db.ts';
import { AppError, type FieldIssue } from '../lib/errors.ts';
import { isInRange } from '../lib/ip-range.ts';
import type { Logger } from '../lib/log.ts';
import type { ApiKey } from './api-keys.ts';
import { hashKey, pepperId, readKey } from './key-format.ts';

/** How long a key is cached: less than the 5 s in which a revocation must take effect. */
const CACHE_MS = 4_000;
const CACHE_ENTRIES_MAX = 10_000;
const LAST_USED_WRITE_MS = 60_000;

/** `peppers`: the current one first; keys hashed under another are hashed again when they are used. */
type Deps = { db: Database; peppers: readonly [string, ...string[]]; clock: Clock; log: Logger };

/** A key with what decides about it: its operator, or its merchant and what that has done to use live keys. */
type StoredKey = ApiKey & {
  role: OperatorRole;
  ownerStatus: 'ACTIVE' | 'SUSPENDED' | 'INACTIVE';
} & LiveRequirements;

/** What a merchant has done to use live. */
export type LiveRequirements = { kycStatus: string; isVerified: boolean; hasSandboxPayment: boolean };

/** Checks keys with at most one query per key and 4 s, and records their use beside the requests. */
export function createKeyAuthenticator({ db, peppers, clock, log }: Deps) {
  const load = createCache((id) => loadKey(db, id), { ttlMs: CACHE_MS, entriesMax: CACHE_ENTRIES_MAX });
  /** Hashes of valid keys under the current pepper, by id. */
  const validHashes = new Map<string, Buffer>();
  const writing = new Set<Promise<void>>();
  const [pepper] = peppers;
  const currentId = pepperId(pepper);

  /** Records the use of a key, at most once a minute, and its hash under the current pepper if it has another. */
  function recordUse(row: StoredKey, hash: Buffer, now: Date): void {
    const isRecent = row.lastUsedAt !== null && now.getTime() - row.lastUsedAt.getTime() < LAST_USED_WRITE_MS;
    if (isRecent && row.pepperId === currentId) return;
    const { id, secretHash } = row;
    const written = rows(
      db,
      `UPDATE api_key SET last_used_at = greatest(last_used_at, :now), secret_hash = :hash, pepper_id = :currentId
       WHERE id = :id AND secret_hash = :secretHash`,
      { id, secretHash, hash, currentId, now },
    )
      .then(() => {})
      .catch(() => log.warn({ keyId: id }, 'the use of a key was not recorded'))
      .finally(() => writing.delete(written));
    writing.add(written);
    Object.assign(row, { lastUsedAt: now, secretHash: hash, pepperId: currentId });
  }

  return {
    /** Resolves when no write about a key is in flight; call it before the pool is closed. */
    flush: async (): Promise<void> => void (await Promise.all(writing)),
    /** Whether the key was valid before, since this process started. */
    isKnownKey: (text: string): boolean => {
      const hash = validHashes.get(readKey(text)?.id ?? '');
      return hash !== undefined && equalInConstantTime(hashKey(pepper, text), hash);
    },
    /**
     * The caller that a key identifies. Throws INVALID_API_KEY, and with the right secret API_KEY_REVOKED,
     * API_KEY_EXPIRED, IP_NOT_ALLOWED, MERCHANT_SUSPENDED, KYC_REQUIRED. `scope`: what the route needs.
     */
    authenticateKey: async (text: string, ip: string, scope: Scope | null = null) => {
      const named = readKey(text);
      if (!named) throw invalidKey('It is incomplete or has a typo.');
      const now = clock();
      const row = await load(named.id, now.getTime());
      const isRight = row && peppers.some((one) => equalInConstantTime(hashKey(one, text), row.secretHash));
      if (!isRight) throw invalidKey();
      const hash = validHashes.get(named.id) ?? hashKey(pepper, text);
      if (validHashes.size >= CACHE_ENTRIES_MAX && !validHashes.has(named.id)) validHashes.clear();
      validHashes.set(named.id, hash);
      rejectUnusableKey(row, ip, now);
      ensureVerifiedForLive(row, scope);
      recordUse(row, hash, now);
      return callerOf(row);
    },
  };
}

function invalidKey(hint = ''): AppError {
  return new AppError('INVALID_API_KEY', `This is not a valid API key. ${hint}`.trimEnd());
}

function rejectUnusableKey(row: StoredKey, ip: string, now: Date): void {
  if (row.revokedAt) throw new AppError('API_KEY_REVOKED', 'This API key was revoked. Use another one.');
  if (row.expiresAt && row.expiresAt <= now) {
    throw new AppError('API_KEY_EXPIRED', `This API key expired at ${row.expiresAt.toISOString()}. Use another one.`);
  }
  if (row.ipRanges.length > 0 && !row.ipRanges.some((range) => isInRange(ip, range))) {
    throw new AppError('IP_NOT_ALLOWED', `This API key may not be used from ${ip}.`);
  }
  if (row.ownerStatus === 'ACTIVE') return;
  throw row.operatorId === null
    ? new AppError('MERCHANT_SUSPENDED', 'This merchant is suspended. Contact support.')
    : new AppError('API_KEY_REVOKED', 'This operator is inactive. Ask an admin.');
}

/** Until its merchant is verified and has paid in the sandbox, a live key has only the scopes that verification needs. */
function ensureVerifiedForLive(row: StoredKey, scope: Scope | null): void {
  if (row.environment !== 'live' || (scope !== null && SCOPES_BEFORE_VERIFICATION.includes(scope))) return;
  ensureLiveRequirements(row, 'Live keys work');
}

/** Throws KYC_REQUIRED with what a merchant still has to do. `what` begins the message: "Live keys work". */
export function ensureLiveRequirements(of: LiveRequirements, what: string): void {
  const error = liveRequirementError(of, what);
  if (error) throw error;
}

/** KYC_REQUIRED with what a merchant still has to do; null: nothing. */
export function liveRequirementError(of: LiveRequirements, what: string): AppError | null {
  const details = liveRequirementIssues(of);
  if (details.length === 0) return null;
  const message = `${what} once ${details.map(({ issue }) => issue).join(', and ')}.`;
  return new AppError('KYC_REQUIRED', message, { details });
}

/** What a merchant still has to do before live can be used. */
export function liveRequirementIssues({ isVerified, hasSandboxPayment, kycStatus }: LiveRequirements): FieldIssue[] {
  const kyc = `your verification is APPROVED; it is ${kycStatus}: see GET /api/checkout/kyc, which works before`;
  const payment = 'one payment has succeeded in the sandbox; none has yet: make one with a sandbox key';
  return [
    ...(isVerified ? [] : [{ field: 'kyc', issue: kyc, code: 'not_verified' as const }]),
    ...(hasSandboxPayment ? [] : [{ field: 'sandboxPayment', issue: payment, code: 'no_sandbox_payment' as const }]),
  ];
}

async function loadKey(db: Database, id: string): Promise<StoredKey | null> {
  const sql = `
    SELECT k.*, o.role, coalesce(m.status, CASE WHEN o.active THEN 'ACTIVE' ELSE 'INACTIVE' END) AS owner_status,
           m.kyc_status, effective_kyc_tier(m.id) > 0 AS is_verified,
           k.environment = 'live' AND has_sandbox_payment(m.id) AS has_sandbox_payment
    FROM api_key k LEFT JOIN merchant m ON m.id = k.merchant_id LEFT JOIN operator o ON o.id = k.operator_id
    WHERE k.id = :id`;
  return (await first<StoredKey>(db, sql, { id })) ?? null;
}

function callerOf(row: StoredKey): KeyCaller | OperatorCaller {
  const { id: keyId, kind, merchantId, environment, operatorId, role, scopes } = row;
  if (operatorId !== null) return { kind: 'operator', operatorId, keyId, role };
  if (merchantId === null || environment === null) throw new Error(`the key ${keyId} has no merchant`);
  return { kind: 'key', merchantId, environment, keyId, scopes: kind === 'secret' ? SCOPES : scopes };
}
