import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { findSandboxPhone } from '../lib/sandbox-providers.ts';
import type { MovableClock } from './clock.ts';
import type { Faults, SimulatedChannel } from './faults.ts';
import {
  callbacksOf,
  hasFault,
  plannedDecision,
  type Callback,
  type Decision,
  type Order,
  type OrderRequest,
} from './order.ts';
import type { StateFile } from './state-file.ts';

const ORDERS_MAX = 100_000;
/** How long after a callback that got no 2xx it is sent again; after the last of these the simulator gives up. */
const REPEAT_AFTER_MS = [1_000, 5_000, 15_000, 60_000];
const ANSWER_WAITS_MS = 1_000;

/** Posts a callback; the status of the answer, or null without one. Never throws. */
export type SendCallback = (order: Order, callback: Callback) => Promise<number | null>;

export type OrderBookDeps = { clock: MovableClock; faults: Faults; file: StateFile; send: SendCallback };

export type Placed = { kind: 'placed'; order: Order } | { kind: 'refused'; why: 'UNKNOWN_PHONE' | 'ANOTHER_ORDER' };

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

export function createOrderBook(deps: OrderBookDeps): OrderBook {
  const { clock, faults, file } = deps;
  const orders = new Map<string, Order>();

  async function deliver(order: Order, callback: Callback): Promise<void> {
    const status = await deps.send(order, callback);
    callback.sends.push({ atMs: clock.nowMs(), status });
    const repeatAfterMs = REPEAT_AFTER_MS[callback.sends.length - 1];
    callback.done = (status !== null && status >= 200 && status < 300) || repeatAfterMs === undefined;
    // A reset meanwhile has forgotten the order.
    if (orders.get(keyOf(order)) !== order) return;
    file.saveOrder(order);
    if (!callback.done) clock.at(clock.nowMs() + (repeatAfterMs ?? 0), () => deliver(order, callback));
  }

  function decide(order: Order, decision: Decision): void {
    if (order.state !== 'WAITING') return;
    settle(order, decision);
    scheduleCallbacks(order);
  }

  function settle(order: Order, decision: Decision): void {
    order.state = decision.state;
    order.decidedAtMs = decision.atMs;
    order.paidAmount = decision.paidAmount;
    order.refusal = decision.refusal;
    order.callbacks = callbacksOf(order, decision);
    file.saveOrder(order);
  }

  /** Sends the callbacks while the merchant still waits for the answer to its order. */
  async function settleBeforeAnswer(order: Order): Promise<void> {
    settle(order, { ...plannedDecision(order), atMs: clock.nowMs() });
    const sent = Promise.all(order.callbacks.map((callback) => deliver(order, callback)));
    await Promise.race([sent, sleep(ANSWER_WAITS_MS, undefined, { ref: false })]);
  }

  function scheduleCallbacks(order: Order): void {
    for (const callback of order.callbacks.filter(({ done }) => !done)) {
      clock.at(callback.dueAtMs, () => deliver(order, callback));
    }
  }

  function scheduleDecision(order: Order): void {
    const decision = plannedDecision(order);
    clock.at(decision.atMs, async () => decide(order, decision));
  }

  const saved = file.load();
  for (const order of saved.orders) {
    orders.set(keyOf(order), order);
    if (order.state === 'WAITING') scheduleDecision(order);
    else scheduleCallbacks(order);
  }

  return {
    decide,
    all: () => [...orders.values()],
    find: (channel, orderId) => orders.get(keyOf({ channel, orderId })) ?? null,
    findByReference: (reference) => [...orders.values()].find((order) => order.reference === reference) ?? null,

    async place(request) {
      const existing = orders.get(keyOf(request));
      if (existing) return isSame(existing, request) ? { kind: 'placed', order: existing } : refused('ANOTHER_ORDER');
      const behaviour = findSandboxPhone(request.phone)?.behaviour;
      if (!behaviour) return refused('UNKNOWN_PHONE');
      const order: Order = {
        ...request,
        behaviour,
        reference: randomBytes(12).toString('hex').toUpperCase(),
        transactionReference: randomBytes(6).toString('hex').toUpperCase(),
        createdAtMs: clock.nowMs(),
        faults: faults.takeForOrder(request.channel),
        state: 'WAITING',
        decidedAtMs: null,
        paidAmount: null,
        refusal: null,
        queries: 0,
        callbacks: [],
      };
      forgetOldest(orders);
      orders.set(keyOf(order), order);
      file.saveOrder(order);
      if (hasFault(order, 'callbackBeforeAnswer')) await settleBeforeAnswer(order);
      else scheduleDecision(order);
      return { kind: 'placed', order };
    },

    reset() {
      orders.clear();
      clock.reset();
      file.clear();
    },
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
