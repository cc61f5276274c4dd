import { feeWithin, readEffectiveRule, type Fee } from '../ledger/fees.ts';
import { suspenseAcceptedPosting, suspenseReturnedPosting } from '../ledger/postings.ts';
import { isUniqueViolation } from '../lib/db-errors.ts';
import { first, type Trx } from '../lib/db.ts';
import { AppError, found, invalidState } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { listAttempts, readTransaction, type TransactionRow, type AttemptRow } from './queries.ts';
import { isAttemptOver } from './states.ts';
import { lockPayment, PAID_REFERENCE, transitionPayment, type LockedPayment, type Transition } from './transition.ts';

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
export function isUndecided({ status, holdResolution }: Pick<AttemptRow, 'status' | 'holdResolution'>): boolean {
  return (status === 'HELD' || status === 'DUPLICATE') && holdResolution === null;
}

/** Why its money can only be returned; null: it can be released to the merchant. */
export function whyOnlyReturnable({
  receivedSantim,
  receivedCurrency,
}: Pick<AttemptRow, 'receivedSantim' | 'receivedCurrency'>): string | null {
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
  const decision = { ...choice, holdResolution: 'ACCEPTED', returnReference: null } as const;
  return decide(tx, decision, async ({ payment, before }) => {
    const { id: attemptId, merchantId, channel, providerReference } = payment;
    const why = whyOnlyReturnable(payment) ?? (await referenceUsed(tx.trx, payment));
    if (why !== null) throw onlyReturnable(attemptId, why);
    const { at } = choice;
    const receivedSantim = payment.receivedSantim as Santim;
    const rule = await readEffectiveRule(tx.trx, { merchantId, channel, direction: 'PAY_IN', at });
    const fee = feeWithin(rule, receivedSantim);
    const charged = { feeSantim: Number(fee.feeSantim), feeTaxSantim: Number(fee.feeTaxSantim) };
    const detail = { attemptId, receivedSantim: Number(receivedSantim), ...charged };
    const accepted = { kind: 'payment.accepted', detail } as const;
    const posting = suspenseAcceptedPosting({ ...payment, attemptId, amountSantim: receivedSantim, ...fee });
    if (payment.status === 'DUPLICATE' || before.status === 'SUCCESS') {
      return { status: 'DUPLICATE', timeline: [accepted], posting, fee };
    }
    const late = before.status !== 'PENDING';
    const succeeded = { attemptId, channel, providerReference: providerReference ?? '', late };
    const paid = { channel, providerReference, receivedSantim, confirmedLate: late, completedAt: at, ...fee };
    return {
      status: 'SUCCEEDED',
      session: 'COMPLETED',
      transaction: { ...paid, failure: null, needsReconciliation: false },
      timeline: [accepted, { kind: 'payment.succeeded', detail: succeeded }],
      posting,
      fee,
    };
  });
}

/**
 * Records that held money was returned to the customer under `reference`. A transaction without another open payment ends
 * FAILED. Idempotent under the same reference. Throws NOT_FOUND, INVALID_STATE (released before, or returned under another
 * reference).
 */
export async function returnHeldPayment(
  tx: UnitOfWork,
  { reason, reference, ...choice }: HeldChoice & { reason: string; reference: string },
): Promise<HeldDecision> {
  const decision = { ...choice, holdResolution: 'RETURNED', returnReference: reference } as const;
  return decide(tx, decision, async ({ payment, locked, others }) => {
    const { id: attemptId, status, receivedSantim, receivedCurrency: currency } = payment;
    const isLast = others.every((one) => isAttemptOver(one.status) && !isHeldOpen(one));
    const failed = locked.sessionStatus === 'PROCESSING' && isLast;
    const received = receivedSantim === null ? {} : { receivedSantim: Number(receivedSantim), currency };
    // Only received ETB were posted to suspense.
    const isPosted = whyOnlyReturnable(payment) === null;
    return {
      status,
      ...(failed && { session: 'FAILED', transaction: { failure: RETURNED } }),
      timeline: [{ kind: 'payment.returned', detail: { attemptId, ...received, reference, reason, failed } }],
      posting: isPosted
        ? suspenseReturnedPosting({ ...payment, attemptId, amountSantim: receivedSantim as Santim })
        : null,
      fee: null,
    };
  });
}

const RETURNED = {
  code: 'REJECTED',
  message: 'The received payment could not be accepted and was returned.',
  providerCode: '',
  retryable: false,
} as const;

type Held = { locked: LockedPayment; payment: AttemptRow; before: TransactionRow; others: AttemptRow[] };
type Change = Omit<Transition, 'attempt' | 'at'> & { status: AttemptRow['status']; fee: Fee | null };

/** Decides about a held payment, once. The transaction's hold ends when none of its payments is held. */
async function decide(
  tx: UnitOfWork,
  decision: HeldChoice & Pick<AttemptRow, 'holdResolution' | 'returnReference'>,
  changeOf: (held: Held) => Promise<Change>,
): Promise<HeldDecision> {
  const { transactionId, attemptId, at, holdResolution, returnReference } = decision;
  const locked = await lockPayment(tx.trx, attemptId);
  const before = await readTransaction(tx.trx, transactionId);
  const attempts = await listAttempts(tx.trx, transactionId);
  const chosen = attempts.find((one) => one.id === attemptId && (isUndecided(one) || one.holdResolution !== null));
  const payment = found(chosen, 'held payment');
  if (payment.holdResolution === holdResolution && payment.returnReference === returnReference) {
    return { transaction: before, payment, before, fee: null, isNew: false };
  }
  if (payment.holdResolution !== null) {
    const returned = `returned under the reference ${payment.returnReference}`;
    const how = payment.holdResolution === 'ACCEPTED' ? 'released to the merchant' : returned;
    throw invalidState(`The payment ${attemptId} has already been ${how} and cannot be decided again.`);
  }
  const others = attempts.filter((one) => one !== payment);
  const { fee, status, ...change } = await changeOf({ locked, payment, before, others });
  const attempt = { status, holdResolution, returnReference, holdResolvedAt: at };
  const isCleared = before.holdReason !== null && !others.some(isHeldOpen);
  const columns = { ...change.transaction, ...(isCleared && { holdReason: null }) };
  const transition = transitionPayment(tx, locked, { ...change, attempt, transaction: columns, at });
  const transaction = await transition.catch((error: unknown) => {
    if (!isUniqueViolation(error, PAID_REFERENCE)) throw error;
    throw onlyReturnable(
      attemptId,
      `has the reference ${payment.providerReference}, which has just paid another transaction`,
    );
  });
  return { transaction, payment: { ...payment, ...attempt }, before, fee, isNew: true };
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

const onlyReturnable = (attemptId: string, why: string): AppError =>
  invalidState(`The money of ${attemptId} ${why}: it can only be returned.`);
