import type { Santim } from '../../src/lib/money.ts';
import type { PayoutOutcome, ProviderOutcome } from '../../src/providers/provider.ts';

/*
 * What must become of money, told without the code that does it: only by what the provider, the bank and operators have
 * said. Fees are the platform's first rules: 2.5 % of what comes in, 5 birr of a withdrawal, nothing of a settlement, and
 * 15 % tax on them.
 */

export type Payment = { sessionId: string; transactionId: string; amountSantim: Santim; attempts: Attempt[] };
export type Attempt = {
  id: string;
  /** Money that came, once; SECOND: the transaction had been paid before. */
  came: null | { as: 'EXACT' | 'HELD' | 'SECOND'; santim: Santim; isBirr: boolean };
  decided: 'ACCEPTED' | 'RETURNED' | null;
};

export type Out = {
  id: string;
  requestId: string;
  amountSantim: Santim;
  status: 'PENDING' | 'SUCCESS' | 'FAILED' | 'REJECTED' | 'CANCELLED' | 'REVERSED';
  /** So many approvals it needs before it may be sent. */
  approvalsNeeded: number;
  approvedBy: Set<string>;
  /** When it was first sent. */
  sentAt: Date | null;
  paidSantim: Santim;
  /** Amounts that its provider has ever said it paid. */
  saidPaid: Santim[];
  saidPaidWhilePending: boolean;
  /** Its provider has said otherwise after it had ended. */
  contradicted: boolean;
  /** Operators have ended it once. */
  resolved: boolean;
  takenBack: Santim;
  /** Who has said what became of it. */
  words: Map<string, Set<string>>;
};

export type RecheckResult = {
  id: string;
  amountSantim: Santim;
  status: 'REQUESTED' | 'APPROVED' | 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'REJECTED' | 'CANCELLED';
  late: 'waits' | 'over' | null;
  returned: boolean;
};

export type Books = { payments: Payment[]; outs: Out[]; settlements: RecheckResult[] };

const hundredths = (santim: Santim, part: bigint): Santim => (santim * part + 5_000n) / 10_000n;
const charge = (fee: Santim): Santim => fee + hundredths(fee, 1_500n);
const feeIn = (santim: Santim): Santim => charge(hundredths(santim, 250n));
const FEE_OUT = charge(500n);

/** What it takes from the balance. */
export const takes = ({ amountSantim }: Pick<Out, 'amountSantim'>): Santim => amountSantim + FEE_OUT;
/** What it has taken once it is paid: what was paid less is the merchant's again. */
export const keeps = (out: Out): Santim =>
  takes(out) - (out.paidSantim < out.amountSantim ? out.amountSantim - out.paidSantim : 0n);

const sum = (santims: Santim[]): Santim => santims.reduce((all, one) => all + one, 0n);
const isTheirs = ({ came, decided }: Attempt): boolean => came?.as === 'EXACT' || decided === 'ACCEPTED';
const isSetAside = ({ status }: RecheckResult): boolean => ['REQUESTED', 'APPROVED', 'PROCESSING'].includes(status);

/** Whether its transaction is SUCCESS. */
export const isPaid = ({ attempts }: Payment): boolean =>
  attempts.some((attempt) => attempt.came?.as !== 'SECOND' && isTheirs(attempt));

/** What the ledger must come to. */
export function expectedOf({ payments, outs, settlements }: Books) {
  const attempts = payments.flatMap((payment) => payment.attempts);
  const came = attempts.filter((attempt) => attempt.came?.isBirr === true);
  const santim = (one: Attempt): Santim => one.came?.santim ?? 0n;
  const theirs = came.filter(isTheirs).map(santim);
  const paidOut = outs.filter(({ status }) => status === 'SUCCESS');
  const reserved = sum([
    ...outs.filter(({ status }) => status === 'PENDING').map(takes),
    ...settlements.filter(isSetAside).map(({ amountSantim }) => amountSantim),
  ]);
  const fees = sum(theirs.map(feeIn)) + FEE_OUT * BigInt(paidOut.length);
  const settled = sum(settlements.filter(({ status }) => status === 'COMPLETED').map((one) => one.amountSantim));
  const excess = (out: Out): Santim => (out.paidSantim > out.amountSantim ? out.paidSantim - out.amountSantim : 0n);
  const heldNow = came.filter((one) => !isTheirs(one) && one.decided === null).map(santim);
  return {
    available: sum(theirs) - sum(theirs.map(feeIn)) - sum(paidOut.map(keeps)) - settled - reserved,
    reserved,
    fees,
    settled,
    suspense: sum(heldNow) - sum(paidOut.map(excess)) + sum(outs.map(({ takenBack }) => takenBack)),
    providerOwes:
      sum(came.filter(({ decided }) => decided !== 'RETURNED').map(santim)) -
      sum(paidOut.map(({ paidSantim }) => paidSantim)) +
      sum(outs.map(({ takenBack }) => takenBack)),
  };
}

/** A provider has said this of a payment: money that comes is never lost, and only once the merchant's. */
export function hearPayment(payment: Payment, attempt: Attempt, said: ProviderOutcome): void {
  if (said.kind !== 'succeeded' || attempt.came) return;
  const isBirr = said.currency === 'ETB';
  const isExact = isBirr && said.amountSantim === payment.amountSantim;
  const as = isPaid(payment) ? 'SECOND' : isExact ? 'EXACT' : 'HELD';
  attempt.came = { as, santim: said.amountSantim, isBirr };
}

/** A provider has said this of a payout. Its yes is never followed by its no, and only what is exact ends anything. */
export function hearPayout(out: Out, said: PayoutOutcome): void {
  const isPending = out.status === 'PENDING';
  if (said.kind === 'declined') {
    if (isPending && !out.saidPaidWhilePending) out.status = 'FAILED';
    else if (out.status === 'SUCCESS') out.contradicted = true;
  }
  if (said.kind === 'succeeded') {
    out.saidPaid.push(said.amountSantim);
    if (isPending && said.amountSantim === out.amountSantim) out.status = 'SUCCESS';
    else if (isPending) out.saidPaidWhilePending = true;
    else if (out.status === 'FAILED') out.contradicted = true;
  }
  if (said.kind === 'reversed') {
    const isWhole = said.amountSantim === (isPending ? out.amountSantim : out.paidSantim);
    if (['PENDING', 'SUCCESS'].includes(out.status) && isWhole) out.status = 'REVERSED';
    else if (isPending) out.saidPaidWhilePending = true;
    else if (out.status === 'SUCCESS') out.contradicted = true;
  }
}

type Word = { outcome: 'COMPLETED' | 'FAILED'; paidSantim?: Santim | undefined };

/** As many operators as it takes have said what became of it. */
export function resolveOut(out: Out, { outcome, paidSantim }: Word): void {
  out.resolved = true;
  if (outcome === 'COMPLETED' && out.status !== 'SUCCESS') {
    out.status = 'SUCCESS';
    out.paidSantim = paidSantim ?? out.paidSantim;
  } else if (outcome === 'FAILED' && out.status !== 'FAILED') {
    out.status = out.status === 'SUCCESS' ? 'REVERSED' : 'FAILED';
  }
}

/** Whether such a word may ever count; true says nothing of whether it does now. */
export function mayResolve(out: Out, { outcome, paidSantim }: Word, at: Date): boolean {
  if (out.sentAt === null || ['REJECTED', 'CANCELLED', 'REVERSED'].includes(out.status)) return false;
  if (out.status !== 'PENDING' && !out.contradicted && !out.resolved) return false;
  if (outcome === 'FAILED') return out.status !== 'PENDING' || at.getTime() - out.sentAt.getTime() >= 3_600_000;
  const most = [out.amountSantim, ...out.saidPaid].reduce((one, other) => (one > other ? one : other));
  return (paidSantim ?? out.paidSantim) <= most;
}
