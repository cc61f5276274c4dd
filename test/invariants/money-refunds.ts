import { createRefund } from '../../src/payouts/refunds/create.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import { resolvePayout } from '../../src/payouts/resolve.ts';
import type { RefundOutcome } from '../../src/providers/provider.ts';
import { recordRecovery } from '../../src/reconciliation/receipts/operations.ts';
import { DECLINED, NOT_THERE, returned, TAKEN, UNKNOWN } from '../payouts/refunds/fixture.ts';
import {
  applyRefundOutcome,
  costOf,
  expectedOf,
  feeBackOf,
  isOverdrawn,
  isPayable,
  isRefundable,
  lateFeeBackOf,
  leftOf,
  paidAs,
  type ModelRefund,
  type Payment,
} from './money-model.ts';
import { choose } from './money-payments.ts';
import type { PlannedCall, Scenario } from './money-scenarios.ts';
import type { RefundReply, Step } from './money-steps.ts';

/** The calls for steps of refunds; null for other steps. */
export function planRefund(scenario: Scenario, step: Step): PlannedCall | null {
  const { payments, refunds } = scenario.books;
  if (step.do === 'refund') return refund(scenario, choose(payments, step.pick), step);
  const chosen = 'pick' in step ? choose(refunds, step.pick) : undefined;
  if (!chosen) return null;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest is not about refunds
  switch (step.do) {
    case 'refundAgain':
      return refundAgain(scenario, chosen, step.isOther);
    case 'checkRefund':
      return check(scenario, chosen, step);
    case 'resolveRefund':
      return resolve(scenario, chosen, step);
    case 'recoverRefund':
      return recover(scenario, chosen);
    default:
      return null;
  }
}

type Wanted = Pick<ModelRefund, 'reference' | 'transactionId' | 'returnFee'> & { amountSantim: bigint | undefined };

function request({ fixture, scope }: Scenario, wanted: Wanted) {
  return fixture.runInTransaction((tx) =>
    createRefund({ ...fixture, tx }, scope, { ...wanted, requestedBy: 'key_test' }),
  );
}

type Refund = Extract<Step, { do: 'refund' }>;

function refund(scenario: Scenario, payment: Payment | undefined, { santim, returnFee }: Refund): PlannedCall | null {
  if (!payment) return null;
  const { books } = scenario;
  const { transactionId } = payment;
  const leftSantim = leftOf(payment, books);
  const requested = santim === 'rest' ? undefined : BigInt(santim);
  const reference = `REFUND-${books.refunds.length + 1}`;
  const amountSantim = requested ?? leftSantim;
  const isAllowed = isRefundable(payment) && leftSantim > 0n && amountSantim <= leftSantim;
  const feeBack = isAllowed && returnFee ? feeBackOf(payment, books, amountSantim) : { fee: 0n, tax: 0n };
  const wanted = { reference, transactionId, returnFee, amountSantim: requested };
  let id = '';
  return {
    mustChange: isAllowed && costOf({ amountSantim, paidSantim: amountSantim, feeBack }) <= expectedOf(books).available,
    call: async () => {
      const { row, isNew } = await request(scenario, wanted);
      ({ id } = row);
      return isNew;
    },
    record: () => {
      const made = { id, requested, amountSantim, feeBack, sentAt: null, isReportedPaid: false } as const;
      const unpaid = {
        reportedPaid: [],
        lastKind: null,
        contradictedBy: null,
        paidSantim: amountSantim,
        recovered: 0n,
      };
      books.refunds.push({ ...wanted, ...made, ...unpaid, status: 'PENDING' });
    },
  };
}

/** A repeated reference returns the same refund or is rejected. */
function refundAgain(scenario: Scenario, one: ModelRefund, isOther: boolean): PlannedCall {
  const { reference, transactionId } = one;
  const returnFee = one.returnFee !== isOther;
  const wanted = { reference, transactionId, returnFee, amountSantim: one.requested };
  return { mustChange: false, call: async () => (await request(scenario, wanted)).isNew, record: () => {} };
}

function outcomeOf(reply: RefundReply, { id, amountSantim }: ModelRefund): RefundOutcome {
  switch (reply) {
    case 'accepted':
      return TAKEN;
    case 'pending':
      return { kind: 'pending', providerReference: null, providerCode: '0' };
    case 'unknown':
      return UNKNOWN;
    case 'not-found':
      return NOT_THERE;
    case 'declined':
      return DECLINED;
    case 'paid':
      return returned(amountSantim, `BACK-${id}`);
    case 'paidLess':
      return returned(amountSantim > 7n ? amountSantim - 7n : 1n, `BACK-${id}`);
    case 'paidMore':
      return returned(amountSantim + 5_00n, `BACK-${id}`);
    default:
      return reply satisfies never;
  }
}

/** Scripts this reply of the provider. A refund that is sent never gets "not found". */
function script(scenario: Scenario, one: ModelRefund, reply: RefundReply): void {
  const { provider, clock } = scenario.fixture;
  provider.returnsForRefunds(async () => {
    const queried = provider.refundQueries.at(-1);
    const isSending = queried?.operation === 'refund';
    if (isSending) {
      one.sentAt ??= clock();
      const isRightOrder = queried.refundId === one.id && queried.order?.amountSantim === one.amountSantim;
      const isWanted = one.status === 'PENDING' && !one.isReportedPaid;
      const isDue = isWanted && !scenario.isSuspended && !isOverdrawn(scenario.books, one);
      if (!isRightOrder || !isDue) scenario.violations.push(`${one.id} was sent as ${queried.refundId}`);
    }
    const outcome = outcomeOf(isSending && reply === 'not-found' ? 'unknown' : reply, one);
    scenario.outcomes.push({ orderId: one.id, outcome });
    return outcome;
  });
}

type Check = Extract<Step, { do: 'checkRefund' }>;

function check(scenario: Scenario, one: ModelRefund, { reply, proof }: Check): PlannedCall {
  const isQueryable = one.status === 'PENDING' || (proof && one.status === 'FAILED' && one.sentAt !== null);
  return {
    mustChange: isQueryable && (one.sentAt !== null || !(scenario.isSuspended || isOverdrawn(scenario.books, one))),
    // "Not found" leads to another submission.
    mayRepeat: reply === 'not-found',
    call: async () => {
      script(scenario, one, reply);
      const options = { minIntervalMs: 0, notifyWorkflow: true, proof };
      return (await scenario.checkRefund(one.id, options)).queried;
    },
    record: () => {
      const last = scenario.outcomes.splice(0).at(-1);
      if (last) applyRefundOutcome(one, last.outcome as RefundOutcome);
    },
  };
}

type Resolve = Extract<Step, { do: 'resolveRefund' }>;

function paidBy({ amountSantim, reportedPaid }: ModelRefund, { outcome, paid }: Resolve): bigint | undefined {
  if (outcome === 'FAILED' || paid === 'unspecified') return undefined;
  if (paid === 'reported') return reportedPaid.at(-1);
  return paid === 'less' ? amountSantim / 2n + 1n : amountSantim + 5_000_00n;
}

/** Possible only where the provider leaves the outcome open, or contradicts itself. */
function resolve(scenario: Scenario, one: ModelRefund, step: Resolve): PlannedCall {
  const { fixture, books } = scenario;
  const { outcome } = step;
  const paidSantim = paidBy(one, step);
  const at = fixture.clock();
  const isOpen = one.status === 'PENDING' && one.sentAt !== null;
  const isUnsent = one.status === 'PENDING' && one.sentAt === null && outcome === 'FAILED';
  const isEarly = outcome === 'FAILED' && at.getTime() - (one.sentAt ?? at).getTime() < 3_600_000;
  const isContradicted = one.status === 'FAILED' && one.isReportedPaid;
  // Also once operators have found that it was not paid.
  const isLate = one.status === 'FAILED' && one.reportedPaid.length > 0 && outcome === 'COMPLETED';
  const paid = paidAs(one, paidSantim ?? one.amountSantim, isLate ? lateFeeBackOf(books, one) : one.feeBack);
  const lacks = isLate && costOf(paid) > expectedOf(books).available;
  const isPossible = (isOpen && !isEarly) || ((isContradicted || isLate) && !lacks);
  return {
    mustChange: isUnsent || (isPossible && isPayable(books, one, paid.paidSantim) ? null : false),
    call: () =>
      fixture.runInTransaction(async (tx) => {
        const found = { outcome, paidSantim, providerReference: `REF-${one.id}`, reason: 'Confirmed by the provider' };
        return (await resolvePayout(tx, REFUND, { id: one.id, ...found, operatorId: 'opr_1', at })).isNew;
      }),
    record: () => {
      if (outcome === 'COMPLETED') Object.assign(one, paid, { status: 'SUCCESS' });
      else Object.assign(one, { status: 'FAILED', isReportedPaid: false });
    },
  };
}

function recover({ fixture }: Scenario, one: ModelRefund): PlannedCall {
  const excess = one.paidSantim - one.amountSantim;
  const back = { of: { kind: 'refund', id: one.id } as const, reference: `BACK-${one.id}`, at: fixture.clock() };
  return {
    mustChange: one.status === 'SUCCESS' && excess > 0n && one.recovered === 0n,
    call: () => fixture.runInTransaction(async (tx) => (await recordRecovery(tx, back)).isNew),
    record: () => void (one.recovered = excess),
  };
}
