import { first, rows } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import type { UnitOfWork, RunInTransaction } from '../outbox/record.ts';
import type { CheckDeps } from '../providers/lease.ts';
import { recordTransactionEvents } from './events.ts';
import { readAttemptState, type TransactionRow, type AttemptState } from './queries.ts';
import { atExpiry, ATTEMPTS_MAX, isAttemptOver, reportsUnpaid, type SessionStatus } from './states.ts';
import { MIN_QUERY_INTERVAL_MS, type CheckAttempt } from './sync.ts';
import { lockPayment, SESSION_STEPS, transitionPayment } from './transition.ts';

/** How a session ends without money. */
export type UnpaidEnd = 'CANCELLED' | 'EXPIRED';

type End = { status: UnpaidEnd; at: Date };

/**
 * Ends an OPEN session without an attempt in flight and without held money.
 * @returns whether this call ended it.
 */
export async function closeSession(tx: UnitOfWork, sessionId: string, end: End): Promise<boolean> {
  return (await closeOpen(tx, end, { which: 's.id = :sessionId FOR UPDATE OF s, t', values: { sessionId } })) > 0;
}

/**
 * Expires OPEN sessions whose time is over at `now`, oldest first, at most `limit`; locked ones are skipped. The rest
 * follows in the job's next run, a second later.
 * @returns how many it expired.
 */
export async function expireDueSessions(runInTransaction: RunInTransaction, now: Date, limit: number): Promise<number> {
  const which = 's.expires_at <= :at ORDER BY s.expires_at LIMIT :limit FOR UPDATE OF s, t SKIP LOCKED';
  return runInTransaction((tx) => closeOpen(tx, { status: 'EXPIRED', at: now }, { which, values: { limit } }));
}

/**
 * Ends OPEN sessions with their transactions, events and timelines; not those with held money, about which an operator
 * decides. The session is locked first, as everywhere, and the transaction so that a concurrent hold is seen.
 */
async function closeOpen(
  tx: UnitOfWork,
  { status, at }: End,
  { which, values }: { which: string; values: Record<string, unknown> },
): Promise<number> {
  const { events, kind } = SESSION_STEPS[status];
  const transactions = await rows<TransactionRow>(
    tx.trx,
    `WITH due AS (
       SELECT s.id FROM checkout_session s JOIN transaction t ON t.id = s.transaction_id AND t.hold_reason IS NULL
       WHERE s.status = 'OPEN' AND ${which}
     ), ended AS (
       UPDATE checkout_session s SET status = :status, ended_at = :at FROM due WHERE s.id = due.id
       RETURNING s.transaction_id
     ), closed AS (
       UPDATE transaction t SET status = :status, version = t.version + 1
       FROM ended WHERE t.id = ended.transaction_id AND t.status = 'PENDING'
       RETURNING t.*
     ), timeline_row AS (
       ${TIMELINE_INSERT} SELECT id, CAST(:at AS timestamptz), :kind, '{"reconcile": false}' FROM closed
     )
     SELECT * FROM closed`,
    { ...values, status, at, kind },
  );
  await recordTransactionEvents(tx, { transactions, events, at });
  return transactions.length;
}

/**
 * Abandons an attempt and ends its session, or opens it for another attempt. Precondition: the provider has just reported it unpaid, or its outcome has been
 * unknown for 24 h. An attempt of a session that is already over, or for which other money is held, is only abandoned.
 * @returns whether this call ended the session.
 */
export async function closeAttempt(
  tx: UnitOfWork,
  { id, notifyWorkflow }: { id: string; notifyWorkflow: boolean },
  {
    status,
    needsReconciliation,
    at,
  }: Omit<End, 'status'> & { status: UnpaidEnd | 'OPEN'; needsReconciliation: boolean },
): Promise<boolean> {
  const locked = await lockPayment(tx.trx, id);
  if (isAttemptOver(locked.attemptStatus)) return false;
  const isHeld = locked.holdReason !== null;
  const isEnded = !isHeld && (locked.sessionStatus === 'OPEN' || locked.sessionStatus === 'PROCESSING');
  const transaction = isEnded || (isHeld && needsReconciliation) ? { needsReconciliation } : {};
  const attempt = { status: 'ABANDONED', endedAt: at, leaseUntil: null } as const;
  const session = isEnded ? status : undefined;
  const timeline = session === 'OPEN' ? [{ kind: 'attempt.withdrawn' as const, detail: { attemptId: id } }] : [];
  await transitionPayment(tx, locked, { attempt, session, transaction, timeline, notifyWorkflow, at });
  return isEnded;
}

export type CloseUnpaid = (sessionId: string, as: UnpaidEnd | 'OPEN') => Promise<SessionStatus>;

type CloseDeps = Pick<CheckDeps, 'db' | 'runInTransaction'> & { checkAttempt: CheckAttempt };

/**
 * Ends a session on request: the customer cancels, the merchant expires. Without an attempt in flight at once; otherwise
 * only when the provider reports it unpaid, queried now or less than 2 s ago. Paid money wins; while the outcome is unknown
 * the session stays as it is. `OPEN` only takes the attempt in flight back, while the session has attempts left, so that
 * the customer can choose another number or channel.
 * @returns the session's status afterwards.
 */
export function createCloseUnpaid(deps: CloseDeps & Pick<CheckDeps, 'clock'>): CloseUnpaid {
  return async (sessionId, as) => {
    const end = { status: as, needsReconciliation: false, at: deps.clock() };
    const { attemptId, attemptsCount } = await readSessionState(deps, sessionId);
    if (attemptId !== null && (as !== 'OPEN' || attemptsCount < ATTEMPTS_MAX)) {
      const state = await deps.checkAttempt(attemptId, { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: true });
      const queriedAfterMs = end.at.getTime() - MIN_QUERY_INTERVAL_MS;
      const isRecent = state.queried || (state.lastCheckedAt?.getTime() ?? 0) > queriedAfterMs;
      if (!state.final && isRecent && reportsUnpaid(state)) {
        await deps.runInTransaction((tx) => closeAttempt(tx, { id: attemptId, notifyWorkflow: true }, end));
      }
    }
    // Also a session that the provider's decline has just opened again.
    if (as !== 'OPEN') await deps.runInTransaction((tx) => closeSession(tx, sessionId, { ...end, status: as }));
    return (await readSessionState(deps, sessionId)).status;
  };
}

/** A session's status, and its attempt in flight, if any. Throws NOT_FOUND. */
async function readSessionState({ db }: Pick<CheckDeps, 'db'>, sessionId: string) {
  const session = await first<{ status: SessionStatus; attemptsCount: number; attemptId: string | null }>(
    db,
    `SELECT s.status, s.attempts_count, a.id AS attempt_id
     FROM checkout_session s
     LEFT JOIN payment_attempt a ON a.session_id = s.id AND a.status IN ('CREATED', 'PENDING') AND s.status = 'PROCESSING'
     WHERE s.id = :sessionId`,
    { sessionId },
  );
  return found(session, 'checkout session');
}

export type ExpireAttempt = (attemptId: string, at: Date) => Promise<AttemptState>;

/**
 * Queries the provider a last time about an attempt whose session's time is over, and expires both when this very query
 * returned "not paid", or when nothing was ever sent. While the outcome is unknown, or the provider was not queried (it was
 * less than 2 s ago, or is being queried), nothing changes and `final` stays false: call again. After 24 h of unknown
 * outcomes both expire, marked for reconciliation. `at` is the effective time. Does not signal the workflow, which is the
 * caller. Throws NOT_FOUND.
 */
export function createExpireAttempt(deps: CloseDeps & Pick<CheckDeps, 'log'>): ExpireAttempt {
  return async (attemptId, at) => {
    const options = { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: false, now: at };
    const state = await deps.checkAttempt(attemptId, options);
    if (state.final) return state;
    const verdict = atExpiry(state, at);
    if (verdict === 'wait') return state;
    const end = { status: 'EXPIRED' as const, needsReconciliation: verdict === 'reconcile', at };
    const attempt = { id: attemptId, notifyWorkflow: false };
    const ended = await deps.runInTransaction((tx) => closeAttempt(tx, attempt, end));
    if (ended && end.needsReconciliation) {
      deps.log.warn(
        { attemptId, transactionId: state.transactionId },
        'payment expired with an unknown outcome and needs reconciliation',
      );
    }
    return { ...(await readAttemptState(deps.db, attemptId)), queried: state.queried };
  };
}

/**
 * Clears the reconciliation flag of transactions that the providers' statements prove unpaid. Their statuses stay, and late
 * money is still booked. Returns how many had the flag.
 */
export async function clearReconciliationFlag(
  tx: UnitOfWork,
  { transactionIds, at }: { transactionIds: readonly string[]; at: Date },
): Promise<number> {
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
