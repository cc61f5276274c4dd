import { randomBytes } from 'node:crypto';

import type { Callback, CallbackSender } from './callbacks.ts';
import type { TestClock } from './clock.ts';
import { hasFault, type Direction, type Faults, type SimulatedChannel } from './faults.ts';
import type { Order, OrderRequest, Payout, PayoutRequest, Recorded } from './order.ts';

const ORDERS_MAX = 100_000;

/** A change of an order, and when it is due. */
export type Transition<Item> = { atMs: number; changes: Partial<Item> };

/** How orders of one kind begin, change and are reported. */
export type Lifecycle<Request, Item> = {
  direction: Direction;
  /** Null when the sandbox knows no such payer or payee. */
  create: (request: Request, recorded: Omit<Recorded<never>, 'state'>) => Item | null;
  /** What happens next unless somebody decides otherwise; null when nothing does. */
  next: (item: Item) => Transition<Item> | null;
  /** The callbacks that report the state entered at this time. */
  callbacks: (item: Item, atMs: number) => Callback[];
  /** What must be equal for a repeated order id to be the same order. */
  terms: (request: Request) => unknown[];
};

export type Placed<Item> =
  | { kind: 'placed'; order: Item }
  /** ANOTHER_ORDER: this id was used before, on other terms. */
  | { kind: 'rejected'; reason: 'UNKNOWN_PARTY' | 'ANOTHER_ORDER' };

/** All orders of one kind. The same order id of a channel is one order, however often it is placed. */
export type OrderStore<Request, Item> = {
  place: (request: Request) => Promise<Placed<Item>>;
  find: (channel: SimulatedChannel, orderId: string) => Item | null;
  decide: (item: Item, transition: Transition<Item>) => void;
  all: () => Item[];
  reset: () => void;
};

export type Payments = OrderStore<OrderRequest, Order>;
export type Payouts = OrderStore<PayoutRequest, Payout>;

type StoreDeps = { clock: TestClock; faults: Faults; save: (order: Order | Payout) => void; sender: CallbackSender };

/** Starts with the saved orders: their transitions and callbacks that are still due are scheduled again. */
export function createOrderStore<Request extends OrderRequest | PayoutRequest, Item extends Request & (Order | Payout)>(
  lifecycle: Lifecycle<Request, Item>,
  { clock, faults, save, sender }: StoreDeps,
  saved: Item[],
): OrderStore<Request, Item> {
  const orders = new Map(saved.map((item) => [keyOf(item), item]));
  for (const item of saved) {
    sender.schedule(item);
    scheduleNext(item);
  }

  function scheduleNext(item: Item): void {
    const next = lifecycle.next(item);
    const { state } = item;
    if (next) {
      clock.at(next.atMs, async () => {
        if (item.state === state) decide(item, next);
      });
    }
  }

  function decide(item: Item, transition: Transition<Item>): void {
    const reported = item.callbacks.length;
    enter(item, transition);
    sender.schedule(item, reported);
    scheduleNext(item);
  }

  function enter(item: Item, { atMs, changes }: Transition<Item>): void {
    Object.assign(item, { decidedAtMs: item.decidedAtMs ?? atMs }, changes);
    item.callbacks.push(...lifecycle.callbacks(item, atMs));
    save(item);
  }

  async function begin(item: Item): Promise<void> {
    const next = lifecycle.next(item);
    if (next && hasFault(item, 'callbackBeforeAnswer')) {
      enter(item, { ...next, atMs: clock.nowMs() });
      scheduleNext(item);
      await sender.sendNow(item);
    } else if (next && next.atMs <= item.createdAtMs) decide(item, next);
    else scheduleNext(item);
  }

  return {
    decide,
    all: () => [...orders.values()],
    find: (channel, orderId) => orders.get(keyOf({ channel, orderId })) ?? null,

    async place(request) {
      const existing = orders.get(keyOf(request));
      if (existing) {
        existing.submissions += 1;
        save(existing);
        const isSame = JSON.stringify(lifecycle.terms(existing)) === JSON.stringify(lifecycle.terms(request));
        return isSame ? { kind: 'placed', order: existing } : { kind: 'rejected', reason: 'ANOTHER_ORDER' };
      }
      const order = lifecycle.create(request, newRecord(clock.nowMs()));
      if (!order) return { kind: 'rejected', reason: 'UNKNOWN_PARTY' };
      order.faults = faults.takeForOrder(order.channel, lifecycle.direction);
      forgetOldest(orders);
      orders.set(keyOf(order), order);
      save(order);
      await begin(order);
      return { kind: 'placed', order };
    },

    reset: () => orders.clear(),
  };
}

function newRecord(createdAtMs: number): Omit<Recorded<never>, 'state'> {
  return {
    reference: randomBytes(12).toString('hex').toUpperCase(),
    transactionReference: randomBytes(6).toString('hex').toUpperCase(),
    createdAtMs,
    faults: [],
    decidedAtMs: null,
    paidAmount: null,
    submissions: 1,
    queries: 0,
    callbacks: [],
  };
}

function keyOf({ channel, orderId }: { channel: SimulatedChannel; orderId: string }): string {
  return `${channel} ${orderId}`;
}

function forgetOldest(orders: Map<string, unknown>): void {
  const oldest = orders.size >= ORDERS_MAX ? orders.keys().next().value : undefined;
  if (oldest !== undefined) orders.delete(oldest);
}
