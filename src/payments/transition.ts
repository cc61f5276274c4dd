import { postWithCommit } from '../ledger/post.ts';
import type { Posting } from '../ledger/postings.ts';
import { snakeCase } from '../lib/column-names.ts';
import { first, type Trx } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { recordTransactionEvents, type TransactionEvent } from './events.ts';
import type { TransactionRow, AttemptRow } from './queries.ts';
import { transactionStatusOf, type AttemptStatus, type SessionStatus, type TransactionStatus } from './states.ts';
import type { TimelineKind } from './timeline.ts';
import { paymentWorkflowId } from './workflow.ts';

/** The index by which a provider's reference pays one transaction. */
export const PAID_REFERENCE = 'transaction_paid_reference';

export type LockedPayment = Pick<AttemptRow, 'sessionId' | 'transactionId'> &
  Pick<TransactionRow, 'holdReason'> & {
    attemptId: string;
    attemptStatus: AttemptStatus;
    sessionStatus: SessionStatus;
    sessionEndedAt: Date | null;
    transactionStatus: TransactionStatus;
  };

export type Transition = {
  attempt: Partial<AttemptRow> & { status: AttemptStatus };
  /** The session's next status; its events and timeline, and the transaction's status, follow from it. Without one all stay. */
  session?: Exclude<SessionStatus, 'PROCESSING'> | undefined;
  /** Further columns of the transaction. */
  transaction?: Partial<TransactionRow>;
  timeline?: { kind: TimelineKind; detail: Record<string, unknown> }[];
  posting?: Posting | null;
  notifyWorkflow?: boolean;
  at: Date;
};

type Step = { events: readonly TransactionEvent[]; kind: TimelineKind | null };

/** The events and the timeline entry of a session's next status; a payment or a decline has an entry of its own. */
export const SESSION_STEPS: Readonly<Record<NonNullable<Transition['session']>, Step>> = {
  OPEN: { events: [], kind: null },
  COMPLETED: { events: ['payment.succeeded', 'checkout.completed'], kind: null },
  FAILED: { events: ['checkout.failed'], kind: null },
  CANCELLED: { events: ['checkout.canceled'], kind: 'session.cancelled' },
  EXPIRED: { events: ['checkout.expired'], kind: 'session.expired' },
};

/**
 * Locks an attempt with its session and transaction. The session is locked first, as in every change of one, so that no two
 * changes deadlock. Throws NOT_FOUND.
 */
export async function lockPayment(trx: Trx, attemptId: string): Promise<LockedPayment> {
  const locked = await first<LockedPayment>(
    trx,
    `SELECT a.id AS attempt_id, a.session_id, a.transaction_id, a.status AS attempt_status, s.status AS session_status,
            s.ended_at AS session_ended_at, t.status AS transaction_status, t.hold_reason
     FROM payment_attempt a
     JOIN checkout_session s ON s.id = a.session_id
     JOIN transaction t ON t.id = a.transaction_id
     WHERE a.id = :attemptId FOR UPDATE OF s, t, a`,
    { attemptId },
  );
  return found(locked, 'payment attempt');
}

/**
 * Writes one transition of a locked payment: its rows and timeline in one statement, its events, the signal to its workflow
 * and its journal. A start of the workflow that is still in the outbox is removed, in place of the signal; a workflow that
 * is just being started reads the attempt first. Throws the unique violation of {@link PAID_REFERENCE} when the provider's
 * reference has paid another transaction.
 */
export async function transitionPayment(
  tx: UnitOfWork,
  { attemptId, sessionId, transactionId, ...before }: LockedPayment,
  { attempt, session, transaction, timeline = [], posting, notifyWorkflow = false, at }: Transition,
): Promise<TransactionRow> {
  const ends = session !== undefined && session !== 'OPEN';
  const columns = { ...(ends && { status: transactionStatusOf(session) }), ...transaction };
  const versions = Object.keys(columns).length > 0 ? 1 : 0;
  const workflowId = paymentWorkflowId(attemptId);
  const { events, kind } = SESSION_STEPS[session ?? 'OPEN'];
  const ended = { kind, detail: { reconcile: columns.needsReconciliation ?? false } };
  const row = await first<TransactionRow & { isUnstarted: boolean }>(
    tx.trx,
    `WITH attempt AS (
       UPDATE payment_attempt SET ${assign('attempt', attempt).join(', ')} WHERE id = :attemptId
     ), session AS (
       UPDATE checkout_session SET status = :sessionStatus, ended_at = :endedAt WHERE id = :sessionId
     ), timeline_row AS (
       ${TIMELINE_INSERT}
       SELECT :transactionId, :at, e.kind, e.detail
       FROM jsonb_to_recordset(CAST(:timeline AS jsonb)) AS e (kind text, detail jsonb)
     ), unstarted AS (
       DELETE FROM outbox WHERE workflow_id = :workflowId AND kind = 'start' AND lease_until IS NULL RETURNING id
     )
     UPDATE transaction SET ${[`version = version + ${versions}`, ...assign('transaction', columns)].join(', ')}
     WHERE id = :transactionId
     RETURNING *, EXISTS (SELECT 1 FROM unstarted) AS is_unstarted`,
    {
      attemptId,
      sessionId,
      transactionId,
      workflowId,
      at,
      timeline: JSON.stringify(kind ? [...timeline, ended] : timeline),
      sessionStatus: session ?? before.sessionStatus,
      endedAt: session ? (ends ? at : null) : before.sessionEndedAt,
      ...prefixed('attempt', attempt),
      ...prefixed('transaction', columns),
    },
  );
  const { isUnstarted, ...changed } = found(row, 'transaction');
  await recordTransactionEvents(tx, { transactions: [changed], events, at });
  if (notifyWorkflow && !isUnstarted) {
    await tx.enqueue([{ kind: 'signal', workflowType: 'payment', workflowId, signal: 'attemptUpdated' }]);
  }
  if (posting) await postWithCommit(tx, posting, at);
  return changed;
}

/** Assignments of columns, their values prefixed as by {@link prefixed}. */
const assign = (prefix: string, columns: object): string[] =>
  Object.keys(columns).map((name) => `${snakeCase(name)} = :${prefix}_${name}`);

const prefixed = (prefix: string, columns: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(columns).map(([name, value]) => [`${prefix}_${name}`, value]));
