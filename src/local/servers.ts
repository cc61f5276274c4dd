import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { isAlive, stopChild, type Child } from './child-process.ts';
import type { Progress } from './log.ts';
import type { Ports } from './ports.ts';
import { ensureDatabase, startPostgres } from './postgres.ts';
import type { LocalSettings } from './settings.ts';
import type { StoppableServer } from './shutdown.ts';
import { findTemporalBinary } from './temporal-binary.ts';
import { startTemporal, type TemporalPorts } from './temporal.ts';

const DATABASE = 'meskot';
const WATCH_EVERY_MS = 500;
const STOP_TIMEOUT_MS = 1_500;

/** The servers below the services: started here, or given by the environment. */
export type LocalServers = {
  ownerUrl: string;
  appUrl: string;
  temporalAddress: string;
  /** Unknown for a server from the environment. */
  temporalUiUrl: string | undefined;
};

export type ServersOptions = {
  settings: LocalSettings;
  progress: Progress;
  ports: Ports;
  /** Called as soon as a server runs, so that it is stopped even if the other one fails. */
  onStarted: (server: StoppableServer) => void;
};

/** Starts PostgreSQL and Temporal at the same time, except those that the environment names. */
export async function startServers(options: ServersOptions): Promise<LocalServers> {
  const starting = [ensurePostgres(options), ensureTemporal(options)] as const;
  // Both finish before a failure is thrown, so that the one that did start can be stopped.
  await Promise.allSettled(starting);
  const [postgres, temporal] = await Promise.all(starting);
  return { ...postgres, ...temporal };
}

async function ensurePostgres(options: ServersOptions): Promise<Pick<LocalServers, 'ownerUrl' | 'appUrl'>> {
  const { settings, progress } = options;
  const { DATABASE_URL: givenUrl } = settings;
  if (givenUrl) return { ownerUrl: givenUrl, appUrl: givenUrl };
  const folder = join(settings.dataFolder, 'postgres');
  const start = (choosePort: () => Promise<number>) => startPostgres({ folder, choosePort, durable: true });
  const server = await startAsStep(progress, 'PostgreSQL', () =>
    start(() => options.ports.choose('PostgreSQL', settings.POSTGRES_PORT)),
  );
  if (server.note) progress.print(server.note);
  const restart = async () => (await start(async () => server.port)).child;
  const signals = { stop: 'SIGINT', stopNow: 'SIGQUIT' } as const;
  options.onStarted(superviseServer({ name: 'PostgreSQL', child: server.child, signals, restart, progress }));
  await ensureDatabase(server.url('postgres', 'owner'), DATABASE);
  return { ownerUrl: server.url(DATABASE, 'owner'), appUrl: server.url(DATABASE, 'app') };
}

async function ensureTemporal(
  options: ServersOptions,
): Promise<Pick<LocalServers, 'temporalAddress' | 'temporalUiUrl'>> {
  const { settings, progress } = options;
  const { TEMPORAL_ADDRESS: givenAddress, TEMPORAL_CLI_PATH: givenPath, XDG_CACHE_HOME: cacheFolder } = settings;
  if (givenAddress) return { temporalAddress: givenAddress, temporalUiUrl: undefined };
  const folder = join(settings.dataFolder, 'temporal');
  const findBinary = () => findTemporalBinary({ givenPath, cacheFolder, print: progress.print });
  const start = (choosePorts: () => Promise<TemporalPorts>) => startTemporal({ folder, findBinary, choosePorts });
  const server = await startAsStep(progress, 'Temporal', () =>
    start(async () => ({
      port: await options.ports.choose('Temporal', settings.TEMPORAL_PORT),
      uiPort: await options.ports.choose("Temporal's web interface", settings.TEMPORAL_UI_PORT),
    })),
  );
  const restart = async () => (await start(async () => ({ port: server.port, uiPort: server.uiPort }))).child;
  const signals = { stop: 'SIGTERM', stopNow: 'SIGKILL' } as const;
  options.onStarted(superviseServer({ name: 'Temporal', child: server.child, signals, restart, progress }));
  return { temporalAddress: server.address, temporalUiUrl: server.uiUrl };
}

function startAsStep<Server extends { port: number; reused: boolean }>(
  progress: Progress,
  name: string,
  start: () => Promise<Server>,
): Promise<Server> {
  return progress.step(name, async (describe) => {
    const server = await start();
    describe(`port ${server.port}${server.reused ? ', was still running' : ''}`);
    return server;
  });
}

type Supervision = {
  name: string;
  child: Child;
  /** Ends the server gracefully, and at once. */
  signals: { stop: NodeJS.Signals; stopNow: NodeJS.Signals };
  /** Starts it again on the same ports. */
  restart: () => Promise<Child>;
  progress: Progress;
};

/** Restarts a server that ends or is killed, until it is stopped. */
function superviseServer(options: Supervision): StoppableServer {
  const { name, signals, progress } = options;
  const stopping = new AbortController();
  let { child } = options;
  const supervise = async (): Promise<void> => {
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
  const supervising = supervise();
  return {
    name,
    stop: async () => {
      stopping.abort();
      await supervising;
      await stopChild(child, signals.stop, STOP_TIMEOUT_MS);
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
