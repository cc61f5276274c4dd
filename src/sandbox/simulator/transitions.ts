import type { SandboxBehaviour, SandboxPayoutBehaviour } from '../../lib/sandbox-providers.ts';
import { callbacksFor, wrongAmount } from './callbacks.ts';
import { faultOf, hasFault } from './faults.ts';
import { isPayout, type Failure, type Order, type OrderState } from './order.ts';

/** A state that an order enters, and when. */
export type Transition = { state: OrderState; atMs: number; failure?: Failure };

/** A decision, and how long after the creation or the expiry it follows. */
type Decision = { state: OrderState; afterMs: number; failure?: Failure; isAfterExpiry?: true };

const SOON_MS = 300;
const SLOWLY_MS = 120_000;
const REVERSED_AFTER_MS = 60_000;

const PAYMENT_DECISIONS: Readonly<Record<SandboxBehaviour, Decision>> = {
  approve: { state: 'PAID', afterMs: SOON_MS },
  'approve-without-callback': { state: 'PAID', afterMs: SOON_MS },
  'approve-wrong-amount': { state: 'PAID', afterMs: SOON_MS },
  'approve-slowly': { state: 'PAID', afterMs: SLOWLY_MS },
  'approve-after-expiry': { state: 'PAID', afterMs: 5_000, isAfterExpiry: true },
  decline: { state: 'DECLINED', afterMs: SOON_MS, failure: 'REFUSED_BY_PROVIDER' },
  'insufficient-funds': { state: 'DECLINED', afterMs: SOON_MS, failure: 'INSUFFICIENT_FUNDS' },
  // A customer may be typing the PIN when the order expires.
  never: { state: 'EXPIRED', afterMs: 30_000, isAfterExpiry: true },
};

/** A decision without delay is in the response to the submission. */
const PAYOUT_DECISIONS: Readonly<Record<SandboxPayoutBehaviour, Decision | null>> = {
  pay: { state: 'PAID', afterMs: SOON_MS },
  'pay-then-reverse': { state: 'PAID', afterMs: SOON_MS },
  'pay-without-callback': { state: 'PAID', afterMs: SOON_MS },
  'pay-slowly': { state: 'PAID', afterMs: SLOWLY_MS },
  decline: { state: 'FAILED', afterMs: 0, failure: 'REFUSED_BY_PROVIDER' },
  'insufficient-float': { state: 'FAILED', afterMs: 0, failure: 'INSUFFICIENT_FLOAT' },
  'accept-then-fail': { state: 'FAILED', afterMs: SOON_MS, failure: 'FAILED_AFTERWARDS' },
  never: null,
};

/** What happens to an order next unless a person decides on the pay page; null when nothing does. */
export function nextTransition(order: Order): Transition | null {
  if (order.state === 'PAID') return reversalOf(order);
  if (order.state !== 'WAITING' && order.state !== 'ACCEPTED') return null;
  const decision = decisionOf(order);
  if (!decision) return null;
  const { afterMs, isAfterExpiry, ...entered } = decision;
  const fromMs = isAfterExpiry && !isPayout(order) ? order.expiresAtMs : order.createdAtMs;
  return { ...entered, atMs: fromMs + afterMs };
}

function decisionOf(order: Order): Decision | null {
  if (!isPayout(order)) return PAYMENT_DECISIONS[order.behaviour];
  return PAYOUT_DECISIONS[hasFault(order, 'payoutAcceptedThenFailed') ? 'accept-then-fail' : order.behaviour];
}

function reversalOf(order: Order): Transition | null {
  const usualMs = order.behaviour === 'pay-then-reverse' ? REVERSED_AFTER_MS : null;
  const afterMs = faultOf(order, 'payoutReversed')?.delayMs ?? usualMs;
  return afterMs === null || order.decidedAtMs === null
    ? null
    : { state: 'REVERSED', atMs: order.decidedAtMs + afterMs };
}

/** Changes the order and adds the callbacks that report its new state. */
export function applyTransition(order: Order, { state, atMs, failure }: Transition): void {
  order.state = state;
  order.failure = failure ?? null;
  order.decidedAtMs ??= atMs;
  if (state === 'PAID') {
    const isWrong = order.behaviour === 'approve-wrong-amount' || hasFault(order, 'paidWrongAmount');
    order.paidAmount = isWrong ? wrongAmount(order.amount) : order.amount;
  }
  if (state === 'REVERSED') order.reversedAtMs = atMs;
  if (isReported(order)) order.callbacks.push(...callbacksFor(order, atMs));
}

function isReported(order: Order): boolean {
  if (order.behaviour === 'approve-without-callback' || order.behaviour === 'pay-without-callback') return false;
  // The response to the submission has already reported this failure.
  return order.state !== 'FAILED' || order.decidedAtMs !== order.createdAtMs;
}
