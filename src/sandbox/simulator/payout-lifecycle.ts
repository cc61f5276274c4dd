import { findSandboxPayout } from '../../lib/sandbox-providers.ts';
import { callbacksFor, wrongAmount } from './callbacks.ts';
import { faultOf, hasFault } from './faults.ts';
import type { Lifecycle, Transition } from './order-store.ts';
import type { Payout, PayoutFailure, PayoutRequest } from './order.ts';

const QUICKLY_MS = 300;
const SLOWLY_MS = 120_000;
const REVERSED_AFTER_MS = 60_000;

/** Payouts, decided by the payee's phone or account. */
export const payoutLifecycle: Lifecycle<PayoutRequest, Payout> = {
  direction: 'payout',

  create(request, recorded) {
    const behaviour = findSandboxPayout(request.payee)?.behaviour;
    if (!behaviour) return null;
    return { ...request, ...recorded, behaviour, state: 'ACCEPTED', failure: null, reversedAtMs: null };
  },

  next(payout) {
    if (payout.state === 'ACCEPTED') return plannedDecision(payout);
    return payout.state === 'PAID' ? plannedReversal(payout) : null;
  },

  callbacks(payout, atMs) {
    if (payout.behaviour === 'pay-without-callback') return [];
    // The response to the submission has already reported this failure.
    if (payout.state === 'FAILED' && payout.decidedAtMs === payout.createdAtMs) return [];
    const before = payout.state === 'REVERSED' ? 'PAID' : 'ACCEPTED';
    return callbacksFor(payout, { state: payout.state, before, amount: payout.paidAmount ?? payout.amount, atMs });
  },

  terms: ({ amount, currency, payee }) => [amount, currency, payee],
};

function plannedDecision(payout: Payout): Transition<Payout> | null {
  const soonMs = payout.createdAtMs + QUICKLY_MS;
  if (hasFault(payout, 'payoutAcceptedThenFailed')) return failed(soonMs, 'FAILED_AFTERWARDS');
  switch (payout.behaviour) {
    case 'pay':
    case 'pay-then-reverse':
    case 'pay-without-callback':
      return paid(payout, soonMs);
    case 'pay-slowly':
      return paid(payout, payout.createdAtMs + SLOWLY_MS);
    case 'decline':
      return failed(payout.createdAtMs, 'REFUSED_BY_PROVIDER');
    case 'insufficient-float':
      return failed(payout.createdAtMs, 'INSUFFICIENT_FLOAT');
    case 'accept-then-fail':
      return failed(soonMs, 'FAILED_AFTERWARDS');
    case 'never':
      return null;
  }
}

function plannedReversal(payout: Payout): Transition<Payout> | null {
  const fault = faultOf(payout, 'payoutReversed');
  const afterMs = fault?.delayMs ?? (payout.behaviour === 'pay-then-reverse' ? REVERSED_AFTER_MS : null);
  if (afterMs === null || payout.decidedAtMs === null) return null;
  const atMs = payout.decidedAtMs + afterMs;
  return { atMs, changes: { state: 'REVERSED', reversedAtMs: atMs } };
}

function paid(payout: Payout, atMs: number): Transition<Payout> {
  const isWrong = hasFault(payout, 'paidWrongAmount');
  return { atMs, changes: { state: 'PAID', paidAmount: isWrong ? wrongAmount(payout.amount) : payout.amount } };
}

function failed(atMs: number, failure: PayoutFailure): Transition<Payout> {
  return { atMs, changes: { state: 'FAILED', failure } };
}
