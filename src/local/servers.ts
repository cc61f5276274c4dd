import { join } from 'node:path';

import type { Ports } from './ports.ts';
import { ensureDatabase, startPostgres } from './postgres.ts';
import type { Progress } from './progress.ts';
import type { LocalSettings } from './settings.ts';
import type { StoppableServer } from './shutdown.ts';
import { findTemporalBinary } from './temporal-binary.ts';
import { startTemporal, type TemporalPorts } from './temporal.ts';
import { watchServer } from './watch.ts';

const DATABASE = 'meskot';

/** What the rest runs on: started here, or given by the environment. */
export type LocalServers = {
  ownerUrl: string;
  appUrl: string;
  temporalAddress: string;
  /** Unknown for a server that is not ours. */
  temporalUiUrl: string | undefined;
};

export type ServersOptions = {
  settings: LocalSettings;
  progress: Progress;
  ports: Ports;
  /** Told of each server as soon as it is there, so that it is stopped whatever happens to the other. */
  onStarted: (server: StoppableServer) => void;
};

/** Starts PostgreSQL and Temporal at the same time, unless the environment names others. */
export async function startServers(options: ServersOptions): Promise<LocalServers> {
  const starting = [startOurPostgres(options), startOurTemporal(options)] as const;
  // Both come to an end before a failure is told, so that the one that did start can be stopped.
  await Promise.allSettled(starting);
  const [postgres, temporal] = await Promise.all(starting);
  return { ...postgres, ...temporal };
}

async function startOurPostgres(options: ServersOptions): Promise<Pick<LocalServers, 'ownerUrl' | 'appUrl'>> {
  const { settings, progress } = options;
  if (settings.databaseUrl) return { ownerUrl: settings.databaseUrl, appUrl: settings.databaseUrl };
  const start = (choose: () => Promise<number>) =>
    startPostgres({ folder: join(settings.dataFolder, 'postgres'), choosePort: choose, durable: true });
  const server = await progress.step('PostgreSQL', async (describe) => {
    const started = await start(() => freePort(options, 'PostgreSQL', settings.ports.postgres));
    if (started.note) progress.print(started.note);
    describe(`port ${started.port}${started.reused ? ', was still running' : ''}`);
    return started;
  });
  const { child, port } = server;
  const restart = async () => (await start(async () => port)).child;
  const signals = { stop: 'SIGINT', stopNow: 'SIGQUIT' } as const;
  options.onStarted(watchServer({ name: 'PostgreSQL', child, signals, restart, progress }));
  await ensureDatabase(server.url('postgres', 'owner'), DATABASE);
  return { ownerUrl: server.url(DATABASE, 'owner'), appUrl: server.url(DATABASE, 'app') };
}

async function startOurTemporal(
  options: ServersOptions,
): Promise<Pick<LocalServers, 'temporalAddress' | 'temporalUiUrl'>> {
  const { settings, progress } = options;
  if (settings.temporalAddress) return { temporalAddress: settings.temporalAddress, temporalUiUrl: undefined };
  const { temporalCliPath: givenPath, cacheFolder } = settings;
  const start = (choosePorts: () => Promise<TemporalPorts>) =>
    startTemporal({
      folder: join(settings.dataFolder, 'temporal'),
      findBinary: () => findTemporalBinary({ givenPath, cacheFolder, print: progress.print }),
      choosePorts,
    });
  const server = await progress.step('Temporal', async (describe) => {
    const started = await start(async () => ({
      port: await freePort(options, 'Temporal', settings.ports.temporal),
      uiPort: await freePort(options, "Temporal's web interface", settings.ports.temporalUi),
    }));
    describe(`port ${started.ports.port}${started.reused ? ', was still running' : ''}`);
    return started;
  });
  const { child, ports } = server;
  const restart = async () => (await start(async () => ports)).child;
  const signals = { stop: 'SIGTERM', stopNow: 'SIGKILL' } as const;
  options.onStarted(watchServer({ name: 'Temporal', child, signals, restart, progress }));
  return { temporalAddress: server.address, temporalUiUrl: server.uiUrl };
}

/** The wanted port or the next free one; says so when it had to move. */
export async function freePort(
  options: Pick<ServersOptions, 'progress' | 'ports'>,
  name: string,
  wanted: number,
): Promise<number> {
  const port = await options.ports.choose(wanted);
  if (port !== wanted) options.progress.print(`port ${wanted} is taken; ${name} uses ${port}`);
  return port;
}
