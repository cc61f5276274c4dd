import { feeWithin, readFeeRule, type Fee, type FeeRuleJson } from '../ledger/fees.ts';
import { post } from '../ledger/post.ts';
import { suspenseAcceptedPosting, suspenseReturnedPosting } from '../ledger/postings.ts';
import { isUniqueViolation, rows, type Trx } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { PAID_REFERENCE } from './confirm.ts';
import { recordTransactionEvents } from './events.ts';
import type { TransactionRow } from './present.ts';
import { readTransaction } from './queries.ts';
import type { AttemptStatus } from './states.ts';

/** A held payment: of another amount or currency, or a second one. */
export type HeldPayment = MerchantScope & {
  id: string;
  transactionId: string;
  channel: Channel;
  status: AttemptStatus;
  providerReference: string | null;
  /** null when the amount is not in the ledger. */
  receivedSantim: Santim | null;
  receivedCurrency: string | null;
  holdResolution: 'ACCEPTED' | 'RETURNED' | null;
  returnReference: string | null;
};

/** The payment to decide about, named by its attempt, so that a repeat never decides another one. `at`: the effective time. */
export type HeldChoice = { transactionId: string; attemptId: string; at: Date };

/** The payment and its transaction after the decision, and before it. `isNew`: this call decided. */
export type HeldDecision = {
  transaction: TransactionRow;
  payment: HeldPayment;
  before: Pick<TransactionRow, 'status' | 'holdReason'>;
  fee: Fee | null;
  isNew: boolean;
};

/**
 * Releases held money to the merchant, less the fee of today's rule. A held payment makes its transaction SUCCESS with the
 * received amount; a second payment leaves the transaction as it is. Idempotent. Throws NOT_FOUND, INVALID_STATE (already
 * returned, or not releasable).
 */
export async function acceptHeldPayment(tx: UnitOfWork, choice: HeldChoice): Promise<HeldDecision> {
  const { trx } = tx;
  const { payment, feeRule, before } = await choosePayment(trx, choice);
  if (payment.holdResolution === 'ACCEPTED') return decisionOf(trx, payment, { before, fee: null, isNew: false });
  if (payment.holdResolution === 'RETURNED') throw decidedOtherwise(payment, 'went back to the customer');
  const { receivedSantim } = payment;
  if (receivedSantim === null || receivedSantim <= 0n || payment.receivedCurrency !== 'ETB')
    throw onlyReturnable(payment);
  await ensureReferenceUnused(trx, payment);

  const fee = feeWithin(readFeeRule(feeRule), receivedSantim);
  const updated = await acceptRows(trx, { payment, receivedSantim, fee, at: choice.at }).catch((error: unknown) => {
    // Another transaction was paid with this reference since the check above.
    throw isUniqueViolation(error, PAID_REFERENCE) ? referenceUsed(payment, 'another transaction') : error;
  });
  await clearHeld(trx, payment.transactionId);
  const decision = await decisionOf(trx, payment, { before, fee, isNew: true });
  if (updated) {
    const events = ['payment.succeeded', 'checkout.completed'] as const;
    await recordTransactionEvents(tx, { transactions: [decision.transaction], events, at: choice.at });
  }
  await post(trx, suspenseAcceptedPosting({ ...bookedOf(payment, receivedSantim), ...fee }), choice.at);
  return decision;
}

/**
 * Records that held money was returned to the customer under `reference`. A transaction without another open payment ends
 * FAILED. Idempotent under the same reference. Throws NOT_FOUND, INVALID_STATE (released before, or returned under another
 * reference).
 */
export async function returnHeldPayment(
  tx: UnitOfWork,
  choice: HeldChoice & { reason: string; reference: string },
): Promise<HeldDecision> {
  const { trx } = tx;
  const { payment, before } = await choosePayment(trx, choice);
  if (payment.holdResolution === 'RETURNED') {
    if (payment.returnReference !== choice.reference) throw returnedBefore(payment);
    return decisionOf(trx, payment, { before, fee: null, isNew: false });
  }
  if (payment.holdResolution === 'ACCEPTED') throw decidedOtherwise(payment, "is the merchant's");

  const failed = await returnRows(trx, { payment, ...choice });
  await clearHeld(trx, payment.transactionId);
  const decision = await decisionOf(trx, payment, { before, fee: null, isNew: true });
  if (failed) {
    const events = ['checkout.failed'] as const;
    await recordTransactionEvents(tx, { transactions: [decision.transaction], events, at: choice.at });
  }
  const { receivedSantim, receivedCurrency } = payment;
  // Money that never came was never posted to suspense.
  if (receivedSantim !== null && receivedSantim > 0n && receivedCurrency === 'ETB') {
    await post(trx, suspenseReturnedPosting(bookedOf(payment, receivedSantim)), choice.at);
  }
  return decision;
}

type Chosen = Pick<HeldDecision, 'payment' | 'before'> & { feeRule: FeeRuleJson };

/** Locks the session first, as every change of one does, so that decisions are serialized. */
async function choosePayment(trx: Trx, { transactionId, attemptId, at }: HeldChoice): Promise<Chosen> {
  const sql = 'SELECT 1 FROM checkout_session WHERE transaction_id = :transactionId FOR UPDATE';
  if ((await rows(trx, sql, { transactionId })).length === 0) throw notFound('transaction');
  const before = await readTransaction(trx, transactionId);
  const [chosen] = await rows<HeldPayment & { feeRule: FeeRuleJson }>(
    trx,
    `SELECT ${PAYMENT_COLUMNS}, effective_fee_rule(merchant_id, channel, 'PAY_IN', :at) AS fee_rule FROM payment_attempt
     WHERE id = :attemptId AND transaction_id = :transactionId
       AND (status IN ('HELD', 'DUPLICATE') OR hold_resolution IS NOT NULL)`,
    { transactionId, attemptId, at },
  );
  if (!chosen) throw notFound('held payment');
  const { feeRule, ...payment } = chosen;
  return { payment, feeRule, before };
}

const PAYMENT_COLUMNS = `id, transaction_id, merchant_id, environment, channel, status, provider_reference,
  received_santim, received_currency, hold_resolution, return_reference`;

/** A provider's reference pays one transaction. Throws INVALID_STATE when it has paid another. */
async function ensureReferenceUnused(trx: Trx, payment: HeldPayment): Promise<void> {
  const { transactionId, environment, channel, providerReference } = payment;
  if (providerReference === null) return;
  const [other] = await rows<{ id: string }>(
    trx,
    `SELECT id FROM transaction WHERE provider_reference = :providerReference AND environment = :environment
       AND channel = :channel AND status = 'SUCCESS' AND id <> :transactionId`,
    { providerReference, environment, channel, transactionId },
  );
  if (other) throw referenceUsed(payment, other.id);
}

function referenceUsed({ id, providerReference }: HeldPayment, by: string): AppError {
  const why = `has the reference ${providerReference}, which has paid ${by}`;
  return new AppError('INVALID_STATE', `The money of ${id} ${why}: it can only be given back.`);
}

function decidedOtherwise({ id }: HeldPayment, status: string): AppError {
  return new AppError('INVALID_STATE', `The money of ${id} ${status} already: that cannot be decided again.`);
}

function returnedBefore({ id, returnReference }: HeldPayment): AppError {
  const once = `The money of ${id} went back already, under the reference ${returnReference}`;
  return new AppError('INVALID_STATE', `${once}: it cannot go back a second time.`);
}

function onlyReturnable({ id, receivedSantim, receivedCurrency }: HeldPayment): AppError {
  const why =
    receivedSantim === null || receivedCurrency === null
      ? 'is not in the ledger'
      : receivedCurrency !== 'ETB'
        ? `is ${receivedCurrency}, not ETB`
        : `is ${formatBirr(receivedSantim)} ETB, which is nothing to give to a merchant`;
  return new AppError('INVALID_STATE', `The money of ${id} ${why}: it can only be given back.`);
}

type Accepted = { payment: HeldPayment; receivedSantim: Santim; fee: Fee; at: Date };

/** @returns whether the transaction became SUCCESS. */
async function acceptRows(trx: Trx, { payment, receivedSantim, fee, at }: Accepted): Promise<boolean> {
  const { id: attemptId, channel, providerReference } = payment;
  const booked = { receivedSantim: Number(receivedSantim), feeSantim: Number(fee.feeSantim) };
  const accepted = { attemptId, ...booked, feeTaxSantim: Number(fee.feeTaxSantim) };
  const updated = await rows(
    trx,
    `WITH updated AS (
       UPDATE transaction t SET status = 'SUCCESS', channel = :channel, provider_reference = :providerReference,
         failure = NULL, confirmed_late = t.status <> 'PENDING', needs_reconciliation = false, completed_at = :at,
         received_santim = :receivedSantim, fee_santim = :feeSantim, fee_tax_santim = :feeTaxSantim,
         version = t.version + 1
       WHERE t.id = :transactionId AND t.status <> 'SUCCESS' AND CAST(:status AS text) = 'HELD'
       RETURNING t.id, t.session_id, t.confirmed_late
     ), completed AS (
       UPDATE checkout_session s SET status = 'COMPLETED', ended_at = :at FROM updated WHERE s.id = updated.session_id
     ), resolved AS (
       UPDATE payment_attempt SET hold_resolution = 'ACCEPTED', hold_resolved_at = :at,
         status = CASE WHEN EXISTS (SELECT 1 FROM updated) THEN 'SUCCEEDED' ELSE 'DUPLICATE' END
       WHERE id = :attemptId
     ), timeline_row AS (
       INSERT INTO transaction_timeline (transaction_id, occurred_at, kind, detail)
       SELECT CAST(:transactionId AS text), CAST(:at AS timestamptz), 'payment.accepted', CAST(:accepted AS jsonb)
       UNION ALL
       SELECT id, CAST(:at AS timestamptz), 'payment.succeeded', CAST(:succeeded AS jsonb) || jsonb_build_object('late', confirmed_late)
       FROM updated
     )
     SELECT 1 FROM updated`,
    {
      transactionId: payment.transactionId,
      attemptId,
      status: payment.status,
      channel,
      providerReference,
      receivedSantim,
      ...fee,
      at,
      accepted: JSON.stringify(accepted),
      succeeded: JSON.stringify({ attemptId, channel, providerReference: providerReference ?? '' }),
    },
  );
  return updated.length > 0;
}

const RETURNED = {
  code: 'REJECTED',
  message: 'What was paid could not be accepted; it was given back.',
  providerCode: '',
  retryable: false,
} as const;

/** @returns whether the transaction became FAILED: no other payment of it is in flight or held. */
async function returnRows(
  trx: Trx,
  { payment, at, reason, reference }: { payment: HeldPayment; at: Date; reason: string; reference: string },
): Promise<boolean> {
  const { id: attemptId, transactionId, receivedSantim, receivedCurrency } = payment;
  const received =
    receivedSantim === null ? {} : { receivedSantim: Number(receivedSantim), currency: receivedCurrency };
  const updated = await rows(
    trx,
    `WITH returned AS (
       UPDATE payment_attempt SET hold_resolution = 'RETURNED', hold_resolved_at = :at, return_reference = :reference
       WHERE id = :attemptId
     ), session AS (
       UPDATE checkout_session s SET status = 'FAILED', ended_at = :at
       WHERE s.transaction_id = :transactionId AND s.status = 'PROCESSING' AND NOT EXISTS (
         SELECT 1 FROM payment_attempt a WHERE a.transaction_id = :transactionId AND a.id <> :attemptId
           AND (a.status IN ('CREATED', 'PENDING') OR (a.status = 'HELD' AND a.hold_resolution IS NULL)))
       RETURNING s.transaction_id
     ), updated AS (
       UPDATE transaction t SET status = 'FAILED', failure = CAST(:failure AS jsonb), version = t.version + 1
       FROM session WHERE t.id = session.transaction_id AND t.status = 'PENDING'
       RETURNING t.id
     ), timeline_row AS (
       INSERT INTO transaction_timeline (transaction_id, occurred_at, kind, detail)
       VALUES (:transactionId, :at, 'payment.returned',
               CAST(:detail AS jsonb) || jsonb_build_object('failed', EXISTS (SELECT 1 FROM updated)))
     )
     SELECT 1 FROM updated`,
    {
      transactionId,
      attemptId,
      reference,
      at,
      failure: JSON.stringify(RETURNED),
      detail: JSON.stringify({ attemptId, ...received, reference, reason }),
    },
  );
  return updated.length > 0;
}

/** Clears the transaction's hold once none of its payments is held. */
async function clearHeld(trx: Trx, transactionId: string): Promise<void> {
  await rows(
    trx,
    `UPDATE transaction t SET hold_reason = NULL, version = t.version + 1
     WHERE t.id = :transactionId AND t.hold_reason IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM payment_attempt a WHERE a.transaction_id = t.id AND a.status = 'HELD' AND a.hold_resolution IS NULL)`,
    { transactionId },
  );
}

async function decisionOf(
  trx: Trx,
  { id, transactionId }: HeldPayment,
  made: Pick<HeldDecision, 'before' | 'fee' | 'isNew'>,
): Promise<HeldDecision> {
  const transaction = await readTransaction(trx, transactionId);
  const sql = `SELECT ${PAYMENT_COLUMNS} FROM payment_attempt WHERE id = :id`;
  const [payment] = await rows<HeldPayment>(trx, sql, { id });
  if (!payment) throw new Error(`attempt ${id} is gone`);
  return { transaction, payment, ...made };
}

function bookedOf(payment: HeldPayment, amountSantim: Santim) {
  const { id: attemptId, transactionId, channel } = payment;
  return { ...scopeOf(payment), attemptId, transactionId, channel, amountSantim };
}
