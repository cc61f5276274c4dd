import { rows } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { readAttemptState, reportsUnpaid, type AttemptState } from './attempt.ts';
import { closeAttempt, closeSession, type UnpaidEnd } from './close-session.ts';
import { atExpiry, type LastResult, type SessionStatus } from './states.ts';
import { MIN_QUERY_INTERVAL_MS, type CheckAttempt, type CheckDeps } from './sync.ts';

type SessionState = { sessionStatus: SessionStatus; attemptId: string | null };

/** A session's status, and its attempt in flight, if any. Throws NOT_FOUND. */
async function readState({ db }: Pick<CheckDeps, 'db'>, sessionId: string): Promise<SessionState> {
  const [row] = await rows<SessionState>(
    db,
    `SELECT s.status AS session_status, a.id AS attempt_id
     FROM checkout_session s
     LEFT JOIN payment_attempt a ON a.session_id = s.id AND a.status IN ('CREATED', 'PENDING') AND s.status = 'PROCESSING'
     WHERE s.id = :sessionId`,
    { sessionId },
  );
  if (!row) throw notFound('checkout session');
  return row;
}

export type CloseUnpaid = (sessionId: string, as: UnpaidEnd) => Promise<SessionStatus>;

/**
 * Ends a session on request: the customer cancels, the merchant expires. Without an attempt in flight at once; otherwise
 * only when the provider reports it unpaid, queried now or less than 2 s ago. Paid money wins; while the outcome is unknown
 * the session stays as it is.
 * @returns the session's status afterwards.
 */
export function createCloseUnpaid(
  deps: Pick<CheckDeps, 'db' | 'runInTransaction' | 'clock'> & { checkAttempt: CheckAttempt },
): CloseUnpaid {
  return async (sessionId, as) => {
    const end = { status: as, needsReconciliation: false, at: deps.clock() };
    const { attemptId } = await readState(deps, sessionId);
    if (attemptId !== null) {
      const state = await deps.checkAttempt(attemptId, { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: true });
      const queriedAfterMs = end.at.getTime() - MIN_QUERY_INTERVAL_MS;
      const isRecent = state.queried || (state.lastCheckedAt?.getTime() ?? 0) > queriedAfterMs;
      if (!state.final && isRecent && reportsUnpaid(state)) {
        const attempt = { id: attemptId, sessionId, notifyWorkflow: true };
        await deps.runInTransaction((tx) => closeAttempt(tx, attempt, end));
      }
    }
    // Also a session that the provider's decline has just opened again.
    await deps.runInTransaction((tx) => closeSession(tx, sessionId, end));
    return (await readState(deps, sessionId)).sessionStatus;
  };
}

export type ExpireAttempt = (attemptId: string, at: Date) => Promise<AttemptState>;

/**
 * Queries the provider a last time about an attempt whose session's time is over, and expires both when this very query
 * returned "not paid", or when nothing was ever sent. While the outcome is unknown, or the provider was not queried (it was
 * less than 2 s ago, or is being queried), nothing changes and `final` stays false: call again. After 24 h of unknown
 * outcomes both expire, marked for reconciliation. `at` is the effective time. Does not signal the workflow, which is the
 * caller. Throws NOT_FOUND.
 */
export function createExpireAttempt(
  deps: Pick<CheckDeps, 'db' | 'runInTransaction' | 'log'> & { checkAttempt: CheckAttempt },
): ExpireAttempt {
  return async (attemptId, at) => {
    const options = { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: false, now: at };
    const state = await deps.checkAttempt(attemptId, options);
    if (state.final) return state;
    const expiring = await readExpiring(deps.db, attemptId);
    const { sessionId, transactionId, expiresAt } = expiring;
    const result = lastResult(state, expiring);
    const verdict = atExpiry({ result, expiresAtMs: expiresAt.getTime(), atMs: at.getTime() });
    if (verdict === 'wait') return state;
    const end = { status: 'EXPIRED' as const, needsReconciliation: verdict === 'reconcile', at };
    const attempt = { id: attemptId, sessionId, notifyWorkflow: false };
    const ended = await deps.runInTransaction((tx) => closeAttempt(tx, attempt, end));
    if (ended && end.needsReconciliation) {
      deps.log.warn({ attemptId, transactionId }, 'payment expired with an unknown outcome and needs reconciliation');
    }
    return { ...(await readAttemptState(deps.db, attemptId)), queried: state.queried };
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
  if (!state.queried) return 'not queried';
  return reportsUnpaid(state) ? 'unpaid' : 'unknown';
}

/**
 * Clears the reconciliation flag of transactions that the providers' statements prove unpaid. Their statuses stay, and late
 * money is still booked. Returns how many had the flag.
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
     ${TIMELINE_INSERT}
     SELECT id, CAST(:at AS timestamptz), 'reconciliation.confirmed_unpaid', '{}' FROM cleared RETURNING resource_id`,
    { transactionIds: [...transactionIds], at },
  );
  return cleared.length;
}
