import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from './log.ts';

const REPEAT_FAILED_MS = 1_000;
/** The longest wait for the rest of the process to be prepared. */
const BEGIN_AFTER_MS = 10_000;

/**
 * Work that is repeated while the process lives. A failed run is repeated after a second, and a warning
 * when it fails again.
 * Long runs end at `stopping`.
 */
export type PeriodicJob = { name: string; everyMs: number; run: (stopping: AbortSignal) => Promise<unknown> };

export type PeriodicJobs = { stop: () => Promise<void> };

/** Runs each job at its own interval from `begin` on, never twice at once. Stopping waits for current runs. */
export function startPeriodicJobs(periodicJobs: PeriodicJob[], log: Logger, begin?: Promise<void>): PeriodicJobs {
  const stopping = new AbortController();
  const { signal } = stopping;
  // The pause of each job listens to it, and the wait before them.
  setMaxListeners(periodicJobs.length + 1, signal);
  // Rejects at once when stopping.
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
  const begun = begin && Promise.race([begin, pause(BEGIN_AFTER_MS)]);
  const running = periodicJobs.map(async ({ name, everyMs, run }) => {
    const attempt = async (): Promise<unknown> => run(signal);
    const attemptAgain = async (error: unknown): Promise<void> => {
      log.info({ err: error, job: name }, 'periodic job failed; it is repeated');
      await pause(REPEAT_FAILED_MS);
      if (!signal.aborted) await attempt();
    };
    await begun;
    while (!signal.aborted) {
      await attempt()
        .catch(attemptAgain)
        .catch((error: unknown) => log.warn({ err: error, job: name }, 'periodic job failed'));
      await pause(everyMs);
    }
  });
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
