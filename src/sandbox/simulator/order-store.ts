import { randomBytes } from 'node:crypto';

import { findSandboxPayout, findSandboxPhone } from '../../lib/sandbox-providers.ts';
import type { CallbackSender } from './callbacks.ts';
import type { TestClock } from './clock.ts';
import { hasFault, type Direction, type Faults, type SimulatedChannel } from './faults.ts';
import { isPayout, type Order, type PaymentRequest, type PayoutRequest, type Recorded } from './order.ts';
import { applyTransition, nextTransition, type Transition } from './transitions.ts';

const ORDERS_MAX = 100_000;

type Placed =
  | { kind: 'placed'; order: Order }
  /** ANOTHER_ORDER: this id was used before, on other terms. */
  | { kind: 'rejected'; reason: 'UNKNOWN_PARTY' | 'ANOTHER_ORDER' };

export type OrderStore = ReturnType<typeof createOrderStore>;

type StoreDeps = { clock: TestClock; faults: Faults; save: (order: Order) => void; sender: CallbackSender };

/**
 * Payments and payouts. The same order id of a channel is one order, however often it is placed. Starts with the saved
 * orders: their transitions and callbacks that are still due are scheduled again.
 */
export function createOrderStore({ clock, faults, save, sender }: StoreDeps, saved: readonly Order[]) {
  const orders = new Map(saved.map((order) => [keyOf(order), order]));
  for (const order of saved) {
    sender.schedule(order);
    scheduleNext(order);
  }

  function scheduleNext(order: Order): void {
    const next = nextTransition(order);
    const { state } = order;
    if (next) {
      clock.at(next.atMs, async () => {
        if (order.state === state) decide(order, next);
      });
    }
  }

  function decide(order: Order, transition: Transition): void {
    const reported = order.callbacks.length;
    applyTransition(order, transition);
    save(order);
    sender.schedule(order, reported);
    scheduleNext(order);
  }

  async function begin(order: Order): Promise<void> {
    const next = nextTransition(order);
    if (next && hasFault(order, 'callbackBeforeAnswer')) {
      applyTransition(order, { ...next, atMs: clock.nowMs() });
      save(order);
      scheduleNext(order);
      await sender.sendNow(order);
    } else if (next && next.atMs <= order.createdAtMs) decide(order, next);
    else scheduleNext(order);
  }

  return {
    decide,
    all: (): Order[] => [...orders.values()],
    find: (direction: Direction, channel: SimulatedChannel, orderId: string): Order | null =>
      orders.get(`${direction} ${channel} ${orderId}`) ?? null,
    reset: (): void => orders.clear(),

    async place(request: PaymentRequest | PayoutRequest): Promise<Placed> {
      const existing = orders.get(keyOf(request));
      if (existing) {
        existing.submissions += 1;
        save(existing);
        const isSame = termsOf(existing) === termsOf(request);
        return isSame ? { kind: 'placed', order: existing } : { kind: 'rejected', reason: 'ANOTHER_ORDER' };
      }
      const order = createOrder(request, clock.nowMs());
      if (!order) return { kind: 'rejected', reason: 'UNKNOWN_PARTY' };
      order.faults = faults.takeForOrder(order.channel, directionOf(order));
      const oldest = orders.size >= ORDERS_MAX ? orders.keys().next().value : undefined;
      if (oldest !== undefined) orders.delete(oldest);
      orders.set(keyOf(order), order);
      save(order);
      await begin(order);
      return { kind: 'placed', order };
    },
  };
}

/** Null when the sandbox knows no such payer or payee. */
function createOrder(request: PaymentRequest | PayoutRequest, createdAtMs: number): Order | null {
  const recorded: Recorded = {
    reference: randomBytes(12).toString('hex').toUpperCase(),
    transactionReference: randomBytes(6).toString('hex').toUpperCase(),
    createdAtMs,
    faults: [],
    state: isPayout(request) ? 'ACCEPTED' : 'WAITING',
    failure: null,
    decidedAtMs: null,
    reversedAtMs: null,
    paidAmount: null,
    submissions: 1,
    queries: 0,
    callbacks: [],
  };
  if (isPayout(request)) {
    const behaviour = findSandboxPayout(request.payee)?.behaviour;
    return behaviour ? { ...request, ...recorded, behaviour } : null;
  }
  const behaviour = findSandboxPhone(request.phone)?.behaviour;
  return behaviour ? { ...request, ...recorded, behaviour } : null;
}

function directionOf(order: PaymentRequest | PayoutRequest): Direction {
  return isPayout(order) ? 'payout' : 'payment';
}

/** Identifies an order in the store and in its file. */
export function keyOf(order: PaymentRequest | PayoutRequest): string {
  return `${directionOf(order)} ${order.channel} ${order.orderId}`;
}

/** What must be equal for a repeated order id to be the same order. */
function termsOf(order: PaymentRequest | PayoutRequest): string {
  return JSON.stringify([order.amount, order.currency, isPayout(order) ? order.payee : null]);
}
