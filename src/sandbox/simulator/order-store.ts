import { randomBytes } from 'node:crypto';

import { findSandboxPhone } from '../../lib/sandbox-providers.ts';
import type { CallbackSender } from './callback-sender.ts';
import { hasFault } from './callback.ts';
import type { MovableClock } from './clock.ts';
import type { Faults, SimulatedChannel } from './faults.ts';
import { callbacksOf, plannedDecision, type Decision, type Order, type OrderRequest } from './order.ts';
import type { StateFile } from './state-file.ts';

const ORDERS_MAX = 100_000;

type OrderBookDeps = { clock: MovableClock; faults: Faults; file: StateFile; sender: CallbackSender<Order> };

type Placed = { kind: 'placed'; order: Order } | { kind: 'refused'; why: 'UNKNOWN_PHONE' | 'ANOTHER_ORDER' };

/** All orders of all channels. The same order id of a channel is one order, however often it is placed. */
export type OrderBook = {
  place: (request: OrderRequest) => Promise<Placed>;
  find: (channel: SimulatedChannel, orderId: string) => Order | null;
  findByReference: (reference: string) => Order | null;
  /** Ends an order that waits; one that does not, stays as it is. */
  decide: (order: Order, decision: Decision) => void;
  all: () => Order[];
  reset: () => void;
};

/** Starts with the orders of the state file: what they wait for is scheduled again. */
export function createOrderBook({ clock, faults, file, sender }: OrderBookDeps, saved: Order[]): OrderBook {
  const orders = new Map(saved.map((order) => [keyOf(order), order]));
  for (const order of saved) {
    if (order.state === 'WAITING') scheduleDecision(order);
    else sender.schedule(order);
  }

  function scheduleDecision(order: Order): void {
    const decision = plannedDecision(order);
    clock.at(decision.atMs, async () => decide(order, decision));
  }

  function decide(order: Order, decision: Decision): void {
    if (order.state !== 'WAITING') return;
    settle(order, decision);
    sender.schedule(order);
  }

  function settle(order: Order, decision: Decision): void {
    order.state = decision.state;
    order.decidedAtMs = decision.atMs;
    order.paidAmount = decision.paidAmount;
    order.rejection = decision.rejection;
    order.callbacks = callbacksOf(order, decision);
    file.saveOrder(order);
  }

  return {
    decide,
    all: () => [...orders.values()],
    find: (channel, orderId) => orders.get(keyOf({ channel, orderId })) ?? null,
    findByReference: (reference) => [...orders.values()].find((order) => order.reference === reference) ?? null,

    async place(request) {
      const existing = orders.get(keyOf(request));
      if (existing) return isSame(existing, request) ? { kind: 'placed', order: existing } : refused('ANOTHER_ORDER');
      const order = newOrder(request, clock.nowMs());
      if (!order) return refused('UNKNOWN_PHONE');
      order.faults = faults.takeForOrder(order.channel, 'payment');
      forgetOldest(orders);
      orders.set(keyOf(order), order);
      file.saveOrder(order);
      if (hasFault(order, 'callbackBeforeAnswer')) {
        settle(order, { ...plannedDecision(order), atMs: clock.nowMs() });
        await sender.sendNow(order);
      } else scheduleDecision(order);
      return { kind: 'placed', order };
    },

    reset() {
      orders.clear();
      sender.forget();
    },
  };
}

/** Null when no sandbox phone pays it. */
function newOrder(request: OrderRequest, nowMs: number): Order | null {
  const behaviour = findSandboxPhone(request.phone)?.behaviour;
  if (!behaviour) return null;
  return {
    ...request,
    behaviour,
    reference: randomBytes(12).toString('hex').toUpperCase(),
    transactionReference: randomBytes(6).toString('hex').toUpperCase(),
    createdAtMs: nowMs,
    faults: [],
    state: 'WAITING',
    decidedAtMs: null,
    paidAmount: null,
    rejection: null,
    queries: 0,
    callbacks: [],
  };
}

function refused(why: 'UNKNOWN_PHONE' | 'ANOTHER_ORDER'): Placed {
  return { kind: 'refused', why };
}

function isSame(order: Order, request: OrderRequest): boolean {
  return order.amount === request.amount && order.currency === request.currency;
}

function keyOf({ channel, orderId }: { channel: SimulatedChannel; orderId: string }): string {
  return `${channel} ${orderId}`;
}

function forgetOldest(orders: Map<string, Order>): void {
  const oldest = orders.size >= ORDERS_MAX ? orders.keys().next().value : undefined;
  if (oldest !== undefined) orders.delete(oldest);
}
