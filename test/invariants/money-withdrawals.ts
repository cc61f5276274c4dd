import { resolvePayout } from '../../src/payouts/resolve.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import { readWithdrawal } from '../../src/payouts/withdrawals/queries.ts';
import { approveWithdrawal, cancelWithdrawal, rejectWithdrawal } from '../../src/payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import type { PayoutOutcome } from '../../src/providers/provider.ts';
import { recordRecovery } from '../../src/reconciliation/receipts/operations.ts';
import { UNKNOWN_PAYOUT, NOT_THERE, PAID_OUT, REFUSED, TAKEN } from '../support/withdrawals.ts';
import {
  expectedOf,
  applyPayoutOutcome,
  finalDebitOf,
  mayResolve,
  applyResolution,
  debitOf,
  type Payout,
} from './money-model.ts';
import { choose } from './money-payments.ts';
import type { PlannedCall, Scenario } from './money-scenarios.ts';
import type { PayoutReply, Step } from './money-steps.ts';

/** The calls for steps of withdrawals; null for other steps. */
export function planWithdrawal(scenario: Scenario, step: Step): PlannedCall | null {
  if (step.do === 'withdraw') return withdraw(scenario, BigInt(step.santim));
  if (!('pick' in step)) return null;
  const payout = choose(scenario.books.payouts, step.pick);
  if (!payout) return null;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest is not about withdrawals
  switch (step.do) {
    case 'withdrawAgain':
      return withdrawAgain(scenario, payout, step.isOther);
    case 'approve':
      return approve(scenario, payout, step.operator);
    case 'reject':
    case 'cancel':
      return stop(scenario, payout, step.do);
    case 'recover':
      return recover(scenario, payout);
    case 'check':
      return check(scenario, payout, step);
    case 'resolve':
      return resolve(scenario, payout, step);
    default:
      return null;
  }
}

function request(
  { fixture, scope }: Scenario,
  { requestId, amountSantim }: Pick<Payout, 'requestId' | 'amountSantim'>,
) {
  const wanted = {
    requestId,
    amountSantim,
    channel: 'TELEBIRR',
    destination: { kind: 'phone', phone: '251911000001', accountName: 'Abebe Bikila' },
    requestedBy: 'key_test',
  } as const;
  return fixture.runInTransaction((tx) => createWithdrawal({ ...fixture, tx }, scope, wanted));
}

function withdraw(scenario: Scenario, amountSantim: bigint): PlannedCall {
  const { payouts } = scenario.books;
  const wanted = { requestId: `OUT-${payouts.length + 1}`, amountSantim };
  let made = { id: '', approvalsNeeded: 0 };
  return {
    mustChange: debitOf(wanted) <= expectedOf(scenario.books).available,
    call: async () => {
      const { row, isNew } = await request(scenario, wanted);
      made = row;
      return isNew;
    },
    record: () =>
      void payouts.push({
        ...wanted,
        id: made.id,
        approvalsNeeded: made.approvalsNeeded,
        status: 'PENDING',
        approvedBy: new Set(),
        sentAt: null,
        paidSantim: amountSantim,
        reportedPaid: [],
        reportedPaidWhilePending: false,
        contradicted: false,
        resolved: false,
        recovered: 0n,
        approvals: new Map(),
      }),
  };
}

/** A repeated requestId returns the same withdrawal or is rejected. */
function withdrawAgain(scenario: Scenario, payout: Payout, isOther: boolean): PlannedCall {
  const wanted = { ...payout, amountSantim: payout.amountSantim + (isOther ? 1n : 0n) };
  return { mustChange: false, call: async () => (await request(scenario, wanted)).isNew, record: () => {} };
}

const isApproved = ({ approvalsNeeded, approvedBy }: Payout): boolean => approvedBy.size >= approvalsNeeded;

function approve(scenario: Scenario, payout: Payout, operatorId: string): PlannedCall {
  const at = scenario.fixture.clock();
  return {
    mustChange:
      payout.status === 'PENDING' && !isApproved(payout) && !scenario.isSuspended && !payout.approvedBy.has(operatorId),
    call: async () => {
      await scenario.fixture.runInTransaction((tx) => approveWithdrawal(tx, payout.id, { operatorId, at }));
      return true;
    },
    record: () => void payout.approvedBy.add(operatorId),
  };
}

/** Possible only before the first submission. */
function stop({ fixture }: Scenario, payout: Payout, decision: 'reject' | 'cancel'): PlannedCall {
  const at = fixture.clock();
  return {
    mustChange: payout.status === 'PENDING' && payout.sentAt === null,
    call: async () => {
      await fixture.runInTransaction(async (tx) => {
        if (decision === 'cancel') return cancelWithdrawal(tx, await readWithdrawal(tx.trx, payout.id), at);
        return rejectWithdrawal(tx, payout.id, { operatorId: 'opr_1', at, reason: 'No.' });
      });
      return true;
    },
    record: () => void (payout.status = decision === 'cancel' ? 'CANCELLED' : 'REJECTED'),
  };
}

function recover({ fixture }: Scenario, payout: Payout): PlannedCall {
  const excess = payout.paidSantim - payout.amountSantim;
  const of = { kind: 'withdrawal', id: payout.id } as const;
  const back = { of, reference: `BACK-${payout.id}`, at: fixture.clock() };
  return {
    mustChange: payout.status === 'SUCCESS' && excess > 0n && payout.recovered === 0n,
    call: () => fixture.runInTransaction(async (tx) => (await recordRecovery(tx, back)).isNew),
    record: () => void (payout.recovered = excess),
  };
}

function outcomeOf(reply: PayoutReply, payout: Payout): PayoutOutcome {
  const { amountSantim } = payout;
  const paid = { ...PAID_OUT, providerReference: `OUT-${payout.id}`, amountSantim };
  const back = { ...paid, kind: 'reversed', providerCode: 'REVERSED' } as const;
  switch (reply) {
    case 'accepted':
      return TAKEN;
    case 'pending':
      return { kind: 'pending', providerReference: null, providerCode: '0' };
    case 'unknown':
      return UNKNOWN_PAYOUT;
    case 'not-found':
      return NOT_THERE;
    case 'declined':
      return REFUSED;
    case 'paid':
      return paid;
    case 'paidLess':
      return { ...paid, amountSantim: amountSantim - 7n };
    case 'paidMore':
      return { ...paid, amountSantim: amountSantim + 11n };
    case 'reversed':
      return back;
    case 'reversedPaid':
      return { ...back, amountSantim: payout.paidSantim };
    case 'reversedPart':
      return { ...back, amountSantim: amountSantim - 100n };
    default:
      return reply satisfies never;
  }
}

/** Scripts these replies of the provider in order, the last one repeatedly. A submission never gets "not found". */
function script(
  scenario: Scenario,
  payout: Payout,
  { replies, queryOnly }: Pick<Check, 'replies' | 'queryOnly'>,
): void {
  const { provider, clock } = scenario.fixture;
  const reply = (name: PayoutReply) => async (): Promise<PayoutOutcome> => {
    const queried = provider.payoutQueries.at(-1);
    const isSending = queried?.operation === 'payout';
    if (isSending) {
      payout.sentAt ??= clock();
      const isRightOrder = queried.orderId === payout.id && queried.order?.amountSantim === payout.amountSantim;
      const isDue = payout.status === 'PENDING' && isApproved(payout) && !payout.reportedPaidWhilePending;
      if (!isRightOrder || !isDue || scenario.isSuspended || queryOnly)
        scenario.violations.push(`${payout.id} was sent as ${queried.orderId}`);
    }
    const outcome = outcomeOf(isSending && name === 'not-found' ? 'unknown' : name, payout);
    scenario.outcomes.push({ orderId: payout.id, outcome });
    return outcome;
  };
  provider.returnsForPayouts(...replies.map(reply));
}

type Check = Extract<Step, { do: 'check' }>;

function check(scenario: Scenario, payout: Payout, step: Check): PlannedCall {
  const { replies, proof, queryOnly } = step;
  const isQueryable =
    payout.status === 'PENDING' || payout.status === 'SUCCESS' || (proof && payout.status === 'FAILED');
  const isSendable = payout.sentAt !== null || (!scenario.isSuspended && !queryOnly);
  return {
    mustChange: isQueryable && isApproved(payout) && isSendable,
    // After several replies the last one is new for the repetition, and an unknown outcome may lead to another
    // submission.
    mayRepeat: replies.length > 1 || replies[0] === 'not-found',
    call: async () => {
      script(scenario, payout, step);
      const { queried } = await scenario.checkPayout(payout.id, {
        minIntervalMs: 0,
        notifyWorkflow: true,
        proof,
        queryOnly,
      });
      return queried;
    },
    record: () => {
      // After "not found" only the reply to the resubmission counts.
      const last = scenario.outcomes.splice(0).at(-1);
      if (last) applyPayoutOutcome(payout, last.outcome as PayoutOutcome);
    },
  };
}

function paidBy({ amountSantim, reportedPaid }: Payout, paid: Resolve['paid']): bigint | undefined {
  if (paid === 'reported') return reportedPaid.at(-1);
  if (paid === 'unspecified') return undefined;
  return paid === 'less' ? amountSantim - 9n : amountSantim + 5_000_00n;
}

type Resolve = Extract<Step, { do: 'resolve' }>;

function resolve(scenario: Scenario, payout: Payout, step: Resolve): PlannedCall {
  const { fixture } = scenario;
  const { outcome, operator } = step;
  const paidSantim = outcome === 'FAILED' ? undefined : paidBy(payout, step.paid);
  const result = { outcome, paidSantim };
  const at = fixture.clock();
  const resultKey = `${outcome} ${paidSantim}`;
  let missing = 0;
  return {
    mustChange: mayResolve(payout, result, at) ? null : false,
    call: () =>
      fixture.runInTransaction(async (tx) => {
        const resolution = {
          ...result,
          providerReference: `REF-${payout.id}`,
          reason: 'Confirmed by the provider',
          operatorId: operator,
        };
        const resolved = await resolvePayout(tx, WITHDRAWAL, { id: payout.id, ...resolution, at });
        ({ missing } = resolved);
        return resolved.isNew;
      }),
    record: () => {
      const operators = payout.approvals.get(resultKey) ?? new Set();
      payout.approvals.set(resultKey, operators.add(operator));
      if (missing > 0) return;
      if (operators.size < payout.approvalsNeeded)
        scenario.violations.push(`${payout.id} was resolved by ${operators.size}`);
      const paid = { ...payout, paidSantim: paidSantim ?? payout.paidSantim };
      const lacks =
        payout.status === 'FAILED' &&
        outcome === 'COMPLETED' &&
        finalDebitOf(paid) > expectedOf(scenario.books).available;
      if (lacks) scenario.violations.push(`${payout.id} was paid without the available balance`);
      applyResolution(payout, result);
    },
  };
}
