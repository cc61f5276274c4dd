import { decrypt, encrypt, sha256, type KeyRing } from '../lib/crypto.ts';
import { isUniqueViolation, rows, type Knex, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { SealedTable } from '../lib/reencrypt.ts';
import type { UnitOfWork, RunInTransaction } from '../outbox/record.ts';
import type { Caller } from './route.ts';

/** How long a key is remembered. */
export const IDEMPOTENCY_HOURS = 24;

/** An answer as it is stored and sent: its status and its body, byte for byte. */
export type StoredResponse = { status: number; text: string };

/**
 * One request under an `Idempotency-Key`: the key, what it is unique in, and what was asked. An operator's calls stand
 * under the operator's id, in no environment.
 */
export type IdempotentCall = {
  merchantId: string;
  environment: string;
  route: string;
  key: string;
  requestHash: Buffer;
};

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** Reads the header into a call; null without the header. Throws VALIDATION_ERROR for an unfit key. */
export function readIdempotentCall(request: {
  key: string | undefined;
  caller: Caller;
  route: string;
  url: string;
  rawBody: string;
}): IdempotentCall | null {
  const { key, caller } = request;
  if (key === undefined) return null;
  if (!PRINTABLE.test(key)) {
    const issue = `must be 1 to 255 printable ASCII characters, got ${key.length} characters`;
    throw new AppError('VALIDATION_ERROR', `Idempotency-Key ${issue}`, {
      details: [{ field: 'Idempotency-Key', issue }],
    });
  }
  return {
    ...(caller.kind === 'operator'
      ? { merchantId: caller.operatorId, environment: 'none' }
      : { merchantId: caller.merchantId, environment: caller.environment }),
    // A customer's keys live beside the merchant's, not among them: neither can take or read the other's.
    route: caller.kind === 'client' ? `${request.route} by ${caller.sessionId}` : request.route,
    key,
    requestHash: sha256(`${request.url}\n${request.rawBody}`),
  };
}

type Deps = { db: Knex; runInTransaction: RunInTransaction; keyRing: KeyRing };
/** Where answers are stored: inside a change's transaction, or outside of one. */
type Place = { db: Queryable; keyRing: KeyRing };
type Work<T extends StoredResponse> = (tx: UnitOfWork) => Promise<T>;
/** What became of a call: made now; refused now, and remembered; or the first answer once more. */
export type CallResult<T extends StoredResponse> =
  | { outcome: 'made'; response: T }
  | { outcome: 'refused' | 'replayed'; response: StoredResponse };

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * One key, one effect, one answer. The look-up takes the key's advisory lock in the same statement, the answer is
 * inserted in the change's own transaction, and travels with its commit: a crash leaves nothing behind.
 */
export function createIdempotency({ db, runInTransaction, keyRing }: Deps) {
  async function inOneChange<T extends StoredResponse>(call: IdempotentCall, work: Work<T>): Promise<CallResult<T>> {
    return runInTransaction(async (tx) => {
      const stored = await lockAndFind({ db: tx.trx, keyRing }, call);
      if (stored) return { outcome: 'replayed', response: stored };
      const response = await work(tx);
      await tx.writeDeferred(STORE, valuesOf(keyRing, call, response));
      return { outcome: 'made', response };
    });
  }

  /** `rejectionText` writes the body of a business refusal, which is remembered after the rollback of what it refused. */
  async function run<T extends StoredResponse>(
    call: IdempotentCall,
    work: Work<T>,
    rejectionText: (rejection: AppError) => string,
  ): Promise<CallResult<T>> {
    try {
      return await inOneChange(call, work);
    } catch (error) {
      // Our look may have seen the state before the first request's commit, yet got the lock after it: then the same
      // work, or its answer, collides with the first. Looking again finds that, unless it is too old to count.
      if (isUniqueViolation(error)) {
        await forgetOld(db, call);
        return inOneChange(call, work);
      }
      if (!isCacheable(error)) throw error;
      const response = { status: error.status, text: rejectionText(error) };
      if (await store({ db, keyRing }, call, response)) return { outcome: 'refused', response };
      const first = await lockAndFind({ db, keyRing }, call);
      if (!first) throw error;
      return { outcome: 'replayed', response: first };
    }
  }

  /** Replaces the stored answer by what is known after the commit. */
  async function update(call: IdempotentCall, response: StoredResponse): Promise<void> {
    await rows(
      db,
      `UPDATE idempotency_key SET status_code = :status, response_body = :response
       WHERE merchant_id = :merchantId AND environment = :environment AND route = :route AND key = :key
         AND request_hash = :requestHash`,
      { ...call, status: response.status, response: encrypt(keyRing, scopeOf(call), response.text) },
    );
  }

  return { run, update };
}

/** Business refusals are answers like any other; what concerns the key itself or the caller's typing is not kept. */
function isCacheable(error: unknown): error is AppError {
  return (
    error instanceof AppError &&
    (error.status === 409 || error.status === 422) &&
    error.code !== 'IDEMPOTENCY_IN_PROGRESS' &&
    error.code !== 'IDEMPOTENCY_KEY_REUSED'
  );
}

function scopeOf(call: IdempotentCall): string {
  return `${call.merchantId}/${call.environment}/${call.route}/${call.key}`;
}

/** Where answers are encrypted. */
export const SEALED_ANSWERS: SealedTable = {
  table: 'idempotency_key',
  key: ['merchant_id', 'environment', 'route', 'key'],
  columns: ['response_body'],
  // As scopeOf writes it.
  scopeOf: (key) => key.join('/'),
};

type Look = { locked: boolean; requestHash: Buffer | null; statusCode: number; responseBody: Buffer };

/** The stored answer; null when the key is ours to use. Throws IDEMPOTENCY_IN_PROGRESS and IDEMPOTENCY_KEY_REUSED. */
async function lockAndFind({ db, keyRing }: Place, call: IdempotentCall): Promise<StoredResponse | null> {
  const scope = scopeOf(call);
  const [look] = await rows<Look>(
    db,
    `SELECT pg_try_advisory_xact_lock(hashtextextended(:scope, 0)) AS locked, k.request_hash, k.status_code, k.response_body
     FROM (VALUES (1)) AS one LEFT JOIN idempotency_key k
       ON k.merchant_id = :merchantId AND k.environment = :environment AND k.route = :route AND k.key = :key
         AND k.created_at > now() - make_interval(hours => :hours)`,
    { ...call, scope, hours: IDEMPOTENCY_HOURS },
  );
  if (look?.requestHash) {
    if (!look.requestHash.equals(call.requestHash)) {
      throw new AppError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used for another request in the last 24 hours. Use a new key for a new request.',
      );
    }
    return { status: look.statusCode, text: decrypt(keyRing, scope, look.responseBody) };
  }
  if (look?.locked) return null;
  throw new AppError(
    'IDEMPOTENCY_IN_PROGRESS',
    'A request with this Idempotency-Key is still being worked on. Repeat it in a moment for its answer.',
    { headers: { 'Retry-After': '1' } },
  );
}

const STORE = `
  INSERT INTO idempotency_key (merchant_id, environment, route, key, request_hash, status_code, response_body)
  VALUES (:merchantId, :environment, :route, :key, :requestHash, :status, :response)`;

function valuesOf(keyRing: KeyRing, call: IdempotentCall, { status, text }: StoredResponse): Record<string, unknown> {
  return { ...call, status, response: encrypt(keyRing, scopeOf(call), text) };
}

/** False when an answer is there that counts. */
async function store({ db, keyRing }: Place, call: IdempotentCall, response: StoredResponse): Promise<boolean> {
  await forgetOld(db, call);
  const stored = await rows(db, `${STORE} ON CONFLICT DO NOTHING RETURNING 1`, valuesOf(keyRing, call, response));
  return stored.length > 0;
}

/** Deletes an answer that is older than the time kept, before the chore does. */
async function forgetOld(db: Queryable, { merchantId, environment, route, key }: IdempotentCall): Promise<void> {
  await rows(
    db,
    `DELETE FROM idempotency_key
     WHERE merchant_id = :merchantId AND environment = :environment AND route = :route AND key = :key
       AND created_at <= now() - make_interval(hours => :hours)`,
    { merchantId, environment, route, key, hours: IDEMPOTENCY_HOURS },
  );
}

const DELETED_AT_ONCE_MAX = 10_000;

/** Deletes answers older than 24 hours, at most 10,000 a call; returns how many. For a chore. */
export async function deleteOldIdempotencyKeys(db: Queryable): Promise<number> {
  const deleted = await rows(
    db,
    `DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM idempotency_key WHERE created_at < now() - make_interval(hours => :hours) LIMIT :most))
     RETURNING 1`,
    { hours: IDEMPOTENCY_HOURS, most: DELETED_AT_ONCE_MAX },
  );
  return deleted.length;
}
