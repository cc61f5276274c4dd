import { feeWithin, readEffectiveRule, type Fee } from '../ledger/fees.ts';
import { suspenseAcceptedPosting, suspenseReturnedPosting } from '../ledger/postings.ts';
import { first, type Queryable, type Trx } from '../lib/db.ts';
import { AppError, found } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { MerchantScope } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { listAttempts, type AttemptRow } from './attempt.ts';
import type { TransactionRow } from './present.ts';
import { readTransaction } from './queries.ts';
import { isAttemptOver } from './states.ts';
import { lockPayment, transitionPayment } from './transition.ts';

/** The payment to decide about, named by its attempt, so that a repeat never decides another one. `at`: the effective time. */
export type HeldChoice = { transactionId: string; attemptId: string; at: Date };

/** The payment and its transaction after the decision, and before it. `isNew`: this call decided. */
export type HeldDecision = {
  transaction: TransactionRow;
  payment: AttemptRow;
  before: TransactionRow;
  fee: Fee | null;
  isNew: boolean;
};

/** Whether an operator has to decide about its money: of another amount or currency, or a second payment. */
export function isUndecided({ status, holdResolution }: AttemptRow): boolean {
  return (status === 'HELD' || status === 'DUPLICATE') && holdResolution === null;
}

/** Why its money can only be returned; null: it can be released to the merchant. */
export function whyOnlyReturnable({ receivedSantim, receivedCurrency }: AttemptRow): string | null {
  if (receivedSantim === null) return 'is not in the ledger';
  if (receivedCurrency !== 'ETB') return `is ${receivedCurrency}, not ETB`;
  return receivedSantim > 0n ? null : `is ${formatBirr(receivedSantim)} ETB`;
}

/**
 * Releases held money to the merchant, less the fee of today's rule. A held payment makes its transaction SUCCESS with the
 * received amount; a second payment leaves the transaction as it is. Idempotent. Throws NOT_FOUND, INVALID_STATE (already
 * returned, or not releasable).
 */
export async function acceptHeldPayment(tx: UnitOfWork, choice: HeldChoice): Promise<HeldDecision> {
  const { locked, payment, before, cleared } = await lockHeld(tx.trx, choice);
  const { id: attemptId, merchantId, channel, providerReference } = payment;
  if (payment.holdResolution === 'ACCEPTED') return { transaction: before, payment, before, fee: null, isNew: false };
  if (payment.holdResolution === 'RETURNED') {
    throw invalidState(
      `The payment ${attemptId} has already been returned to the customer and cannot be decided again.`,
    );
  }
  const why = whyOnlyReturnable(payment) ?? (await referenceUsed(tx.trx, payment));
  if (why !== null) throw invalidState(`The money of ${attemptId} ${why}: it can only be returned.`);

  const { at } = choice;
  const receivedSantim = payment.receivedSantim as Santim;
  const rule = await readEffectiveRule(tx.trx, { merchantId, channel, direction: 'PAY_IN', at });
  const fee = feeWithin(rule, receivedSantim);
  const charged = { feeSantim: Number(fee.feeSantim), feeTaxSantim: Number(fee.feeTaxSantim) };
  const accepted = { attemptId, receivedSantim: Number(receivedSantim), ...charged };
  const isPaid = payment.status === 'HELD' && before.status !== 'SUCCESS';
  const confirmedLate = before.status !== 'PENDING';
  const paid = { channel, providerReference, confirmedLate, receivedSantim, completedAt: at, ...fee };
  const succeeded = { attemptId, channel, providerReference: providerReference ?? '', late: confirmedLate };
  const attempt = {
    status: isPaid ? 'SUCCEEDED' : 'DUPLICATE',
    holdResolution: 'ACCEPTED',
    holdResolvedAt: at,
  } as const;
  const transaction = await transitionPayment(tx, locked, {
    attempt,
    session: isPaid ? 'COMPLETED' : undefined,
    transaction: { ...(isPaid && { ...paid, failure: null, needsReconciliation: false }), ...cleared },
    timeline: [
      { kind: 'payment.accepted', detail: accepted },
      ...(isPaid ? [{ kind: 'payment.succeeded' as const, detail: succeeded }] : []),
    ],
    posting: suspenseAcceptedPosting({ ...payment, attemptId, amountSantim: receivedSantim, ...fee }),
    at,
  });
  return { transaction, payment: { ...payment, ...attempt }, before, fee, isNew: true };
}

const RETURNED = {
  code: 'REJECTED',
  message: 'The received payment could not be accepted and was returned.',
  providerCode: '',
  retryable: false,
} as const;

/**
 * Records that held money was returned to the customer under `reference`. A transaction without another open payment ends
 * FAILED. Idempotent under the same reference. Throws NOT_FOUND, INVALID_STATE (released before, or returned under another
 * reference).
 */
export async function returnHeldPayment(
  tx: UnitOfWork,
  { reason, reference, ...choice }: HeldChoice & { reason: string; reference: string },
): Promise<HeldDecision> {
  const { locked, payment, before, cleared, others } = await lockHeld(tx.trx, choice);
  const { id: attemptId, receivedSantim, receivedCurrency, returnReference } = payment;
  if (payment.holdResolution === 'ACCEPTED') {
    throw invalidState(
      `The payment ${attemptId} has already been released to the merchant and cannot be decided again.`,
    );
  }
  if (payment.holdResolution === 'RETURNED') {
    if (returnReference === reference) return { transaction: before, payment, before, fee: null, isNew: false };
    const message = `The payment ${attemptId} has already been returned under the reference ${returnReference}`;
    throw invalidState(`${message} and cannot be returned again.`);
  }

  const { at } = choice;
  const failed =
    locked.sessionStatus === 'PROCESSING' && others.every((one) => isAttemptOver(one.status) && !isHeldOpen(one));
  const received =
    receivedSantim === null ? {} : { receivedSantim: Number(receivedSantim), currency: receivedCurrency };
  const detail = { attemptId, ...received, reference, reason, failed };
  const attempt = {
    status: payment.status,
    holdResolution: 'RETURNED',
    holdResolvedAt: at,
    returnReference: reference,
  } as const;
  const transaction = await transitionPayment(tx, locked, {
    attempt,
    session: failed ? 'FAILED' : undefined,
    transaction: { ...(failed && { failure: RETURNED }), ...cleared },
    timeline: [{ kind: 'payment.returned', detail }],
    // Only received ETB were posted to suspense.
    posting:
      whyOnlyReturnable(payment) === null
        ? suspenseReturnedPosting({ ...payment, attemptId, amountSantim: receivedSantim as Santim })
        : null,
    at,
  });
  return { transaction, payment: { ...payment, ...attempt }, before, fee: null, isNew: true };
}

/** The received amount of a held payment; where that is unknown or of another currency, the expected one. */
export async function readHeldMoney(
  db: Queryable,
  attemptId: string,
): Promise<(MerchantScope & { amountSantim: Santim }) | undefined> {
  return first(
    db,
    `SELECT merchant_id, environment,
            CASE received_currency WHEN 'ETB' THEN coalesce(received_santim, amount_santim) ELSE amount_santim END AS amount_santim
     FROM payment_attempt WHERE id = :attemptId`,
    { attemptId },
  );
}

/** `cleared`: the transaction's hold, which ends once none of its payments is held. */
async function lockHeld(trx: Trx, { transactionId, attemptId }: HeldChoice) {
  const locked = await lockPayment(trx, attemptId);
  const before = await readTransaction(trx, transactionId);
  const attempts = await listAttempts(trx, transactionId);
  const others = attempts.filter(({ id }) => id !== attemptId);
  const chosen = attempts.find((one) => one.id === attemptId && (isUndecided(one) || one.holdResolution !== null));
  const isCleared = before.holdReason !== null && !others.some(isHeldOpen);
  return {
    locked,
    payment: found(chosen, 'held payment'),
    before,
    others,
    cleared: isCleared ? { holdReason: null } : {},
  };
}

const isHeldOpen = (one: AttemptRow): boolean => one.status === 'HELD' && isUndecided(one);

/** A provider's reference pays one transaction: what is wrong with the reference of a payment that has paid another; else null. */
async function referenceUsed(trx: Trx, payment: AttemptRow): Promise<string | null> {
  const other = await first<{ id: string }>(
    trx,
    `SELECT id FROM transaction WHERE provider_reference = :providerReference AND environment = :environment
       AND channel = :channel AND status = 'SUCCESS' AND id <> :transactionId`,
    payment,
  );
  return other ? `has the reference ${payment.providerReference}, which has paid ${other.id}` : null;
}

const invalidState = (message: string): AppError => new AppError('INVALID_STATE', message);
