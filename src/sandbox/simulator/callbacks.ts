import { formatBirr, parseBirr } from '../../lib/money.ts';
import { withTimeout } from '../../lib/timeout.ts';
import type { TestClock } from './clock.ts';
import { faultOf, hasFault } from './faults.ts';
import { isPayout, type Order, type OrderState } from './order.ts';

/** One callback about an order, with its sends so far. */
export type Callback = {
  state: OrderState;
  amount: string;
  signature: 'valid' | 'missing' | 'wrong';
  dueAtMs: number;
  sends: { atMs: number; status: number | null }[];
  done: boolean;
};

const WRONG_BY_SANTIM = 100n;
const INTERMEDIATE_AFTER_MS = 200;
/** The delays before a callback without a 2xx response is repeated; it is abandoned after the last one. */
const REPEAT_AFTER_MS = [1_000, 5_000, 15_000, 60_000];
const SEND_NOW_WAIT_MS = 1_000;

/** The callbacks that report the order's state since `atMs`, as its faults change them. */
export function callbacksFor(order: Order, atMs: number): Callback[] {
  if (hasFault(order, 'callbackLost')) return [];
  const amount = order.paidAmount ?? order.amount;
  const create = (state: OrderState, afterMs = 0): Callback => ({
    state,
    amount: hasFault(order, 'callbackWrongAmount') ? wrongAmount(amount) : amount,
    signature: signatureOf(order),
    dueAtMs: atMs + (faultOf(order, 'callbackLate')?.delayMs ?? 0) + afterMs,
    sends: [],
    done: false,
  });
  const callbacks = [create(order.state)];
  if (hasFault(order, 'callbackDoubled')) callbacks.push(create(order.state));
  if (hasFault(order, 'callbackOutOfOrder')) callbacks.push(create(stateBefore(order), INTERMEDIATE_AFTER_MS));
  return callbacks;
}

function stateBefore(order: Order): OrderState {
  if (order.state === 'REVERSED') return 'PAID';
  return isPayout(order) ? 'ACCEPTED' : 'WAITING';
}

function signatureOf(order: Order): Callback['signature'] {
  if (hasFault(order, 'callbackUnsigned')) return 'missing';
  return hasFault(order, 'callbackWronglySigned') ? 'wrong' : 'valid';
}

/** A birr more. */
export function wrongAmount(amount: string): string {
  return formatBirr((parseBirr(amount) ?? 0n) + WRONG_BY_SANTIM);
}

export type CallbackSender = ReturnType<typeof createCallbackSender>;

/** Sends callbacks until they get a 2xx response, a few times at most. */
export function createCallbackSender(deps: {
  clock: TestClock;
  save: (order: Order) => void;
  /** Posts a callback; the response's status, or null without a response. Never throws. */
  post: (order: Order, callback: Callback) => Promise<number | null>;
}) {
  const { clock, save, post } = deps;
  let generation = 0;

  async function send(order: Order, callback: Callback): Promise<void> {
    const startedIn = generation;
    const status = await post(order, callback);
    if (startedIn !== generation) return;
    callback.sends.push({ atMs: clock.nowMs(), status });
    const repeatAfterMs = REPEAT_AFTER_MS[callback.sends.length - 1];
    callback.done = (status !== null && status >= 200 && status < 300) || repeatAfterMs === undefined;
    save(order);
    if (!callback.done) clock.at(clock.nowMs() + (repeatAfterMs ?? 0), () => send(order, callback));
  }

  return {
    /** Sends the order's pending callbacks from this index on, each when it is due. Call it once for each callback. */
    schedule(order: Order, from = 0): void {
      for (const callback of order.callbacks.slice(from).filter(({ done }) => !done)) {
        clock.at(callback.dueAtMs, () => send(order, callback));
      }
    },
    /** Sends all callbacks at once and waits for the responses, a second at most. */
    async sendNow(order: Order): Promise<void> {
      await withTimeout(Promise.all(order.callbacks.map((callback) => send(order, callback))), SEND_NOW_WAIT_MS);
    },
    /** Callbacks in flight are neither saved nor repeated. */
    forget: (): void => void (generation += 1),
  };
}
