import { feeWithin, readFeeRule } from '../ledger/fees.ts';
import { postWithCommit } from '../ledger/post.ts';
import { suspensePosting, paymentPosting } from '../ledger/postings.ts';
import { rows } from '../lib/db.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { ProviderOutcome } from '../providers/provider.ts';
import {
  attemptUpdatedMessage,
  stateAfter,
  notifyWorkflowOf,
  type AttemptState,
  type ProviderResult,
} from './attempt.ts';
import { recordTransactionEvents } from './events.ts';
import type { TransactionRow } from './present.ts';
import { QUERYABLE_ATTEMPTS, type HeldReason } from './states.ts';

/** The index by which a provider's reference pays one transaction. */
export const PAID_REFERENCE = 'transaction_paid_reference';

type Paid = ProviderResult<Extract<ProviderOutcome, { kind: 'succeeded' }>>;

/**
 * Books a payment that the provider reports paid. The expected amount makes the transaction SUCCESS from any status (late
 * money is booked, never dropped); another amount or currency is held; a second payment is a duplicate. Throws a unique
 * violation of {@link PAID_REFERENCE} when the reference has paid another transaction: hold it then. Four statements with
 * events, deliveries, outbox and the ledger's journal. null when the attempt ended meanwhile.
 */
export async function confirmPayment(tx: UnitOfWork, paid: Paid): Promise<AttemptState | null> {
  const { attempt, outcome } = paid;
  if (outcome.currency !== attempt.currency) return holdPayment(tx, paid, 'WRONG_CURRENCY');
  if (outcome.amountSantim !== attempt.amountSantim) return holdPayment(tx, paid, 'WRONG_AMOUNT');

  const detail = { attemptId: attempt.id, channel: attempt.channel, providerReference: outcome.providerReference };
  const fee = feeWithin(readFeeRule(attempt.feeRule), outcome.amountSantim);
  const transaction = await applyPaid(tx, paid, {
    attemptStatus: 'SUCCEEDED',
    detail,
    values: fee,
    updates: `updated AS (
       UPDATE transaction t SET status = 'SUCCESS', channel = attempt.channel, provider_reference = :providerReference,
         failure = NULL, confirmed_late = t.status <> 'PENDING', needs_reconciliation = false, completed_at = :now,
         fee_santim = :feeSantim, fee_tax_santim = :feeTaxSantim, version = t.version + 1
       FROM attempt WHERE t.id = attempt.transaction_id AND t.status <> 'SUCCESS'
       RETURNING t.*
     ), completed AS (
       UPDATE checkout_session s SET status = 'COMPLETED', ended_at = :now FROM updated WHERE s.id = updated.session_id
     ), timeline_row AS (
       ${TIMELINE_INSERT}
       SELECT id, :now, 'payment.succeeded', CAST(:detail AS jsonb) || jsonb_build_object('late', confirmed_late) FROM updated
     )`,
  });
  if (transaction === 'attempt-gone') return null;
  if (transaction === 'already-paid') return markDuplicate(tx, paid, detail);
  const events = ['payment.succeeded', 'checkout.completed'] as const;
  await recordTransactionEvents(tx, { transactions: [transaction], events, at: paid.now });
  await postWithCommit(tx, paymentPosting({ ...attempt, ...fee }), paid.now);
  return stateAfter(paid, 'SUCCEEDED', { transactionStatus: 'SUCCESS', sessionStatus: 'COMPLETED' });
}

/** Holds money of another amount or currency: nothing becomes SUCCESS until an operator decides. */
export async function holdPayment(tx: UnitOfWork, paid: Paid, reason: HeldReason): Promise<AttemptState | null> {
  const { attempt, outcome } = paid;
  const detail = {
    attemptId: attempt.id,
    reason,
    expectedSantim: Number(attempt.amountSantim),
    receivedSantim: Number(outcome.amountSantim),
    currency: outcome.currency,
  };
  const transaction = await applyPaid(tx, paid, {
    attemptStatus: 'HELD',
    detail,
    updates: `updated AS (
       UPDATE transaction t SET hold_reason = CAST(:reason AS text), provider_reference = :providerReference, version = t.version + 1
       FROM attempt WHERE t.id = attempt.transaction_id AND t.status <> 'SUCCESS'
       RETURNING t.*
     ), timeline_row AS (
       ${TIMELINE_INSERT}
       SELECT id, :now, 'payment.held', CAST(:detail AS jsonb) FROM updated
     )`,
    values: { reason },
  });
  if (transaction === 'attempt-gone') return null;
  if (transaction === 'already-paid') return markDuplicate(tx, paid, detail);
  await postToSuspense(tx, paid);
  return stateAfter(paid, 'HELD', { transactionStatus: transaction.status, sessionStatus: attempt.sessionStatus });
}

/** Posts unallocated money to suspense until an operator decides. ETB only; zero amounts are skipped. */
async function postToSuspense(tx: UnitOfWork, { attempt, outcome, now }: Paid): Promise<void> {
  if (outcome.currency !== 'ETB' || outcome.amountSantim <= 0n) return;
  const held = { ...attempt, attemptId: attempt.id, amountSantim: outcome.amountSantim };
  await postWithCommit(tx, suspensePosting(held), now);
}

/** Records a second payment of a transaction that another attempt has paid: an operator decides about it. */
async function markDuplicate(tx: UnitOfWork, paid: Paid, detail: Record<string, unknown>): Promise<AttemptState> {
  await rows(
    tx.trx,
    `WITH duplicate AS (UPDATE payment_attempt SET status = 'DUPLICATE' WHERE id = :attemptId RETURNING transaction_id)
     ${TIMELINE_INSERT}
     SELECT transaction_id, :now, 'payment.duplicate', CAST(:detail AS jsonb) FROM duplicate`,
    { attemptId: paid.attempt.id, now: paid.now, detail: JSON.stringify(detail) },
  );
  await postToSuspense(tx, paid);
  return stateAfter(paid, 'DUPLICATE', { transactionStatus: 'SUCCESS', sessionStatus: 'COMPLETED' });
}

type TransitionSql = {
  attemptStatus: 'SUCCEEDED' | 'HELD';
  detail: Record<string, unknown>;
  updates: string;
  /** Values of the placeholders in `updates`. */
  values: Record<string, unknown>;
};

/**
 * Ends the attempt, and lets `updates` (which reads `attempt` and makes `updated`) change the rest in the same statement.
 * Locks the session's row first, as every change of a session does, so that no two changes deadlock.
 */
async function applyPaid(
  tx: UnitOfWork,
  paid: Paid,
  { attemptStatus, detail, updates, values }: TransitionSql,
): Promise<TransactionRow | 'attempt-gone' | 'already-paid'> {
  const messages = paid.notifyWorkflow ? [attemptUpdatedMessage(paid.attempt.id)] : [];
  const [row] = await rows<(TransactionRow | { id: null }) & { isEnqueued: boolean }>(
    tx.trx,
    `WITH locked AS (
       SELECT id FROM checkout_session WHERE id = :sessionId FOR UPDATE
     ), attempt AS (
       UPDATE payment_attempt a SET status = :attemptStatus, last_outcome = 'succeeded', failure = NULL,
         provider_reference = :providerReference, provider_code = :providerCode,
         received_santim = :receivedSantim, received_currency = :receivedCurrency, last_checked_at = :checkedAt, ended_at = :now, lease_until = NULL
       FROM locked WHERE a.id = :attemptId AND a.session_id = locked.id AND a.status = ANY (:queryable)
       RETURNING a.transaction_id, a.channel
     ), ${updates}, ${notifyWorkflowOf('attempt')}
     SELECT updated.*, EXISTS (SELECT 1 FROM outbox_row) AS is_enqueued FROM attempt LEFT JOIN updated ON updated.id = attempt.transaction_id`,
    {
      sessionId: paid.attempt.sessionId,
      attemptId: paid.attempt.id,
      attemptStatus,
      queryable: [...QUERYABLE_ATTEMPTS],
      providerReference: paid.outcome.providerReference,
      providerCode: paid.outcome.providerCode,
      checkedAt: paid.checkedAt,
      now: paid.now,
      receivedSantim: paid.outcome.amountSantim,
      receivedCurrency: paid.outcome.currency,
      detail: JSON.stringify(detail),
      ...values,
      messages: JSON.stringify(messages),
    },
  );
  if (!row) return 'attempt-gone';
  if (row.isEnqueued) tx.enqueued(messages);
  return row.id === null ? 'already-paid' : row;
}
