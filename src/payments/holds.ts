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
import { recordTimeline } from './timeline.ts';

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
  const { payment, feeRule, before } = await lockPayment(trx, choice);
  const { id, transactionId, channel, receivedSantim } = payment;
  if (payment.holdResolution === 'ACCEPTED') {
    return { transaction: await readTransaction(trx, transactionId), payment, before, fee: null, isNew: false };
  }
  if (payment.holdResolution === 'RETURNED') {
    throw invalidState(`The payment ${id} has already been returned to the customer and cannot be decided again.`);
  }
  if (receivedSantim === null || payment.receivedCurrency === null)
    throw onlyReturnable(payment, 'is not in the ledger');
  if (payment.receivedCurrency !== 'ETB') throw onlyReturnable(payment, `is ${payment.receivedCurrency}, not ETB`);
  if (receivedSantim <= 0n) throw onlyReturnable(payment, `is ${formatBirr(receivedSantim)} ETB`);
  await ensureReferenceUnused(trx, payment);

  const fee = feeWithin(readFeeRule(feeRule), receivedSantim);
  const completed = await completeTransaction(trx, { payment, receivedSantim, fee, at: choice.at });
  const decided = await resolvePayment(trx, payment, {
    status: completed ? 'SUCCEEDED' : 'DUPLICATE',
    resolution: 'ACCEPTED',
    reference: null,
    at: choice.at,
  });
  const charged = { feeSantim: Number(fee.feeSantim), feeTaxSantim: Number(fee.feeTaxSantim) };
  const entry = { transactionId, occurredAt: choice.at };
  const accepted = { attemptId: id, receivedSantim: Number(receivedSantim), ...charged };
  await recordTimeline(trx, { ...entry, kind: 'payment.accepted', detail: accepted });
  if (completed) {
    const providerReference = payment.providerReference ?? '';
    const succeeded = { attemptId: id, channel, providerReference, late: completed.confirmedLate };
    await recordTimeline(trx, { ...entry, kind: 'payment.succeeded', detail: succeeded });
  }
  const transaction = await clearHold(trx, transactionId);
  if (completed) {
    const events = ['payment.succeeded', 'checkout.completed'] as const;
    await recordTransactionEvents(tx, { transactions: [transaction], events, at: choice.at });
  }
  await post(trx, suspenseAcceptedPosting({ ...postedFields(payment, receivedSantim), ...fee }), choice.at);
  return { transaction, payment: decided, before, fee, isNew: true };
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
  const { reason, reference, at } = choice;
  const { payment, before } = await lockPayment(trx, choice);
  const { id, transactionId, receivedSantim, receivedCurrency, returnReference } = payment;
  if (payment.holdResolution === 'ACCEPTED') {
    throw invalidState(`The payment ${id} has already been released to the merchant and cannot be decided again.`);
  }
  if (payment.holdResolution === 'RETURNED') {
    if (returnReference !== reference) {
      throw invalidState(
        `The payment ${id} has already been returned under the reference ${returnReference} and cannot be returned again.`,
      );
    }
    return { transaction: await readTransaction(trx, transactionId), payment, before, fee: null, isNew: false };
  }

  const { status } = payment;
  const decided = await resolvePayment(trx, payment, { status, resolution: 'RETURNED', reference, at });
  const failed = await failTransaction(trx, { transactionId, at });
  const received =
    receivedSantim === null ? {} : { receivedSantim: Number(receivedSantim), currency: receivedCurrency };
  const detail = { attemptId: id, ...received, reference, reason, failed };
  await recordTimeline(trx, { transactionId, occurredAt: at, kind: 'payment.returned', detail });
  const transaction = await clearHold(trx, transactionId);
  if (failed) {
    await recordTransactionEvents(tx, { transactions: [transaction], events: ['checkout.failed'], at });
  }
  // Only received ETB were posted to suspense.
  if (receivedSantim !== null && receivedSantim > 0n && receivedCurrency === 'ETB') {
    await post(trx, suspenseReturnedPosting(postedFields(payment, receivedSantim)), at);
  }
  return { transaction, payment: decided, before, fee: null, isNew: true };
}

const PAYMENT_COLUMNS = `id, transaction_id, merchant_id, environment, channel, status, provider_reference,
  received_santim, received_currency, hold_resolution, return_reference`;

type Locked = Pick<HeldDecision, 'payment' | 'before'> & { feeRule: FeeRuleJson };

/** Locks the session first, as every change of one does, so that decisions are serialized. */
async function lockPayment(trx: Trx, { transactionId, attemptId, at }: HeldChoice): Promise<Locked> {
  await rows(trx, 'SELECT 1 FROM checkout_session WHERE transaction_id = :transactionId FOR UPDATE', { transactionId });
  const before = await readTransaction(trx, transactionId);
  const [found] = await rows<HeldPayment & { feeRule: FeeRuleJson }>(
    trx,
    `SELECT ${PAYMENT_COLUMNS}, effective_fee_rule(merchant_id, channel, 'PAY_IN', :at) AS fee_rule FROM payment_attempt
     WHERE id = :attemptId AND transaction_id = :transactionId
       AND (status IN ('HELD', 'DUPLICATE') OR hold_resolution IS NOT NULL)`,
    { transactionId, attemptId, at },
  );
  if (!found) throw notFound('held payment');
  const { feeRule, ...payment } = found;
  return { payment, feeRule, before };
}

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

function referenceUsed(payment: HeldPayment, by: string): AppError {
  return onlyReturnable(payment, `has the reference ${payment.providerReference}, which has paid ${by}`);
}

function onlyReturnable({ id }: HeldPayment, why: string): AppError {
  return invalidState(`The money of ${id} ${why}: it can only be returned.`);
}

const invalidState = (message: string): AppError => new AppError('INVALID_STATE', message);

/** Makes the transaction of a held payment SUCCESS; null for a second payment, and when another payment has made it so. */
async function completeTransaction(
  trx: Trx,
  { payment, receivedSantim, fee, at }: { payment: HeldPayment; receivedSantim: Santim; fee: Fee; at: Date },
): Promise<{ confirmedLate: boolean } | null> {
  if (payment.status !== 'HELD') return null;
  const { transactionId, channel, providerReference } = payment;
  const [completed] = await rows<{ confirmedLate: boolean }>(
    trx,
    `UPDATE transaction SET status = 'SUCCESS', channel = :channel, provider_reference = :providerReference, failure = NULL,
       confirmed_late = status <> 'PENDING', needs_reconciliation = false, completed_at = :at, version = version + 1,
       received_santim = :receivedSantim, fee_santim = :feeSantim, fee_tax_santim = :feeTaxSantim
     WHERE id = :transactionId AND status <> 'SUCCESS' RETURNING confirmed_late`,
    { transactionId, channel, providerReference, receivedSantim, ...fee, at },
  ).catch((error: unknown) => {
    // Another transaction was paid with this reference since the check above.
    throw isUniqueViolation(error, PAID_REFERENCE) ? referenceUsed(payment, 'another transaction') : error;
  });
  if (!completed) return null;
  await rows(
    trx,
    `UPDATE checkout_session SET status = 'COMPLETED', ended_at = :at WHERE transaction_id = :transactionId`,
    { transactionId, at },
  );
  return completed;
}

const RETURNED = {
  code: 'REJECTED',
  message: 'The received payment could not be accepted and was returned.',
  providerCode: '',
  retryable: false,
} as const;

/** Makes the transaction FAILED unless another payment of it is in flight or held. Returns whether it did. */
async function failTransaction(trx: Trx, { transactionId, at }: { transactionId: string; at: Date }): Promise<boolean> {
  const sessions = await rows(
    trx,
    `UPDATE checkout_session SET status = 'FAILED', ended_at = :at
     WHERE transaction_id = :transactionId AND status = 'PROCESSING' AND NOT EXISTS (
       SELECT 1 FROM payment_attempt a WHERE a.transaction_id = :transactionId
         AND (a.status IN ('CREATED', 'PENDING') OR (a.status = 'HELD' AND a.hold_resolution IS NULL)))
     RETURNING id`,
    { transactionId, at },
  );
  if (sessions.length === 0) return false;
  const failed = await rows(
    trx,
    `UPDATE transaction SET status = 'FAILED', failure = CAST(:failure AS jsonb), version = version + 1
     WHERE id = :transactionId AND status = 'PENDING' RETURNING id`,
    { transactionId, failure: JSON.stringify(RETURNED) },
  );
  return failed.length > 0;
}

type Resolved = { status: AttemptStatus; resolution: 'ACCEPTED' | 'RETURNED'; reference: string | null; at: Date };

async function resolvePayment(trx: Trx, { id }: HeldPayment, resolved: Resolved): Promise<HeldPayment> {
  const [payment] = await rows<HeldPayment>(
    trx,
    `UPDATE payment_attempt SET status = :status, hold_resolution = :resolution, hold_resolved_at = :at,
       return_reference = :reference
     WHERE id = :id RETURNING ${PAYMENT_COLUMNS}`,
    { id, ...resolved },
  );
  if (!payment) throw new Error(`attempt ${id} is gone`);
  return payment;
}

/** Clears the transaction's hold once none of its payments is held. Returns the transaction. */
async function clearHold(trx: Trx, transactionId: string): Promise<TransactionRow> {
  await rows(
    trx,
    `UPDATE transaction t SET hold_reason = NULL, version = t.version + 1
     WHERE t.id = :transactionId AND t.hold_reason IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM payment_attempt a WHERE a.transaction_id = t.id AND a.status = 'HELD' AND a.hold_resolution IS NULL)`,
    { transactionId },
  );
  return readTransaction(trx, transactionId);
}

function postedFields(payment: HeldPayment, amountSantim: Santim) {
  const { id: attemptId, transactionId, channel } = payment;
  return { ...scopeOf(payment), attemptId, transactionId, channel, amountSantim };
}
