import { rows } from '../lib/db.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import type { UnitOfWork, RunInTransaction } from '../outbox/record.ts';
import { attemptUpdatedMessage, notifyWorkflowOf } from './attempt.ts';
import { recordTransactionEvents } from './events.ts';
import type { TransactionRow } from './present.ts';

/** How a session ends without money. */
export type UnpaidEnd = 'CANCELLED' | 'EXPIRED';

const ENDS = {
  CANCELLED: { event: 'checkout.canceled', kind: 'session.cancelled' },
  EXPIRED: { event: 'checkout.expired', kind: 'session.expired' },
} as const;

/**
 * The lock of sessions without held money, and of their transactions: an operator decides how the others end. The session
 * is locked first, as everywhere, and the transaction so that a concurrent hold is seen.
 */
const lockUnheld = (condition: string): string =>
  `SELECT s.id FROM checkout_session s JOIN transaction t ON t.id = s.transaction_id AND t.hold_reason IS NULL
   WHERE ${condition} FOR UPDATE OF s, t`;

type End = { status: UnpaidEnd; needsReconciliation: boolean; at: Date };

/**
 * Ends an OPEN session without an attempt in flight and without held money. One statement and the events.
 * @returns whether this call ended it.
 */
export async function closeSession(tx: UnitOfWork, sessionId: string, end: End): Promise<boolean> {
  const due = lockUnheld(`s.id = :sessionId AND s.status = 'OPEN'`);
  return (await endSessions(tx, end, { due, values: { sessionId } })) > 0;
}

/**
 * Expires OPEN sessions whose time is over at `now`, oldest first, at most `limit`; locked ones are skipped. The rest
 * follows in the job's next run, a second later.
 * @returns how many it expired.
 */
export async function expireDueSessions(runInTransaction: RunInTransaction, now: Date, limit: number): Promise<number> {
  const due = `${lockUnheld(`s.status = 'OPEN' AND s.expires_at <= :at
   ORDER BY s.expires_at LIMIT :limit`)} SKIP LOCKED`;
  const end: End = { status: 'EXPIRED', needsReconciliation: false, at: now };
  return runInTransaction((tx) => endSessions(tx, end, { due, values: { limit } }));
}

/** Expires one OPEN session if its time is over. Returns whether it did. */
export async function expireSessionIfDue(
  runInTransaction: RunInTransaction,
  sessionId: string,
  now: Date,
): Promise<boolean> {
  const due = lockUnheld(`s.id = :sessionId AND s.status = 'OPEN' AND s.expires_at <= :at`);
  const end: End = { status: 'EXPIRED', needsReconciliation: false, at: now };
  return (await runInTransaction((tx) => endSessions(tx, end, { due, values: { sessionId } }))) > 0;
}

/**
 * Ends a PROCESSING session together with its attempt. Precondition: the provider has just reported it unpaid, or its
 * outcome has been unknown for 24 h. An attempt of a session that is already over, or for which other money is held, is only abandoned.
 * @returns whether this call ended the session.
 */
export async function closeAttempt(
  tx: UnitOfWork,
  attempt: { id: string; sessionId: string; notifyWorkflow: boolean },
  end: End,
): Promise<boolean> {
  const { id: attemptId, sessionId, notifyWorkflow } = attempt;
  await rows(tx.trx, 'SELECT 1 FROM checkout_session WHERE id = :sessionId FOR UPDATE', { sessionId });
  const messages = notifyWorkflow ? [attemptUpdatedMessage(attemptId)] : [];
  const [abandoned] = await rows<{ isEnqueued: boolean }>(
    tx.trx,
    `WITH abandoned AS (
       UPDATE payment_attempt SET status = 'ABANDONED', ended_at = :at, lease_until = NULL
       WHERE id = :attemptId AND session_id = :sessionId AND status IN ('CREATED', 'PENDING') RETURNING id
     ), ${notifyWorkflowOf('abandoned')}
     SELECT EXISTS (SELECT 1 FROM outbox_row) AS is_enqueued FROM abandoned`,
    { attemptId, sessionId, at: end.at, messages: JSON.stringify(messages) },
  );
  if (!abandoned) return false;
  if (abandoned.isEnqueued) tx.enqueued(messages);
  if (end.needsReconciliation) {
    await rows(
      tx.trx,
      `UPDATE transaction SET needs_reconciliation = true, version = version + 1
       WHERE session_id = :sessionId AND hold_reason IS NOT NULL`,
      { sessionId },
    );
  }
  const due = lockUnheld(`s.id = :sessionId AND s.status IN ('OPEN', 'PROCESSING')`);
  return (await endSessions(tx, end, { due, values: { sessionId } })) > 0;
}

/** Ends the sessions that `due` locks, with their transactions, events and timelines. Returns how many it ended. */
async function endSessions(
  tx: UnitOfWork,
  end: End,
  { due, values }: { due: string; values: Record<string, unknown> },
): Promise<number> {
  const { event, kind } = ENDS[end.status];
  const transactions = await rows<TransactionRow>(
    tx.trx,
    `WITH due AS (${due}), ended AS (
       UPDATE checkout_session s SET status = :status, ended_at = :at FROM due WHERE s.id = due.id
       RETURNING s.transaction_id
     ), closed AS (
       UPDATE transaction t SET status = :status, needs_reconciliation = :reconcile, version = t.version + 1
       FROM ended WHERE t.id = ended.transaction_id AND t.status = 'PENDING'
       RETURNING t.*
     ), timeline_row AS (
       ${TIMELINE_INSERT}
       SELECT id, CAST(:at AS timestamptz), :kind, jsonb_build_object('reconcile', needs_reconciliation) FROM closed
     )
     SELECT * FROM closed`,
    { ...values, status: end.status, reconcile: end.needsReconciliation, at: end.at, kind },
  );
  await recordTransactionEvents(tx, { transactions, events: [event], at: end.at });
  return transactions.length;
}
