import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { isAlive, stopOrphan, type Server } from './child-process.ts';
import { print, step } from './log.ts';
import { ensureDatabase, findPostgresFolder, startPostgres, POSTGRES_PID_FILE } from './postgres.ts';
import type { LocalSettings } from './settings.ts';
import type { Shutdown } from './shutdown.ts';
import { findTemporalBinary, startTemporal, TEMPORAL_PID_FILE } from './temporal.ts';

const DATABASE = 'meskot';
const WATCH_EVERY_MS = 500;

const postgresFolder = (dataFolder: string): string => join(dataFolder, 'postgres');
const temporalFolder = (dataFolder: string): string => join(dataFolder, 'temporal');

/** Stops servers that a killed process left running on this folder. Returns the folders that they store their data in. */
export async function stopOrphans(dataFolder: string): Promise<string[]> {
  const [postgres, temporal] = [await findPostgresFolder(postgresFolder(dataFolder)), temporalFolder(dataFolder)];
  await Promise.all([join(postgres, POSTGRES_PID_FILE), join(temporal, TEMPORAL_PID_FILE)].map(stopOrphan));
  return [postgres, temporal];
}

/** The addresses of PostgreSQL, for its owner and the application, unless the environment has one: started here. */
export async function ensurePostgres(settings: LocalSettings, shutdown: Shutdown) {
  const { DATABASE_URL: givenUrl, dataFolder, POSTGRES_PORT: port } = settings;
  if (givenUrl) return { ownerUrl: givenUrl, appUrl: givenUrl };
  const wanted = postgresFolder(dataFolder);
  const start = () => startPostgres({ folder: wanted, choosePort: async () => port, durable: true });
  const { folder, url } = await supervise('PostgreSQL', start, shutdown);
  if (folder !== wanted)
    print(`The user nobody, who runs PostgreSQL, cannot reach ${wanted}: its data is in ${folder}.`);
  await ensureDatabase(url('postgres', 'owner'), DATABASE);
  return { ownerUrl: url(DATABASE, 'owner'), appUrl: url(DATABASE, 'app') };
}

/** The same for Temporal. The web interface of a server from the environment is unknown. */
export async function ensureTemporal(settings: LocalSettings, shutdown: Shutdown) {
  const { TEMPORAL_ADDRESS: givenAddress, TEMPORAL_CLI_PATH: givenPath, XDG_CACHE_HOME: cacheFolder } = settings;
  if (givenAddress) return { temporalAddress: givenAddress, temporalUiUrl: undefined };
  const folder = temporalFolder(settings.dataFolder);
  const findBinary = () => findTemporalBinary({ givenPath, cacheFolder, print });
  const ports = { port: settings.TEMPORAL_PORT, uiPort: settings.TEMPORAL_UI_PORT };
  const start = () => startTemporal({ folder, findBinary, choosePorts: async () => ports });
  const { address, uiUrl } = await supervise('Temporal', start, shutdown);
  return { temporalAddress: address, temporalUiUrl: uiUrl };
}

/** Starts a server, and again on the same port when it ends or is killed, until it is stopped. */
async function supervise<Started extends Server & { port: number }>(
  name: string,
  start: () => Promise<Started>,
  shutdown: Shutdown,
): Promise<Started> {
  const first = await step(name, async (describe) => {
    const started = await start();
    describe(`port ${started.port}`);
    return started;
  });
  let server = first;
  const stopping = new AbortController();
  const watch = async (): Promise<void> => {
    for (;;) {
      await sleep(WATCH_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      if (await isAlive(server.child)) continue;
      print(`${name} has ended; starting it again`);
      try {
        server = await start();
        print(`${name} runs again`);
      } catch (error) {
        print(`${name} could not be started: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  const watching = watch();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await watching;
    await server.stop();
  };
  shutdown.addServer({ name, stop, child: () => server.child });
  return first;
}
