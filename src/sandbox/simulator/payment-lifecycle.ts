import { findSandboxPhone } from '../../lib/sandbox-providers.ts';
import { callbacksFor, wrongAmount } from './callbacks.ts';
import { hasFault } from './faults.ts';
import type { Lifecycle, Transition } from './order-store.ts';
import type { Order, OrderRequest, Rejection } from './order.ts';

const QUICKLY_MS = 300;
const SLOWLY_MS = 120_000;
const AFTER_EXPIRY_MS = 5_000;
/** A customer may be typing the PIN when the order expires. */
const CLOSED_AFTER_EXPIRY_MS = 30_000;

/** Payments, decided by the payer's phone unless somebody decides on the pay page. */
export const paymentLifecycle: Lifecycle<OrderRequest, Order> = {
  direction: 'payment',

  create(request, recorded) {
    const behaviour = findSandboxPhone(request.phone)?.behaviour;
    return behaviour ? { ...request, ...recorded, behaviour, state: 'WAITING', rejection: null } : null;
  },

  next: (order) => (order.state === 'WAITING' ? plannedDecision(order) : null),

  callbacks(order, atMs) {
    if (order.behaviour === 'approve-without-callback') return [];
    const amount = order.paidAmount ?? order.amount;
    return callbacksFor(order, { state: order.state, before: 'WAITING', amount, atMs });
  },

  terms: ({ amount, currency }) => [amount, currency],
};

function plannedDecision(order: Order): Transition<Order> {
  const soonMs = order.createdAtMs + QUICKLY_MS;
  switch (order.behaviour) {
    case 'approve':
    case 'approve-without-callback':
    case 'approve-wrong-amount':
      return paid(order, soonMs);
    case 'approve-slowly':
      return paid(order, order.createdAtMs + SLOWLY_MS);
    case 'approve-after-expiry':
      return paid(order, order.expiresAtMs + AFTER_EXPIRY_MS);
    case 'decline':
      return declined(soonMs, 'REFUSED_BY_PROVIDER');
    case 'insufficient-funds':
      return declined(soonMs, 'INSUFFICIENT_FUNDS');
    case 'never':
      return { atMs: order.expiresAtMs + CLOSED_AFTER_EXPIRY_MS, changes: { state: 'EXPIRED' } };
  }
}

/** Pays the requested amount, or a birr more where a wrong amount is configured. */
export function paid(order: Order, atMs: number): Transition<Order> {
  const isWrong = order.behaviour === 'approve-wrong-amount' || hasFault(order, 'paidWrongAmount');
  return { atMs, changes: { state: 'PAID', paidAmount: isWrong ? wrongAmount(order.amount) : order.amount } };
}

export function declined(atMs: number, rejection: Rejection): Transition<Order> {
  return { atMs, changes: { state: 'DECLINED', rejection } };
}
