import { setTimeout as sleep } from 'node:timers/promises';

import type { Progress } from './progress.ts';

const DRAIN_MS = 4_000;
// npm passes on a Ctrl-C that the terminal has sent us already.
const SAME_CTRL_C_MS = 500;

type Stoppable = { name: string; stop: () => Promise<void> };
export type StoppableServer = Stoppable & {
  /** Ends it without waiting. */
  stopNow: () => void;
};

export type Shutdown = {
  /** What is added last is stopped first. */
  add: (part: Stoppable) => void;
  /** What the parts need until they have stopped: ended after them, all at once. */
  addServer: (server: StoppableServer) => void;
  /** Stops everything; the same promise for every caller. */
  run: () => Promise<void>;
  /** Resolves once a signal has come and everything has stopped. */
  afterSignal: Promise<void>;
};

/**
 * Ends what was added when Ctrl-C or another signal comes: the parts in turn, with 4 s for all of them, then the
 * servers. A second Ctrl-C exits at once.
 */
export function createShutdown(progress: Progress): Shutdown {
  const parts: Stoppable[] = [];
  const servers: StoppableServer[] = [];
  let stopped: Promise<void> | undefined;
  const run = (): Promise<void> => {
    stopped ??= stopParts(parts, progress).then(() => stopServers(servers, progress));
    return stopped;
  };
  const afterSignal = new Promise<void>((resolve) => {
    let cameAt: number | undefined;
    const onSignal = (): void => {
      if (cameAt === undefined) {
        cameAt = Date.now();
        progress.print('\nstopping; Ctrl-C again exits at once');
        void run().then(resolve);
      } else if (Date.now() - cameAt > SAME_CTRL_C_MS) {
        for (const server of servers) server.stopNow();
        // Who asks twice waits for nothing more; 130 is what shells call ended by Ctrl-C.
        process.exit(130);
      }
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  });
  return {
    add: (part) => void parts.unshift(part),
    addServer: (server) => void servers.push(server),
    run,
    afterSignal,
  };
}

async function stopParts(parts: Stoppable[], progress: Progress): Promise<void> {
  const late = new AbortController();
  const deadline = sleep(DRAIN_MS, undefined, { signal: late.signal }).then(
    () => progress.print('what has not stopped within 4 s is left; it is taken up again at the next start'),
    () => undefined,
  );
  const inTurn = async (): Promise<void> => {
    for (const part of parts) await stopOne(part, progress);
  };
  await Promise.race([inTurn(), deadline]);
  late.abort();
}

async function stopServers(servers: Stoppable[], progress: Progress): Promise<void> {
  await Promise.all(servers.map((server) => stopOne(server, progress)));
}

/** A part that cannot stop must not keep the others from stopping. */
async function stopOne(part: Stoppable, progress: Progress): Promise<void> {
  try {
    await part.stop();
  } catch (error) {
    progress.print(`${part.name} did not stop cleanly: ${error instanceof Error ? error.message : String(error)}`);
  }
}
