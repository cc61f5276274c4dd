import { setTimeout as sleep } from 'node:timers/promises';

import { isAlive, stopChild, type Child } from './child-process.ts';
import type { Progress } from './progress.ts';
import type { StoppableServer } from './shutdown.ts';

const WATCH_EVERY_MS = 500;
const STOP_WITHIN_MS = 1_500;

export type WatchOptions = {
  name: string;
  child: Child;
  /** What it is told when it has time to end, and when it has none. */
  signals: { stop: NodeJS.Signals; stopNow: NodeJS.Signals };
  /** Starts it again where it was. */
  restart: () => Promise<Child>;
  progress: Progress;
};

/** Keeps a server running until it is stopped: one that ends by itself, or is killed, is started again. */
export function watchServer(options: WatchOptions): StoppableServer {
  const { name, signals, progress } = options;
  const stopping = new AbortController();
  let { child } = options;
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleep(WATCH_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted || (await isAlive(child))) continue;
      progress.print(`${name} has ended; starting it again`);
      try {
        child = await options.restart();
        progress.print(`${name} runs again`);
      } catch (error) {
        progress.print(`${name} could not be started: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  const watching = watch();
  return {
    name,
    stop: async () => {
      stopping.abort();
      await watching;
      await stopChild(child, signals.stop, STOP_WITHIN_MS);
    },
    stopNow: () => {
      stopping.abort();
      try {
        process.kill(child.pid, signals.stopNow);
      } catch {
        // It has ended already.
      }
    },
  };
}
