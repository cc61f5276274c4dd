import { withTimeout } from '../lib/timeout.ts';
import type { Child } from './child-process.ts';
import { print } from './log.ts';

const DRAIN_MS = 4_000;
// npm forwards a Ctrl-C that the terminal has already sent to us.
const SAME_CTRL_C_MS = 500;

type Stoppable = { name: string; stop: () => Promise<void> };

/** `child` is the process that runs at the moment. */
type StoppableServer = Stoppable & { child: () => Child };

export type Shutdown = ReturnType<typeof createShutdown>;

/**
 * Stops everything on Ctrl-C or another signal: the services in turn, within 4 s for all of them, then the servers. A
 * second Ctrl-C kills the servers and exits at once.
 */
export function createShutdown() {
  const services: Stoppable[] = [];
  const servers: StoppableServer[] = [];
  let stopped: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    const inTurn = async (): Promise<true> => {
      for (const service of services) await stopOne(service);
      return true;
    };
    if (!(await withTimeout(inTurn(), DRAIN_MS))) {
      print('Some services did not stop within 4 s. The next start continues their work.');
    }
    await Promise.all(servers.map(stopOne));
  };
  const run = (): Promise<void> => (stopped ??= stopAll());
  const afterSignal = new Promise<void>((resolve) => {
    let signalledAt: number | undefined;
    const onSignal = (): void => {
      if (signalledAt === undefined) {
        signalledAt = Date.now();
        print('\nStopping. Ctrl-C again exits at once.');
        void run().then(resolve);
      } else if (Date.now() - signalledAt > SAME_CTRL_C_MS) {
        for (const { child } of servers) kill(child());
        // 130 is the shell's exit code for Ctrl-C.
        process.exit(130);
      }
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  });
  return {
    /** The service added last is stopped first. */
    add: (service: Stoppable): void => void services.unshift(service),
    /** Servers are stopped after all services, at the same time. */
    addServer: (server: StoppableServer): void => void servers.push(server),
    run,
    /** Resolves once a signal has come and everything has stopped. */
    afterSignal,
  };
}

/** A failure to stop does not keep the others from stopping. */
async function stopOne({ name, stop }: Stoppable): Promise<void> {
  await stop().catch((error: unknown) => {
    print(`${name} did not stop cleanly: ${error instanceof Error ? error.message : String(error)}`);
  });
}

/** At SIGQUIT PostgreSQL ends its own processes, without a checkpoint; SIGKILL would leave them. */
function kill({ pid }: Child): void {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch {
    // It has ended already.
  }
}
