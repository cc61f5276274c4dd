import { decrypt, encrypt, sha256, type KeyRing } from '../lib/crypto.ts';
import { type Database, first, type Queryable, rows } from '../lib/db.ts';
import { deleteInBatches } from '../lib/delete-in-batches.ts';
import { AppError, invalid } from '../lib/errors.ts';
import type { SealedTable } from '../lib/reencrypt.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { counted } from './limits.ts';
import type { StoredResponse } from './response.ts';
import type { Caller, Route } from './route.ts';

/** How long a key is remembered. */
export const IDEMPOTENCY_HOURS = 24;

/** Whether a route honours `Idempotency-Key`. */
export function isIdempotent(route: Route): boolean {
  return 'write' in route && route.method === 'POST' && route.auth.by !== 'public';
}

/**
 * One request under an `Idempotency-Key`: the key, the scope it is unique in, and the hash of the request. The
 * requests of operators and people are stored under their own id, in no environment.
 */
export type IdempotentCall = {
  merchantId: string;
  environment: string;
  route: string;
  key: string;
  requestHash: Buffer;
};

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** Reads the header into a call; null without the header. Throws VALIDATION_ERROR for a malformed key. */
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
    throw invalid('Idempotency-Key', `must be 1 to 255 printable ASCII characters, got ${key.length} characters`);
  }
  return {
    ...('environment' in caller
      ? { merchantId: caller.merchantId, environment: caller.environment }
      : { merchantId: caller.kind === 'operator' ? caller.operatorId : caller.userId, environment: 'none' }),
    // The keys of customers and people are apart from the merchant's: nobody can take or read another's.
    route: 'sessionId' in caller ? `${request.route} by ${counted(caller)}` : request.route,
    key,
    requestHash: sha256(`${request.url}\n${request.rawBody}`),
  };
}

export type Idempotency = ReturnType<typeof createIdempotency>;
/**
 * The stored responses. The look-up takes the key's advisory lock in the same statement; the response is inserted in the
 * change's own transaction and travels with its commit, so a crash leaves nothing behind.
 */
export function createIdempotency({ db, keyRing }: { db: Database; keyRing: KeyRing }) {
  const valuesOf = (call: IdempotentCall, { status, text }: StoredResponse) => ({
    ...call,
    status,
    response: encrypt(keyRing, scopeOf(call), text),
  });
  return {
    /** Inside the change's transaction; see {@link lockAndFind}. */
    find: async (call: IdempotentCall, { trx }: UnitOfWork) => lockAndFind(trx, keyRing, call),
    store: async (call: IdempotentCall, response: StoredResponse, tx: UnitOfWork) =>
      tx.writeDeferred(STORE, valuesOf(call, response)),
    /** Stores an error after the rollback of its change. Returns the response that counts; null when there is none. */
    storeError: async (call: IdempotentCall, error: StoredResponse) => {
      await deleteExpired(db, call);
      const stored = await rows(db, `${STORE} ON CONFLICT DO NOTHING RETURNING 1`, valuesOf(call, error));
      if (stored.length > 0) return { response: error, isReplay: false };
      const response = await lockAndFind(db, keyRing, call);
      return response && { response, isReplay: true };
    },
    /** Replaces the stored response after the commit of its change. */
    update: async (call: IdempotentCall, response: StoredResponse): Promise<void> => {
      const sql = `UPDATE idempotency_key SET status_code = :status, response_body = :response
                   WHERE ${OF_CALL} AND request_hash = :requestHash`;
      await rows(db, sql, valuesOf(call, response));
    },
    /** Deletes an expired response before the periodic job does. */
    deleteExpired: async (call: IdempotentCall) => deleteExpired(db, call),
  };
}

const OF_CALL = 'merchant_id = :merchantId AND environment = :environment AND route = :route AND key = :key';
/** In SQL: keys are expired that were created until then. */
const EXPIRY = `now() - interval '${IDEMPOTENCY_HOURS} hours'`;
const STORE = `
  INSERT INTO idempotency_key (merchant_id, environment, route, key, request_hash, status_code, response_body)
  VALUES (:merchantId, :environment, :route, :key, :requestHash, :status, :response)`;

/** Business errors are responses like any other; validation errors and errors about the key itself are not stored. */
export function isCacheable(error: unknown): error is AppError {
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

export const SEALED_RESPONSES: SealedTable = {
  table: 'idempotency_key',
  key: ['merchantId', 'environment', 'route', 'key'],
  columns: ['responseBody'],
  // As scopeOf writes it.
  scopeOf: (key) => key.join('/'),
};

type Found = { locked: boolean; requestHash: Buffer | null; statusCode: number; responseBody: Buffer };

/** The stored response; null when the key is free, and then locked. Throws IDEMPOTENCY_IN_PROGRESS and IDEMPOTENCY_KEY_REUSED. */
async function lockAndFind(db: Queryable, keyRing: KeyRing, call: IdempotentCall): Promise<StoredResponse | null> {
  const scope = scopeOf(call);
  const found = await first<Found>(
    db,
    `SELECT pg_try_advisory_xact_lock(hashtextextended(:scope, 0)) AS locked, request_hash, status_code, response_body
     FROM (VALUES (1)) AS one LEFT JOIN idempotency_key ON ${OF_CALL} AND created_at > ${EXPIRY}`,
    { ...call, scope },
  );
  if (found?.requestHash) {
    if (!found.requestHash.equals(call.requestHash)) {
      throw new AppError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was used for another request in the last 24 hours. Use a new key for a new request.',
      );
    }
    return { status: found.statusCode, text: decrypt(keyRing, scope, found.responseBody) };
  }
  if (found?.locked) return null;
  throw new AppError(
    'IDEMPOTENCY_IN_PROGRESS',
    'A request with this Idempotency-Key is still running. Repeat it in a moment for its response.',
    { headers: { 'Retry-After': '1' } },
  );
}

async function deleteExpired(db: Queryable, call: IdempotentCall): Promise<void> {
  await rows(db, `DELETE FROM idempotency_key WHERE ${OF_CALL} AND created_at <= ${EXPIRY}`, call);
}

/** Deletes responses older than 24 hours; returns how many. For a periodic job. */
export async function deleteOldIdempotencyKeys(db: Queryable, stopping?: AbortSignal): Promise<number> {
  return deleteInBatches(db, { table: 'idempotency_key', where: `created_at < ${EXPIRY}` }, stopping);
}
