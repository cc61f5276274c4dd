import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import type { Clock } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/dates.ts';
import { findSandboxPayout, findSandboxPhone, refundBehaviour } from '../../lib/sandbox-providers.ts';
import { withTimeout } from '../../lib/timeout.ts';
import type { Faults } from './faults.ts';
import {
  type Callback,
  type Order,
  type OrderRequest,
  type Transition,
  applyTransition,
  createOrder,
  keyOf,
  nextTransition,
} from './order.ts';

const ORDERS_MAX = 100_000;
/** Then the file is written anew, with the last line of each order. */
const LINES_MAX = 1_000_000;
const TIMER_MAX_MS = HOUR_MS;
/** The delays before a callback without a 2xx response is repeated; it is abandoned after the last one. */
const REPEAT_AFTER_MS = [1_000, 5_000, 15_000, 60_000];
const SEND_FIRST_WAIT_MS = 1_000;

type RunnerDeps = {
  nowMs: () => number;
  save: (order: Order) => void;
  /** Posts a callback; the response's status, or null without a response. Never throws. */
  post: (order: Order, callback: Callback) => Promise<number | null>;
  onError: (error: unknown) => void;
};

/** Runs orders: each has a timer for its next transition or callback. */
function createRunner({ nowMs, save, post, onError }: RunnerDeps) {
  const timers = new Map<Order, NodeJS.Timeout>();
  const sending = new Map<Callback, Promise<void>>();

  /** Applies the transitions and sends the callbacks that are due, and sets the timer for what follows. */
  async function run(order: Order): Promise<void> {
    clearTimeout(timers.get(order));
    timers.delete(order);
    let next = nextTransition(order);
    for (; next && next.atMs <= nowMs(); next = nextTransition(order)) {
      applyTransition(order, next);
      save(order);
    }
    let dueMs = next?.atMs ?? Infinity;
    for (const callback of order.callbacks.filter((one) => !one.done && !sending.has(one))) {
      if (callback.dueAtMs <= nowMs()) sending.set(callback, send(order, callback).catch(onError));
      else dueMs = Math.min(dueMs, callback.dueAtMs);
    }
    if (dueMs < Infinity) schedule(order, dueMs - nowMs());
  }

  function schedule(order: Order, afterMs: number): void {
    const runLater = (): void => void run(order).catch(onError);
    timers.set(order, setTimeout(runLater, Math.min(afterMs, TIMER_MAX_MS)));
  }

  async function send(order: Order, callback: Callback): Promise<void> {
    const status = await post(order, callback);
    // Forgotten meanwhile.
    if (!sending.delete(callback)) return;
    callback.sends.push({ atMs: nowMs(), status });
    const repeatAfterMs = REPEAT_AFTER_MS[callback.sends.length - 1];
    callback.done = (status !== null && status >= 200 && status < 300) || repeatAfterMs === undefined;
    if (!callback.done) callback.dueAtMs = nowMs() + (repeatAfterMs ?? 0);
    save(order);
    await run(order);
  }

  return {
    run,
    schedule,
    /** Waits until the order's callbacks that are being sent have a response. */
    sent: (order: Order) => Promise.all(order.callbacks.map(async (callback) => sending.get(callback))),
    /** Runs all orders, and waits until everything due and everything already being sent has finished. */
    async runAll(): Promise<void> {
      do {
        await Promise.all([...timers.keys()].map(async (order) => run(order)));
        await Promise.all(sending.values());
      } while (sending.size > 0);
    },
    /** Sends no more, and waits for what is being sent. */
    async forget(): Promise<void> {
      const posts = [...sending.values()];
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      sending.clear();
      await Promise.all(posts);
    },
  };
}

/** UNKNOWN_PARTY: not a phone of the sandbox. ANOTHER_ORDER: the id was used before, with other terms. */
type Placed = Order | 'UNKNOWN_PARTY' | 'ANOTHER_ORDER';

export type OrderStore = ReturnType<typeof createOrderStore>;

type StoreDeps = Pick<RunnerDeps, 'post' | 'onError'> & {
  base: Clock;
  file: StateFile;
  faults: Faults;
  /** Whether a payer with any other phone, or none, is known too, and decides on the pay page. */
  anyPayer: boolean;
};

const ON_THE_PAGE = { behaviour: 'never' } as const;

/**
 * Payments, payouts and refunds, and the simulator's time: the base clock plus the offset set by admin calls, in
 * milliseconds since 1970. Starts with the saved state.
 */
export function createOrderStore({ base, file, faults, anyPayer, post, onError }: StoreDeps) {
  const { saved } = file;
  const { orders } = saved;
  const nowMs = (): number => base().getTime() + saved.offsetMs;
  const save = (order: Order): void => file.append({ order });
  const runner = createRunner({ nowMs, save, post, onError });

  for (const order of orders.values()) runner.schedule(order, 0);

  return {
    nowMs,
    all: (): Order[] => [...orders.values()],
    find: (order: Pick<Order, 'direction' | 'channel' | 'orderId'>): Order | null => orders.get(keyOf(order)) ?? null,

    /** The same order id of a channel is one order, however often it is placed. */
    async place(request: OrderRequest): Promise<Placed> {
      const existing = orders.get(keyOf(request));
      if (existing) {
        existing.submissions += 1;
        save(existing);
        return termsOf(existing) === termsOf(request) ? existing : 'ANOTHER_ORDER';
      }
      const findPayer = () => findSandboxPhone(request.phone) ?? (anyPayer ? ON_THE_PAGE : null);
      const payee = () => (request.direction === 'payout' ? findSandboxPayout(request) : findPayer());
      const party = request.direction === 'refund' ? { behaviour: refundBehaviour(request.phone) } : payee();
      if (!party) return 'UNKNOWN_PARTY';
      const { behaviour } = party;
      const order = createOrder(request, { behaviour, faults: faults.takeForOrder(request), createdAtMs: nowMs() });
      dropOldest(orders);
      orders.set(keyOf(order), order);
      save(order);
      await runner.run(order);
      if ('callbackBeforeAnswer' in order.faults) await withTimeout(runner.sent(order), SEND_FIRST_WAIT_MS);
      return order;
    },

    async decide(order: Order, transition: Transition): Promise<void> {
      applyTransition(order, transition);
      save(order);
      await runner.run(order);
    },

    /** Moves time forward, and waits for the callbacks that are due by then. */
    async advance(byMs: number): Promise<void> {
      saved.offsetMs += byMs;
      file.append({ offsetMs: saved.offsetMs });
      await runner.runAll();
    },

    async reset(): Promise<void> {
      const forgotten = runner.forget();
      file.clear();
      orders.clear();
      saved.offsetMs = 0;
      await forgotten;
    },

    close: () => void runner.forget(),
  };
}

function dropOldest(orders: Map<string, Order>): void {
  const [oldest] = orders.size >= ORDERS_MAX ? orders.keys() : [];
  if (oldest !== undefined) orders.delete(oldest);
}

/** What must be equal for a repeated order id to be the same order. */
function termsOf({ direction, amount, currency, phone, bankCode, accountNumber, refundOf }: OrderRequest): string {
  return JSON.stringify([amount, currency, direction !== 'payment' && [phone, bankCode, accountNumber, refundOf]]);
}

/** What survives a restart: orders by their keys, and the offset of the clock. */
type SavedState = { orders: Map<string, Order>; offsetMs: number };

type Line = { order: Order } | { offsetMs: number };

/** It contains phones and accounts. */
const PRIVATE = { mode: 0o600 };

export type StateFile = ReturnType<typeof openStateFile>;

/**
 * An append-only file: a line per change, the last line of an order counts. Each line is written before the change is
 * reported, so a killed process loses nothing it has reported. Without a path nothing is saved.
 */
export function openStateFile(path: string | null, linesMax = LINES_MAX) {
  const saved = path !== null && existsSync(path) ? parse(readFileSync(path, 'utf8')) : parse('');
  let lines = 0;
  const rewrite = (file: string): void => {
    const orders = [...saved.orders.values()].map((order) => ({ order }));
    writeFileSync(`${file}.new`, format([{ offsetMs: saved.offsetMs }, ...orders]), PRIVATE);
    renameSync(`${file}.new`, file);
    lines = orders.length + 1;
  };
  if (path !== null) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rewrite(path);
  }
  return {
    saved,
    append(...added: Line[]): void {
      if (path === null) return;
      appendFileSync(path, format(added), PRIVATE);
      lines += added.length;
      if (lines > linesMax) rewrite(path);
    },
    clear(): void {
      if (path !== null) writeFileSync(path, '', PRIVATE);
    },
  };
}

function format(lines: readonly Line[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function parse(text: string): SavedState {
  const state: SavedState = { orders: new Map(), offsetMs: 0 };
  for (const line of text.split('\n')) {
    try {
      const saved = JSON.parse(line) as Line;
      if ('order' in saved) state.orders.set(keyOf(saved.order), saved.order);
      else state.offsetMs = saved.offsetMs;
    } catch {
      // The half line of a process killed while writing it, or the empty one at the end.
    }
  }
  return state;
}
