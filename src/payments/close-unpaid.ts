import { rows } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { readAttemptState, reportsUnpaid, type AttemptState } from './attempt.ts';
import { closeAttempt, closeSession, type UnpaidEnd } from './close-session.ts';
import { atExpiry, type AttemptStatus, type LastResult, type SessionStatus } from './states.ts';
import { MIN_QUERY_INTERVAL_MS, type CheckAttempt, type CheckDeps } from './sync.ts';

type SessionState = {
  sessionStatus: SessionStatus;
  attemptId: string | null;
  attemptStatus: AttemptStatus | null;
};

/** A session, and the attempt that is in flight on it if one is. Throws NOT_FOUND. */
async function readStatusBody(deps: Pick<CheckDeps, 'db'>, sessionId: string): Promise<SessionState> {
  const [row] = await rows<SessionState>(
    deps.db,
    `SELECT s.status AS session_status, a.id AS attempt_id, a.status AS attempt_status
     FROM checkout_session s
     LEFT JOIN payment_attempt a ON a.session_id = s.id AND a.status IN ('CREATED', 'PENDING') AND s.status = 'PROCESSING'
     WHERE s.id = :sessionId`,
    { sessionId },
  );
  if (!row) throw notFound('checkout session');
  return row;
}

export type EndUnpaid = (sessionId: string, as: UnpaidEnd) => Promise<SessionStatus>;

/**
 * Ends a session because somebody wishes so: the customer cancels, the merchant expires. With nothing in flight at
 * once; otherwise only when the provider has just said unpaid, asked now or less than 2 s ago: paid money wins, and
 * while it does not know, the session stays as it is.
 * @returns the session's status afterwards; the caller sees whether the wish came true.
 */
export function createCloseUnpaid(
  deps: Pick<CheckDeps, 'db' | 'runInTransaction' | 'clock'> & { checkAttempt: CheckAttempt },
): EndUnpaid {
  return async (sessionId, as) => {
    const end = { status: as, needsReconciliation: false, at: deps.clock() };
    const before = await readStatusBody(deps, sessionId);
    if (before.attemptId) {
      const attemptId = before.attemptId;
      const state = await deps.checkAttempt(attemptId, { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: true });
      const isNews = state.queried || isSince(state.lastCheckedAt, end.at.getTime() - MIN_QUERY_INTERVAL_MS);
      if (!state.final && isNews && reportsUnpaid(state)) {
        const attempt = { id: attemptId, sessionId, notifyWorkflow: true };
        await deps.runInTransaction((tx) => closeAttempt(tx, attempt, end));
      }
    }
    // Also what the provider's no has just opened again.
    await deps.runInTransaction((tx) => closeSession(tx, sessionId, end));
    return (await readStatusBody(deps, sessionId)).sessionStatus;
  };
}

function isSince(instant: Date | null, sinceMs: number): boolean {
  return instant !== null && instant.getTime() > sinceMs;
}

export type ExpireAttempt = (attemptId: string, at: Date) => Promise<AttemptState>;

/**
 * Asks the provider a last time about an attempt whose session's time is over, and expires both when this very
 * question was answered "not paid", or when nothing was ever sent. While the provider does not know, or was not asked
 * (somebody asked less than 2 s ago, or is asking), it changes nothing (`final` stays false: call again); after 24 h
 * of doubt it expires them marked for reconciliation. `at` is the caller's time of business. Does not tell the
 * workflow: it is the one that calls. Throws NOT_FOUND.
 */
export function createExpireAttempt(
  deps: Pick<CheckDeps, 'db' | 'runInTransaction' | 'log'> & { checkAttempt: CheckAttempt },
): ExpireAttempt {
  return async (attemptId, at) => {
    const state = await deps.checkAttempt(attemptId, {
      minIntervalMs: MIN_QUERY_INTERVAL_MS,
      notifyWorkflow: false,
      now: at,
    });
    if (state.final) return state;
    const attempt = await readExpiring(deps.db, attemptId);
    const verdict = atExpiry({
      result: lastResult(state, attempt),
      expiresAtMs: attempt.expiresAt.getTime(),
      atMs: at.getTime(),
    });
    if (verdict === 'wait') return state;
    const end = { status: 'EXPIRED' as const, needsReconciliation: verdict === 'reconcile', at };
    const which = { id: attemptId, sessionId: attempt.sessionId, notifyWorkflow: false };
    const ended = await deps.runInTransaction((tx) => closeAttempt(tx, which, end));
    if (ended && end.needsReconciliation) {
      const ids = { attemptId, transactionId: attempt.transactionId };
      deps.log.warn(ids, 'a payment expired while its provider did not know: it is to be reconciled');
    }
    const { leaseUntil: _, ...after } = await readAttemptState(deps.db, attemptId);
    return { ...after, queried: state.queried };
  };
}

type Expiring = { sessionId: string; transactionId: string; expiresAt: Date; neverSent: boolean };

async function readExpiring(db: CheckDeps['db'], attemptId: string): Promise<Expiring> {
  const [attempt] = await rows<Expiring>(
    db,
    `SELECT a.session_id, a.transaction_id, s.expires_at, a.initiated_at IS NULL AS never_sent
     FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id WHERE a.id = :attemptId`,
    { attemptId },
  );
  if (!attempt) throw notFound('payment attempt');
  return attempt;
}

function lastResult(state: AttemptState, { neverSent }: Expiring): LastResult {
  if (neverSent) return 'unpaid';
  if (!state.queried) return 'not asked';
  return reportsUnpaid(state) ? 'unpaid' : 'unknown';
}

/**
 * The providers' lists prove that these were not paid: nobody need look into them any more. Their states stay as they
 * are, and money that comes all the same is booked late, as ever. Returns how many were in doubt.
 */
export async function clearReconciliationFlag(
  tx: UnitOfWork,
  { transactionIds, at }: { transactionIds: readonly string[]; at: Date },
): Promise<number> {
  if (transactionIds.length === 0) return 0;
  const cleared = await rows(
    tx.trx,
    `WITH cleared AS (
       UPDATE transaction SET needs_reconciliation = false, version = version + 1
       WHERE id = ANY (:transactionIds) AND needs_reconciliation RETURNING id
     )
     INSERT INTO transaction_timeline (transaction_id, occurred_at, kind)
     SELECT id, CAST(:at AS timestamptz), 'reconciliation.confirmed_unpaid' FROM cleared RETURNING transaction_id`,
    { transactionIds: [...transactionIds], at },
  );
  return cleared.length;
}
