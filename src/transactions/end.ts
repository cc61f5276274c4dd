import { rows } from '../lib/db.ts';
import type { Change, OutboxRow, RunChange } from '../lib/outbox.ts';
import { settledMessage, tellWorkflowOf } from './attempt.ts';
import { recordTransactionEvents } from './events.ts';
import type { TransactionRow } from './present.ts';

/** How a session ends without money. */
export type UnpaidEnd = 'CANCELLED' | 'EXPIRED';

const TOLD = {
  CANCELLED: { event: 'checkout.canceled', kind: 'session.cancelled' },
  EXPIRED: { event: 'checkout.expired', kind: 'session.expired' },
} as const;

/**
 * Of sessions and their transactions only those where no money waits for an operator: it decides how they end. Both rows
 * are locked, the session first as everywhere, so that what is held meanwhile is seen.
 */
const FREE_SESSIONS = 'checkout_session s JOIN transaction t ON t.id = s.transaction_id AND t.held IS NULL';

type End = { status: UnpaidEnd; reconcile: boolean; at: Date };

/**
 * Ends an OPEN session, on which nothing is in flight and for which no money is held. One statement and the events.
 * @returns whether this call ended it.
 */
export async function endOpenSession(change: Change, sessionId: string, end: End): Promise<boolean> {
  const due = `SELECT s.id AS session_id FROM ${FREE_SESSIONS}
               WHERE s.id = :sessionId AND s.status = 'OPEN' FOR UPDATE OF s, t`;
  return (await endSessions(change, end, { due, bindings: { sessionId } })) > 0;
}

/**
 * Expires OPEN sessions whose time is over, oldest first, at most `limit`; those that others hold are left to them.
 * The rest waits for the chore's next round, a second later. Works by the time it is given, so a test brings its own.
 * @returns how many it expired.
 */
export async function expireDueSessions(runChange: RunChange, now: Date, limit: number): Promise<number> {
  const due = `SELECT s.id AS session_id FROM ${FREE_SESSIONS}
               WHERE s.status = 'OPEN' AND s.expires_at <= :at
               ORDER BY s.expires_at LIMIT :limit FOR UPDATE OF s, t SKIP LOCKED`;
  const end: End = { status: 'EXPIRED', reconcile: false, at: now };
  return runChange((change) => endSessions(change, end, { due, bindings: { limit } }));
}

/** Expires one OPEN session if its time is over: what a read does first, so that lists and reads agree. */
export async function expireSessionIfDue(runChange: RunChange, sessionId: string, now: Date): Promise<boolean> {
  const due = `SELECT s.id AS session_id FROM ${FREE_SESSIONS}
               WHERE s.id = :sessionId AND s.status = 'OPEN' AND s.expires_at <= :at FOR UPDATE OF s, t`;
  const end: End = { status: 'EXPIRED', reconcile: false, at: now };
  return (await runChange((change) => endSessions(change, end, { due, bindings: { sessionId } }))) > 0;
}

/**
 * Ends a PROCESSING session together with its attempt, which the provider has just called unpaid (or could not say for
 * 24 h): the caller has asked.
 * An attempt of a session that is over already, or for which other money is held, is only abandoned.
 * @returns whether this call ended the session.
 */
export async function endAttempt(
  change: Change,
  attempt: { id: string; sessionId: string; tellWorkflow: boolean },
  end: End,
): Promise<boolean> {
  const due = `SELECT a.session_id FROM abandoned a JOIN locked ON locked.id = a.session_id WHERE locked.held IS NULL`;
  const before = `locked AS (
      SELECT s.id, s.transaction_id, t.held FROM checkout_session s JOIN transaction t ON t.id = s.transaction_id
      WHERE s.id = :sessionId FOR UPDATE OF s, t
    ), abandoned AS (
      UPDATE payment_attempt a SET status = 'ABANDONED', ended_at = :at, lease_until = NULL
      FROM locked WHERE a.id = :attemptId AND a.session_id = locked.id AND a.status IN ('CREATED', 'PENDING')
      RETURNING a.session_id
    ), doubted AS (
      UPDATE transaction t SET reconcile = true, version = t.version + 1
      FROM locked JOIN abandoned ON abandoned.session_id = locked.id
      WHERE t.id = locked.transaction_id AND locked.held IS NOT NULL AND CAST(:reconcile AS boolean)
    ), ${tellWorkflowOf('abandoned')},`;
  const messages = attempt.tellWorkflow ? [settledMessage(attempt.id)] : [];
  const bindings = { sessionId: attempt.sessionId, attemptId: attempt.id, messages: JSON.stringify(messages) };
  return (await endSessions(change, end, { before, due, bindings, messages })) > 0;
}

/** `messages`: what `before` may have written as `told`. */
type Which = { before?: string; due: string; bindings: Record<string, unknown>; messages?: OutboxRow[] };

async function endSessions(change: Change, end: End, which: Which): Promise<number> {
  const { event, kind } = TOLD[end.status];
  const transactions = await rows<TransactionRow & { isTold: boolean }>(
    change.trx,
    `WITH ${which.before ?? ''} due AS (${which.due}), ended AS (
       UPDATE checkout_session s SET status = :status, ended_at = :at
       FROM due WHERE s.id = due.session_id AND s.status IN ('OPEN', 'PROCESSING')
       RETURNING s.transaction_id
     ), closed AS (
       UPDATE transaction t SET status = :status, reconcile = :reconcile, version = t.version + 1
       FROM ended WHERE t.id = ended.transaction_id AND t.status = 'PENDING'
       RETURNING t.*
     ), noted AS (
       INSERT INTO transaction_timeline (transaction_id, at, kind, detail)
       SELECT id, CAST(:at AS timestamptz), :kind, jsonb_build_object('reconcile', reconcile) FROM closed
     )
     SELECT closed.*, ${which.messages ? 'EXISTS (SELECT 1 FROM told)' : 'false'} AS is_told FROM closed`,
    { ...which.bindings, status: end.status, reconcile: end.reconcile, at: end.at, kind },
  );
  if (transactions.some(({ isTold }) => isTold)) change.told(which.messages ?? []);
  await recordTransactionEvents(change, { transactions, events: [event], at: end.at });
  return transactions.length;
}
