import { setTimeout as sleep } from 'node:timers/promises';

import type { MovableClock } from './clock.ts';
import type { Callback, Order } from './order.ts';
import type { StateFile } from './state-file.ts';

/** How long after a callback that got no 2xx it is sent again; after the last of these the simulator gives up. */
const REPEAT_AFTER_MS = [1_000, 5_000, 15_000, 60_000];
const ANSWER_WAITS_MS = 1_000;

/** Posts a callback; the status of the answer, or null without one. Never throws. */
export type PostCallback = (order: Order, callback: Callback) => Promise<number | null>;

export type CallbackSender = {
  /** Sends what the order has not sent yet, each when it is due. */
  schedule: (order: Order) => void;
  /** Sends all of it at once, and waits for the answers, a second at most. */
  sendNow: (order: Order) => Promise<void>;
  /** What is on its way now will not be saved or repeated. */
  forget: () => void;
};

/** Sends callbacks until they are answered with 2xx, a few times at most. */
export function createCallbackSender(deps: {
  clock: MovableClock;
  file: StateFile;
  post: PostCallback;
}): CallbackSender {
  const { clock, file, post } = deps;
  let generation = 0;

  async function send(order: Order, callback: Callback): Promise<void> {
    const startedIn = generation;
    const status = await post(order, callback);
    if (startedIn !== generation) return;
    callback.sends.push({ atMs: clock.nowMs(), status });
    const repeatAfterMs = REPEAT_AFTER_MS[callback.sends.length - 1];
    callback.done = (status !== null && status >= 200 && status < 300) || repeatAfterMs === undefined;
    file.saveOrder(order);
    if (!callback.done) clock.at(clock.nowMs() + (repeatAfterMs ?? 0), () => send(order, callback));
  }

  return {
    schedule(order) {
      for (const callback of order.callbacks.filter(({ done }) => !done)) {
        clock.at(callback.dueAtMs, () => send(order, callback));
      }
    },
    async sendNow(order) {
      const sent = Promise.all(order.callbacks.map((callback) => send(order, callback)));
      await Promise.race([sent, sleep(ANSWER_WAITS_MS, undefined, { ref: false })]);
    },
    forget: () => void (generation += 1),
  };
}
