import type { Santim } from '../../src/lib/money.ts';
import type { PayoutOutcome, ProviderOutcome, RefundOutcome } from '../../src/providers/provider.ts';

/*
 * A model of all money without the code under test, built from the outcomes of the provider, the bank and operators
 * only. Fees are the platform's first rules: 2.5 % of payments, 5 birr of a withdrawal, none of a settlement, and
 * 15 % tax on them.
 */

export type Payment = { sessionId: string; transactionId: string; amountSantim: Santim; attempts: Attempt[] };
export type Attempt = {
  id: string;
  /** Received money, at most once; SECOND: the transaction was paid before. */
  received: null | { as: 'EXACT' | 'HELD' | 'SECOND'; santim: Santim; isBirr: boolean };
  decided: 'ACCEPTED' | 'RETURNED' | null;
};

export type Payout = {
  id: string;
  requestId: string;
  amountSantim: Santim;
  status: 'PENDING' | 'SUCCESS' | 'FAILED' | 'REJECTED' | 'CANCELLED' | 'REVERSED';
  /** The number of approvals required before submission. */
  approvalsNeeded: number;
  approvedBy: Set<string>;
  /** The time of the first submission. */
  sentAt: Date | null;
  paidSantim: Santim;
  /** All amounts that the provider has reported as paid. */
  reportedPaid: Santim[];
  reportedPaidWhilePending: boolean;
  /** The provider has reported another outcome after the end. */
  contradicted: boolean;
  /** Operators have resolved it once. */
  resolved: boolean;
  recovered: Santim;
  /** The operators by the resolution they have approved. */
  approvals: Map<string, Set<string>>;
};

export type ModelSettlement = {
  id: string;
  amountSantim: Santim;
  status: 'REQUESTED' | 'APPROVED' | 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'REJECTED' | 'CANCELLED';
  late: 'open' | 'closed' | null;
  returned: boolean;
};

export type ModelRefund = {
  id: string;
  reference: string;
  transactionId: string;
  /** None if what was left of the payment. */
  requested: Santim | undefined;
  amountSantim: Santim;
  returnFee: boolean;
  feeBack: { fee: Santim; tax: Santim };
  status: 'PENDING' | 'SUCCESS' | 'FAILED';
  sentAt: Date | null;
  /** The provider has reported another amount, or a payment after the end, and operators have not found it to be wrong. */
  isReportedPaid: boolean;
  /** All such amounts. */
  reportedPaid: Santim[];
  /** The provider's latest outcome, and the amount by which it has contradicted the end: a repeat contradicts nothing anew. */
  lastKind: string | null;
  contradictedBy: Santim | null;
  paidSantim: Santim;
  recovered: Santim;
};

export type Books = {
  payments: Payment[];
  payouts: Payout[];
  settlements: ModelSettlement[];
  refunds: ModelRefund[];
};

const hundredths = (santim: Santim, part: bigint): Santim => (santim * part + 5_000n) / 10_000n;
const charge = (fee: Santim): Santim => fee + hundredths(fee, 1_500n);
const feeIn = (santim: Santim): Santim => charge(hundredths(santim, 250n));
const FEE_OUT = charge(500n);

/** The debit of a reserved withdrawal. */
export const debitOf = ({ amountSantim }: Pick<Payout, 'amountSantim'>): Santim => amountSantim + FEE_OUT;
/** The debit of a paid withdrawal: an underpaid remainder is credited to the merchant. */
export const finalDebitOf = (payout: Payout): Santim =>
  debitOf(payout) - (payout.paidSantim < payout.amountSantim ? payout.amountSantim - payout.paidSantim : 0n);

const sum = (santims: Santim[]): Santim => santims.reduce((all, one) => all + one, 0n);
const isCredited = ({ received, decided }: Attempt): boolean => received?.as === 'EXACT' || decided === 'ACCEPTED';
const isReserved = ({ status }: ModelSettlement): boolean => ['REQUESTED', 'APPROVED', 'PROCESSING'].includes(status);

/** Whether the transaction is SUCCESS. */
export const isPaid = ({ attempts }: Payment): boolean =>
  attempts.some((attempt) => attempt.received?.as !== 'SECOND' && isCredited(attempt));

/** The attempt that has paid the transaction; other money of it is not refunded. */
const payerOf = ({ attempts }: Payment): Attempt | undefined =>
  attempts.find(({ received }) => received?.as === 'EXACT') ??
  attempts.find(({ received, decided }) => received?.as === 'HELD' && decided === 'ACCEPTED');

/** Whether the transaction is SUCCESS, and an operator has nothing to decide. */
export const isRefundable = (payment: Payment): boolean =>
  isPaid(payment) && !payment.attempts.some(({ received, decided }) => received?.as === 'HELD' && decided === null);

const refundsOf = ({ refunds }: Books, { transactionId }: Payment): ModelRefund[] =>
  refunds.filter((one) => one.transactionId === transactionId && (one.status !== 'FAILED' || one.isReportedPaid));
const paidOf = (payment: Payment): Santim => payerOf(payment)?.received?.santim ?? 0n;

export const leftOf = (payment: Payment, books: Books): Santim =>
  paidOf(payment) - sum(refundsOf(books, payment).map(({ paidSantim }) => paidSantim));

/** Whether the refunds of its payment are more than was paid: none of them is sent. */
export const isOverdrawn = ({ payments, ...books }: Books, { transactionId }: ModelRefund): boolean =>
  payments.some((one) => one.transactionId === transactionId && leftOf(one, { payments, ...books }) < 0n);

/** The share of fee and tax that a refund gives back: rounded half up for all refunds together. */
export function feeBackOf(payment: Payment, books: Books, amountSantim: Santim): ModelRefund['feeBack'] {
  const withFee = refundsOf(books, payment).filter(({ returnFee }) => returnFee);
  const refunded = sum(withFee.map(chargedOf)) + amountSantim;
  const paid = paidOf(payment);
  const due = (taken: Santim, back: Santim[]): Santim => (taken * refunded * 2n + paid) / (paid * 2n) - sum(back);
  const fee = hundredths(paid, 250n);
  return {
    fee: due(
      fee,
      withFee.map(({ feeBack }) => feeBack.fee),
    ),
    tax: due(
      hundredths(fee, 1_500n),
      withFee.map(({ feeBack }) => feeBack.tax),
    ),
  };
}

/** What a refund that is paid after it had failed still gives back: at most what the others have left of fee and tax. */
export function lateFeeBackOf({ payments, refunds }: Books, one: ModelRefund): ModelRefund['feeBack'] {
  const payment = payments.find(({ transactionId }) => transactionId === one.transactionId);
  const others = refunds.filter((other) => other.transactionId === one.transactionId && other.status !== 'FAILED');
  const fee = hundredths(payment ? paidOf(payment) : 0n, 250n);
  const most = (wanted: Santim, left: Santim): Santim => (wanted < left ? wanted : left);
  return {
    fee: most(one.feeBack.fee, fee - sum(others.map(({ feeBack }) => feeBack.fee))),
    tax: most(one.feeBack.tax, hundredths(fee, 1_500n) - sum(others.map(({ feeBack }) => feeBack.tax))),
  };
}

type RefundCost = Pick<ModelRefund, 'amountSantim' | 'paidSantim' | 'feeBack'>;

/** What a refund takes of the merchant's money for its payer: an excess is not charged. */
const chargedOf = ({ amountSantim, paidSantim }: Omit<RefundCost, 'feeBack'>): Santim =>
  paidSantim < amountSantim ? paidSantim : amountSantim;

/** The debit of a refund. */
export const costOf = ({ feeBack, ...refund }: RefundCost): Santim => chargedOf(refund) - feeBack.fee - feeBack.tax;

/** A refund that operators have found to be paid with this amount: of an underpaid one only that part of the fee is given back. */
export function paidAs(one: ModelRefund, paidSantim: Santim, { fee, tax }: ModelRefund['feeBack']): ModelRefund {
  const part = (santim: Santim): Santim =>
    paidSantim < one.amountSantim ? (santim * paidSantim) / one.amountSantim : santim;
  return { ...one, paidSantim, feeBack: { fee: part(fee), tax: part(tax) } };
}

/** Whether a refund can have been paid with this amount: it was requested, or reported and is left of the payment. */
export function isPayable(books: Books, one: ModelRefund, paidSantim: Santim): boolean {
  if (paidSantim <= one.amountSantim) return true;
  const payment = books.payments.find(({ transactionId }) => transactionId === one.transactionId);
  const paid = books.refunds.filter((other) => other.transactionId === one.transactionId && other.status === 'SUCCESS');
  const left = (payment ? paidOf(payment) : 0n) - sum(paid.map((other) => other.paidSantim));
  return paidSantim <= left && one.reportedPaid.some((reported) => paidSantim <= reported);
}

/** The expected balances of the ledger. */
export function expectedOf({ payments, payouts, settlements, refunds }: Books) {
  const attempts = payments.flatMap((payment) => payment.attempts);
  const received = attempts.filter((attempt) => attempt.received?.isBirr === true);
  const santim = (one: Attempt): Santim => one.received?.santim ?? 0n;
  const credited = received.filter(isCredited).map(santim);
  const paidOut = payouts.filter(({ status }) => status === 'SUCCESS');
  const reserved = sum([
    ...payouts.filter(({ status }) => status === 'PENDING').map(debitOf),
    ...settlements.filter(isReserved).map(({ amountSantim }) => amountSantim),
    ...refunds.filter(({ status }) => status === 'PENDING').map(costOf),
  ]);
  const paidBack = refunds.filter(({ status }) => status === 'SUCCESS');
  const feesBack = sum(paidBack.map(({ feeBack }) => feeBack.fee + feeBack.tax));
  const fees = sum(credited.map(feeIn)) + FEE_OUT * BigInt(paidOut.length) - feesBack;
  const settled = sum(settlements.filter(({ status }) => status === 'COMPLETED').map((one) => one.amountSantim));
  const excess = ({ paidSantim, amountSantim }: Pick<Payout, 'paidSantim' | 'amountSantim'>): Santim =>
    paidSantim > amountSantim ? paidSantim - amountSantim : 0n;
  const recovered = sum([...payouts, ...refunds].map((one) => one.recovered));
  const heldNow = received.filter((one) => !isCredited(one) && one.decided === null).map(santim);
  return {
    available:
      sum(credited) -
      sum(credited.map(feeIn)) -
      sum(paidOut.map(finalDebitOf)) -
      sum(paidBack.map(costOf)) -
      settled -
      reserved,
    reserved,
    fees,
    settled,
    suspense: sum(heldNow) - sum([...paidOut, ...paidBack].map(excess)) + recovered,
    providerOwes:
      sum(received.filter(({ decided }) => decided !== 'RETURNED').map(santim)) -
      sum([...paidOut, ...paidBack].map(({ paidSantim }) => paidSantim)) +
      recovered,
  };
}

/** Applies a provider's outcome of a payment: received money is never lost, and credits the merchant only once. */
export function applyPaymentOutcome(payment: Payment, attempt: Attempt, outcome: ProviderOutcome): void {
  if (outcome.kind !== 'succeeded' || attempt.received) return;
  const isBirr = outcome.currency === 'ETB';
  const isExact = isBirr && outcome.amountSantim === payment.amountSantim;
  const as = isPaid(payment) ? 'SECOND' : isExact ? 'EXACT' : 'HELD';
  attempt.received = { as, santim: outcome.amountSantim, isBirr };
}

/** Applies a provider's outcome of a payout: paid never becomes failed, and only exact amounts end a payout. */
export function applyPayoutOutcome(payout: Payout, outcome: PayoutOutcome): void {
  const isPending = payout.status === 'PENDING';
  if (outcome.kind === 'declined') {
    if (isPending && !payout.reportedPaidWhilePending) payout.status = 'FAILED';
    else if (payout.status === 'SUCCESS') payout.contradicted = true;
  }
  if (outcome.kind === 'succeeded') {
    payout.reportedPaid.push(outcome.amountSantim);
    if (isPending && outcome.amountSantim === payout.amountSantim) payout.status = 'SUCCESS';
    else if (isPending) payout.reportedPaidWhilePending = true;
    else if (payout.status === 'FAILED') payout.contradicted = true;
  }
  if (outcome.kind === 'reversed') {
    const isWhole = outcome.amountSantim === (isPending ? payout.amountSantim : payout.paidSantim);
    if (['PENDING', 'SUCCESS'].includes(payout.status) && isWhole) payout.status = 'REVERSED';
    else if (isPending) payout.reportedPaidWhilePending = true;
    else if (payout.status === 'SUCCESS') payout.contradicted = true;
  }
}

/** Applies a provider's outcome of a refund: paid never becomes failed, and only its own amount ends it. */
export function applyRefundOutcome(refund: ModelRefund, outcome: RefundOutcome): void {
  const isPending = refund.status === 'PENDING';
  const { lastKind } = refund;
  refund.lastKind = outcome.kind;
  if (outcome.kind === 'declined' && isPending && !refund.isReportedPaid) refund.status = 'FAILED';
  if (outcome.kind !== 'succeeded') return;
  const { amountSantim } = outcome;
  if (isPending && amountSantim === refund.amountSantim) refund.status = 'SUCCESS';
  else if (refund.status !== 'SUCCESS') {
    refund.reportedPaid.push(amountSantim);
    const isRepeat = !isPending && lastKind === outcome.kind && refund.contradictedBy === amountSantim;
    if (!isRepeat) refund.isReportedPaid = true;
    if (!isPending) refund.contradictedBy = amountSantim;
  }
}

type Resolution = { outcome: 'COMPLETED' | 'FAILED'; paidSantim?: Santim | undefined };

/** Applies a resolution with all required approvals. */
export function applyResolution(payout: Payout, { outcome, paidSantim }: Resolution): void {
  payout.resolved = true;
  if (outcome === 'COMPLETED' && payout.status !== 'SUCCESS') {
    payout.status = 'SUCCESS';
    payout.paidSantim = paidSantim ?? payout.paidSantim;
  } else if (outcome === 'FAILED' && payout.status !== 'FAILED') {
    payout.status = payout.status === 'SUCCESS' ? 'REVERSED' : 'FAILED';
  }
}

/** Whether a resolution can be accepted at all; true does not mean that it is accepted now. */
export function mayResolve(payout: Payout, { outcome, paidSantim }: Resolution, at: Date): boolean {
  if (payout.sentAt === null || ['REJECTED', 'CANCELLED', 'REVERSED'].includes(payout.status)) return false;
  if (payout.status !== 'PENDING' && !payout.contradicted && !payout.resolved) return false;
  if (outcome === 'FAILED') return payout.status !== 'PENDING' || at.getTime() - payout.sentAt.getTime() >= 3_600_000;
  const most = [payout.amountSantim, ...payout.reportedPaid].reduce((one, other) => (one > other ? one : other));
  return (paidSantim ?? payout.paidSantim) <= most;
}
