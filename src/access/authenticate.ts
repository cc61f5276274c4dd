import { BlockList, isIP } from 'node:net';

import { SCOPES, SCOPES_BEFORE_VERIFICATION, type KeyCaller, type OperatorCaller, type Scope } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { equalInConstantTime } from '../lib/crypto.ts';
import { type Database, rows } from '../lib/db.ts';
import { AppError, type FieldIssue } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { MerchantScope } from '../lib/scope.ts';
import { parseRange } from './api-keys.ts';
import { hashKey, pepperId, readKey, type KeyKind, type NamedKey } from './key-format.ts';

/** How long a key is cached: less than the 5 s in which a revocation must take effect. */
const CACHE_MS = 4_000;
const CACHE_ENTRIES_MAX = 10_000;
const LAST_USED_WRITE_MS = 60_000;

/** `peppers`: the current one first; keys hashed under another are hashed again when they are used. */
type Deps = { db: Database; peppers: readonly [string, ...string[]]; clock: Clock; log: Logger };

/** The stored columns that keys of both kinds have. */
type StoredKey = {
  id: string;
  secretHash: Buffer;
  pepperId: string | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  /** The status of its merchant or operator. */
  scopeStatus: string;
};

/** A key in the cache. */
type CachedKey = {
  row: StoredKey;
  caller: KeyCaller | OperatorCaller;
  allowed: BlockList | null;
  /** What a live key still requires, as clauses that follow "Live keys work once"; none for other keys. */
  unmetRequirements: FieldIssue[];
};
type CacheEntry = { known: Promise<CachedKey | null>; untilMs: number };

export type KeyAuthenticator = {
  /**
   * The caller that a key identifies. Throws INVALID_API_KEY, and with the right secret API_KEY_REVOKED,
   * API_KEY_EXPIRED, IP_NOT_ALLOWED, MERCHANT_SUSPENDED, KYC_REQUIRED. `scope`: what the route needs.
   */
  authenticateKey: (key: string, ip: string, scope?: Scope | null) => Promise<KeyCaller | OperatorCaller>;
  /** Whether the key was valid before, since this process started. */
  isKnownKey: (key: string) => boolean;
  /** Resolves when no write about a key is in flight; call it before the pool is closed. */
  flush: () => Promise<void>;
};

/** Checks keys with at most one query per key and 4 s, and records their use beside the requests. */
export function createKeyAuthenticator(deps: Deps): KeyAuthenticator {
  const cache = new Map<string, CacheEntry>();
  const lastUsed = createLastUsed(deps);
  /** Hashes of valid keys under the current pepper, by id. */
  const right = new Map<string, Buffer>();
  const verify = createVerifier(deps, lastUsed.beside);

  function load(named: NamedKey, nowMs: number): Promise<CachedKey | null> {
    const { id } = named;
    const cached = cache.get(id);
    if (cached && cached.untilMs > nowMs) return cached.known;
    const known = named.kind === 'operator' ? loadOperatorKey(deps.db, id) : loadKey(deps.db, id);
    cache.delete(id);
    cache.set(id, { known, untilMs: nowMs + CACHE_MS });
    if (cache.size > CACHE_ENTRIES_MAX) cache.delete(cache.keys().next().value ?? '');
    // Failures and unknown ids are not cached.
    const forget = (): void => {
      if (cache.get(id)?.known === known) cache.delete(id);
    };
    void known.then((found) => found ?? forget(), forget);
    return known;
  }

  return {
    flush: lastUsed.flush,
    isKnownKey: (text) => {
      const hash = right.get(readKey(text)?.id ?? '');
      return hash !== undefined && equalInConstantTime(hashKey(deps.peppers[0], text), hash);
    },
    authenticateKey: async (text, ip, scope = null) => {
      const named = readKey(text);
      if (!named) throw invalidKey('It is incomplete or has a typo.');
      const now = deps.clock();
      const known = await load(named, now.getTime());
      if (!known || !verify(known, text)) throw invalidKey();
      if (right.size >= CACHE_ENTRIES_MAX && !right.has(named.id)) right.clear();
      if (!right.has(named.id)) right.set(named.id, hashKey(deps.peppers[0], text));
      rejectUnusableKey(known, ip, now);
      ensureVerifiedForLive(known, scope);
      lastUsed.note(known, now);
      return known.caller;
    },
  };
}

function invalidKey(hint = ''): AppError {
  return new AppError('INVALID_API_KEY', `This is not a valid API key. ${hint}`.trimEnd());
}

function rejectUnusableKey({ row, allowed, caller }: CachedKey, ip: string, now: Date): void {
  if (row.revokedAt) throw new AppError('API_KEY_REVOKED', 'This API key was revoked. Use another one.');
  if (row.expiresAt && row.expiresAt <= now) {
    throw new AppError('API_KEY_EXPIRED', `This API key expired at ${row.expiresAt.toISOString()}. Use another one.`);
  }
  if (allowed && !isAllowed(allowed, ip)) {
    throw new AppError('IP_NOT_ALLOWED', `This API key may not be used from ${ip}.`);
  }
  if (row.scopeStatus !== 'ACTIVE') throw scopeRejected(caller);
}

function scopeRejected({ kind }: CachedKey['caller']): AppError {
  if (kind === 'key') return new AppError('MERCHANT_SUSPENDED', 'This merchant is suspended. Contact support.');
  return new AppError('API_KEY_REVOKED', 'This operator is inactive. Ask an admin.');
}

/** Until both requirements are met, a live key has only the scopes that verification itself needs. */
function ensureVerifiedForLive({ unmetRequirements }: CachedKey, scope: Scope | null): void {
  if (unmetRequirements.length === 0 || (scope !== null && SCOPES_BEFORE_VERIFICATION.includes(scope))) return;
  const what = unmetRequirements.map(({ issue }) => issue).join(', and ');
  throw new AppError('KYC_REQUIRED', `Live keys work once ${what}.`, { details: unmetRequirements });
}

function unmetRequirementsOf({ environment, kycStatus, isVerified, hasSandboxPayment }: MerchantKey): FieldIssue[] {
  if (environment === 'sandbox') return [];
  const kyc = `your verification is APPROVED; it is ${kycStatus}: see GET /api/checkout/kyc, which this key may call`;
  const payment = 'one payment has succeeded in the sandbox; none has yet: make one with a sandbox key';
  return [
    ...(isVerified ? [] : [{ field: 'kyc', issue: kyc }]),
    ...(hasSandboxPayment ? [] : [{ field: 'sandboxPayment', issue: payment }]),
  ];
}

function isAllowed(allowed: BlockList, ip: string): boolean {
  const plain = ip.startsWith('::ffff:') && isIP(ip.slice(7)) === 4 ? ip.slice(7) : ip;
  const version = isIP(plain);
  return version !== 0 && allowed.check(plain, version === 4 ? 'ipv4' : 'ipv6');
}

type MerchantKey = StoredKey &
  MerchantScope & {
    kind: KeyKind;
    scopes: Scope[];
    ipRanges: string[];
    kycStatus: string;
    isVerified: boolean;
    hasSandboxPayment: boolean;
  };

async function loadKey(db: Database, id: string): Promise<CachedKey | null> {
  const [row] = await rows<MerchantKey>(
    db,
    `SELECT k.id, k.merchant_id, k.environment, k.kind, k.secret_hash, k.pepper_id, k.scopes, k.ip_ranges, k.expires_at,
            k.revoked_at, k.last_used_at, m.status AS scope_status,
            m.kyc_status, effective_kyc_tier(m.id) > 0 AS is_verified,
            k.environment = 'live' AND has_sandbox_payment(m.id) AS has_sandbox_payment
     FROM api_key k JOIN merchant m ON m.id = k.merchant_id
     WHERE k.id = :id`,
    { id },
  );
  if (!row) return null;
  const { merchantId, environment } = row;
  const scopes = row.kind === 'secret' ? SCOPES : row.scopes;
  return {
    row,
    caller: { kind: 'key', merchantId, environment, keyId: id, scopes },
    allowed: allowedOf(row.ipRanges),
    unmetRequirements: unmetRequirementsOf(row),
  };
}

type OperatorKey = StoredKey & Pick<OperatorCaller, 'operatorId' | 'role'>;

async function loadOperatorKey(db: Database, id: string): Promise<CachedKey | null> {
  const [row] = await rows<OperatorKey>(
    db,
    `SELECT k.id, k.operator_id, k.secret_hash, k.pepper_id, k.expires_at, k.revoked_at, k.last_used_at, o.role,
            CASE WHEN o.active THEN 'ACTIVE' ELSE 'INACTIVE' END AS scope_status
     FROM operator_key k JOIN operator o ON o.id = k.operator_id
     WHERE k.id = :id`,
    { id },
  );
  if (!row) return null;
  const { operatorId, role } = row;
  return { row, caller: { kind: 'operator', operatorId, keyId: id, role }, allowed: null, unmetRequirements: [] };
}

function allowedOf(ipRanges: string[]): BlockList | null {
  if (ipRanges.length === 0) return null;
  const allowed = new BlockList();
  for (const text of ipRanges) {
    const range = parseRange(text);
    if (range) allowed.addSubnet(range.address, range.bits, range.family);
  }
  return allowed;
}

type Beside = (written: Promise<void>) => void;

/** Whether a text is the key's under any of the peppers. A hash under an older pepper is replaced. */
function createVerifier({ db, peppers, log }: Deps, beside: Beside) {
  const all = peppers.map((pepper) => ({ pepper, id: pepperId(pepper) }));
  const [current] = peppers;
  const currentId = pepperId(current);

  async function renew({ row: { id, secretHash }, caller }: CachedKey, renewed: Buffer): Promise<void> {
    try {
      await rows(
        db,
        `UPDATE ${tableOf(caller)} SET secret_hash = :renewed, pepper_id = :currentId
         WHERE id = :id AND secret_hash = :secretHash`,
        { id, secretHash, renewed, currentId },
      );
    } catch {
      log.warn({ keyId: id }, 'a key was not hashed again; it will be when it is used next');
    }
  }

  return (known: CachedKey, text: string): boolean => {
    const { row } = known;
    const candidates = row.pepperId === null ? all : all.filter(({ id }) => id === row.pepperId);
    const isRight = candidates.some(({ pepper }) => equalInConstantTime(hashKey(pepper, text), row.secretHash));
    if (isRight && row.pepperId !== currentId) {
      const renewed = hashKey(current, text);
      beside(renew({ ...known, row: { ...row } }, renewed));
      [row.secretHash, row.pepperId] = [renewed, currentId];
    }
    return isRight;
  };
}

function tableOf({ kind }: CachedKey['caller']): 'api_key' | 'operator_key' {
  return kind === 'key' ? 'api_key' : 'operator_key';
}

/** Writes `last_used_at` at most once a minute and key, beside the request; a write that fails is only logged. */
function createLastUsed({ db, log }: Deps) {
  const writtenAtMs = new Map<string, number>();
  const writing = new Set<Promise<void>>();

  async function write({ row: { id }, caller }: CachedKey, now: Date): Promise<void> {
    try {
      await rows(
        db,
        `UPDATE ${tableOf(caller)} SET last_used_at = :now
         WHERE id = :id AND (last_used_at IS NULL OR last_used_at <= :now::timestamptz - interval '1 minute')`,
        { id, now },
      );
    } catch {
      log.warn({ keyId: id }, 'last_used_at was not written');
    }
  }

  const beside: Beside = (written) => {
    const ended = written.finally(() => writing.delete(ended));
    writing.add(ended);
  };

  return {
    beside,
    note: (known: CachedKey, now: Date): void => {
      const { row } = known;
      const nowMs = now.getTime();
      const lastMs = writtenAtMs.get(row.id) ?? row.lastUsedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
      if (nowMs - lastMs < LAST_USED_WRITE_MS) return;
      if (writtenAtMs.size >= CACHE_ENTRIES_MAX) writtenAtMs.clear();
      writtenAtMs.set(row.id, nowMs);
      beside(write(known, now));
    },
    flush: async (): Promise<void> => void (await Promise.all(writing)),
  };
}
