import type { Clock } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/dates.ts';

type Due = { atMs: number; work: () => Promise<void> };

export type TestClock = ReturnType<typeof createTestClock>;

const SLEEP_MAX_MS = HOUR_MS;

/**
 * The simulator's time: the base clock plus the offset set by admin calls, in milliseconds since 1970. Failed work is
 * reported to `onError`; the clock continues.
 */
export function createTestClock(options: { base: Clock; offsetMs: number; onError: (error: unknown) => void }) {
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

  function forget(): void {
    clearTimeout(timer);
    waiting = [];
  }

  return {
    nowMs,
    offsetMs: (): number => offsetMs,
    /** Runs the work when it is due. */
    at(atMs: number, work: () => Promise<void>): void {
      if (stopped) return;
      waiting.push({ atMs, work });
      sleep();
    },
    /** Moves time forward and waits until everything due by then has finished. */
    async advance(byMs: number): Promise<void> {
      offsetMs += byMs;
      // Running work may schedule more, and work that fell due a moment ago may still be running.
      for (runDue(); running.size > 0; runDue()) await Promise.all(running);
    },
    /** Forgets all scheduled work and returns to the base clock. */
    reset(): void {
      forget();
      offsetMs = 0;
    },
    /** Forgets all scheduled work and accepts no more. */
    stop(): void {
      stopped = true;
      forget();
    },
  };
}
