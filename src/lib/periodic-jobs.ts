import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from './log.ts';

/**
 * Something done again and again while the process lives. A run that fails is logged; the next one tries again. What may
 * take long is told when the process stops, and ends then.
 */
export type PeriodicJob = { name: string; everyMs: number; run: (stopping: AbortSignal) => Promise<unknown> };

export type PeriodicJobs = { stop: () => Promise<void> };

/** Runs each chore at its own pace, never twice at once. Stopping waits for the runs under way. */
export function startPeriodicJobs(periodicJobs: PeriodicJob[], log: Logger): PeriodicJobs {
  const stopping = new AbortController();
  // Each chore's pause listens to it.
  setMaxListeners(periodicJobs.length, stopping.signal);
  const running = periodicJobs.map(async (job) => {
    while (!stopping.signal.aborted) {
      try {
        await job.run(stopping.signal);
      } catch (error) {
        log.warn({ err: error, job: job.name }, 'a chore failed; it is tried again');
      }
      await pause(job.everyMs, stopping.signal);
    }
  });
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** Ends early, without an error, when stopping. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
