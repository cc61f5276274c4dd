import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from './log.ts';

/** Work that is repeated while the process lives. A failed run is logged and repeated. Long runs end at `stopping`. */
export type PeriodicJob = { name: string; everyMs: number; run: (stopping: AbortSignal) => Promise<unknown> };

export type PeriodicJobs = { stop: () => Promise<void> };

/** Runs each job at its own interval from `begin` on, never twice at once. Stopping waits for current runs. */
export function startPeriodicJobs(periodicJobs: PeriodicJob[], log: Logger, begin?: Promise<void>): PeriodicJobs {
  const stopping = new AbortController();
  const { signal } = stopping;
  // The pause of each job listens to it.
  setMaxListeners(periodicJobs.length, signal);
  const running = periodicJobs.map(async ({ name, everyMs, run }) => {
    await begin;
    while (!signal.aborted) {
      try {
        await run(signal);
      } catch (error) {
        log.warn({ err: error, job: name }, 'periodic job failed');
      }
      // Rejects at once when stopping.
      await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
  });
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
