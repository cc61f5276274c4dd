import { setTimeout as sleep } from 'node:timers/promises';

import type { Callback } from './callback.ts';
import type { MovableClock } from './clock.ts';

/** How long after a callback that got no 2xx it is sent again; after the last of these the simulator gives up. */
const REPEAT_AFTER_MS = [1_000, 5_000, 15_000, 60_000];
const ANSWER_WAITS_MS = 1_000;

/** What callbacks are about: an order or a payout. */
type Subject<Says extends string> = { callbacks: Callback<Says>[] };

export type CallbackSender<Item> = {
  /** Sends what the item has not sent yet, each when it is due. Once only for each callback: `from` is the first of the new ones. */
  schedule: (item: Item, from?: number) => void;
  /** Sends all of it at once, and waits for the answers, a second at most. */
  sendNow: (item: Item) => Promise<void>;
  /** What is on its way now will not be saved or repeated. */
  forget: () => void;
};

/** Sends callbacks until they are answered with 2xx, a few times at most. */
export function createCallbackSender<Says extends string, Item extends Subject<Says>>(deps: {
  clock: MovableClock;
  save: (item: Item) => void;
  /** Posts a callback; the status of the answer, or null without one. Never throws. */
  post: (item: Item, callback: Callback<Says>) => Promise<number | null>;
}): CallbackSender<Item> {
  const { clock, save, post } = deps;
  let generation = 0;

  async function send(item: Item, callback: Callback<Says>): Promise<void> {
    const startedIn = generation;
    const status = await post(item, callback);
    if (startedIn !== generation) return;
    callback.sends.push({ atMs: clock.nowMs(), status });
    const repeatAfterMs = REPEAT_AFTER_MS[callback.sends.length - 1];
    callback.done = (status !== null && status >= 200 && status < 300) || repeatAfterMs === undefined;
    save(item);
    if (!callback.done) clock.at(clock.nowMs() + (repeatAfterMs ?? 0), () => send(item, callback));
  }

  return {
    schedule(item, from = 0) {
      for (const callback of item.callbacks.slice(from).filter(({ done }) => !done)) {
        clock.at(callback.dueAtMs, () => send(item, callback));
      }
    },
    async sendNow(item) {
      const sent = Promise.all(item.callbacks.map((callback) => send(item, callback)));
      await Promise.race([sent, sleep(ANSWER_WAITS_MS, undefined, { ref: false })]);
    },
    forget: () => void (generation += 1),
  };
}
