import type { Clock } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/dates.ts';

/** The simulator's own time: the machine's, plus what admin calls have moved it by. Milliseconds since 1970. */
export type MovableClock = {
  nowMs: () => number;
  offsetMs: () => number;
  /** Runs the work once its time has come. */
  at: (atMs: number, work: () => Promise<void>) => void;
  /** Moves time forward and waits for the end of all that is due by then. */
  advance: (byMs: number) => Promise<void>;
  /** Forgets all that was to come, and goes back to the machine's time. */
  reset: () => void;
  /** Runs nothing any more. */
  stop: () => void;
};

type Due = { atMs: number; work: () => Promise<void> };

const SLEEP_MAX_MS = HOUR_MS;

/** Work that fails is reported to `onError`; the clock goes on. */
export function createMovableClock(options: {
  base: Clock;
  offsetMs: number;
  onError: (error: unknown) => void;
}): MovableClock {
  const { base, onError } = options;
  let { offsetMs } = options;
  let stopped = false;
  let waiting: Due[] = [];
  let timer: NodeJS.Timeout | undefined;
  const running = new Set<Promise<void>>();
  const nowMs = (): number => base().getTime() + offsetMs;

  function runDue(): void {
    const due = waiting.filter(({ atMs }) => atMs <= nowMs()).toSorted((a, b) => a.atMs - b.atMs);
    waiting = waiting.filter((item) => !due.includes(item));
    for (const { work } of due) {
      const run = work()
        .catch(onError)
        .finally(() => running.delete(run));
      running.add(run);
    }
    sleep();
  }

  function sleep(): void {
    clearTimeout(timer);
    if (waiting.length === 0) return;
    const next = Math.min(...waiting.map(({ atMs }) => atMs));
    timer = setTimeout(runDue, Math.min(Math.max(next - nowMs(), 0), SLEEP_MAX_MS));
  }

  return {
    nowMs,
    offsetMs: () => offsetMs,
    at(atMs, work) {
      if (stopped) return;
      waiting.push({ atMs, work });
      sleep();
    },
    async advance(byMs) {
      offsetMs += byMs;
      // What runs may make more due, and what fell due by itself a moment ago may still be running.
      for (runDue(); running.size > 0; runDue()) await Promise.all(running);
    },
    reset() {
      clearTimeout(timer);
      waiting = [];
      offsetMs = 0;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      waiting = [];
    },
  };
}
