import { rows } from '../lib/db.ts';
import type { UnitOfWork, OutboxRow, RunInTransaction } from '../outbox/record.ts';
import { attemptUpdatedMessage, notifyWorkflowOf } from './attempt.ts';
import { recordTransactionEvents } from './events.ts';
import type { TransactionRow } from './present.ts';

/** How a session ends without money. */
export type UnpaidEnd = 'CANCELLED' | 'EXPIRED';

const EVENTS_AND_SIGNALS = {
  CANCELLED: { event: 'checkout.canceled', kind: 'session.cancelled' },
  EXPIRED: { event: 'checkout.expired', kind: 'session.expired' },
} as const;

/**
 * Sessions without held money, and their transactions: an operator decides how the others end. Both rows are locked, the
 * session first as everywhere, so that a concurrent hold is seen.
 */
const FREE_SESSIONS = 'checkout_session s JOIN transaction t ON t.id = s.transaction_id AND t.hold_reason IS NULL';

type End = { status: UnpaidEnd; needsReconciliation: boolean; at: Date };

/**
 * Ends an OPEN session without an attempt in flight and without held money. One statement and the events.
 * @returns whether this call ended it.
 */
export async function closeSession(tx: UnitOfWork, sessionId: string, end: End): Promise<boolean> {
  const due = `SELECT s.id AS session_id FROM ${FREE_SESSIONS}
               WHERE s.id = :sessionId AND s.status = 'OPEN' FOR UPDATE OF s, t`;
  return (await endSessions(tx, end, { due, bindings: { sessionId } })) > 0;
}

/**
 * Expires OPEN sessions whose time is over, oldest first, at most `limit`; locked ones are skipped. The rest follows in the
 * job's next run, a second later. Works by the time it is given.
 * @returns how many it expired.
 */
export async function expireDueSessions(runInTransaction: RunInTransaction, now: Date, limit: number): Promise<number> {
  const due = `SELECT s.id AS session_id FROM ${FREE_SESSIONS}
               WHERE s.status = 'OPEN' AND s.expires_at <= :at
               ORDER BY s.expires_at LIMIT :limit FOR UPDATE OF s, t SKIP LOCKED`;
  const end: End = { status: 'EXPIRED', needsReconciliation: false, at: now };
  return runInTransaction((tx) => endSessions(tx, end, { due, bindings: { limit } }));
}

/** Expires one OPEN session if its time is over. Reads call this first, so that lists and reads agree. */
export async function expireSessionIfDue(
  runInTransaction: RunInTransaction,
  sessionId: string,
  now: Date,
): Promise<boolean> {
  const due = `SELECT s.id AS session_id FROM ${FREE_SESSIONS}
               WHERE s.id = :sessionId AND s.status = 'OPEN' AND s.expires_at <= :at FOR UPDATE OF s, t`;
  const end: End = { status: 'EXPIRED', needsReconciliation: false, at: now };
  return (await runInTransaction((tx) => endSessions(tx, end, { due, bindings: { sessionId } }))) > 0;
}

/**
 * Ends a PROCESSING session together with its attempt. Precondition: the provider has just reported it unpaid, or could not
 * tell for 24 h. An attempt of a session that is already over, or for which other money is held, is only abandoned.
 * @returns whether this call ended the session.
 */
export async function closeAttempt(
  tx: UnitOfWork,
  attempt: { id: string; sessionId: string; notifyWorkflow: boolean },
  end: End,
): Promise<boolean> {
  const due = `SELECT a.session_id FROM abandoned a JOIN locked ON locked.id = a.session_id WHERE locked.hold_reason IS NULL`;
  const before = `locked AS (
      SELECT s.id, s.transaction_id, t.hold_reason FROM checkout_session s JOIN transaction t ON t.id = s.transaction_id
      WHERE s.id = :sessionId FOR UPDATE OF s, t
    ), abandoned AS (
      UPDATE payment_attempt a SET status = 'ABANDONED', ended_at = :at, lease_until = NULL
      FROM locked WHERE a.id = :attemptId AND a.session_id = locked.id AND a.status IN ('CREATED', 'PENDING')
      RETURNING a.session_id
    ), doubted AS (
      UPDATE transaction t SET needs_reconciliation = true, version = t.version + 1
      FROM locked JOIN abandoned ON abandoned.session_id = locked.id
      WHERE t.id = locked.transaction_id AND locked.hold_reason IS NOT NULL AND CAST(:reconcile AS boolean)
    ), ${notifyWorkflowOf('abandoned')},`;
  const messages = attempt.notifyWorkflow ? [attemptUpdatedMessage(attempt.id)] : [];
  const bindings = { sessionId: attempt.sessionId, attemptId: attempt.id, messages: JSON.stringify(messages) };
  return (await endSessions(tx, end, { before, due, bindings, messages })) > 0;
}

/** `messages`: what `before` may have written as `outbox_row`. */
type Which = { before?: string; due: string; bindings: Record<string, unknown>; messages?: OutboxRow[] };

async function endSessions(tx: UnitOfWork, end: End, which: Which): Promise<number> {
  const { event, kind } = EVENTS_AND_SIGNALS[end.status];
  const transactions = await rows<TransactionRow & { isEnqueued: boolean }>(
    tx.trx,
    `WITH ${which.before ?? ''} due AS (${which.due}), ended AS (
       UPDATE checkout_session s SET status = :status, ended_at = :at
       FROM due WHERE s.id = due.session_id AND s.status IN ('OPEN', 'PROCESSING')
       RETURNING s.transaction_id
     ), closed AS (
       UPDATE transaction t SET status = :status, needs_reconciliation = :reconcile, version = t.version + 1
       FROM ended WHERE t.id = ended.transaction_id AND t.status = 'PENDING'
       RETURNING t.*
     ), timeline_row AS (
       INSERT INTO transaction_timeline (transaction_id, occurred_at, kind, detail)
       SELECT id, CAST(:at AS timestamptz), :kind, jsonb_build_object('reconcile', needs_reconciliation) FROM closed
     )
     SELECT closed.*, ${which.messages ? 'EXISTS (SELECT 1 FROM outbox_row)' : 'false'} AS is_enqueued FROM closed`,
    { ...which.bindings, status: end.status, reconcile: end.needsReconciliation, at: end.at, kind },
  );
  if (transactions.some(({ isEnqueued }) => isEnqueued)) tx.enqueued(which.messages ?? []);
  await recordTransactionEvents(tx, { transactions, events: [event], at: end.at });
  return transactions.length;
}
