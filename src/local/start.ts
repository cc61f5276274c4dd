import { join } from 'node:path';

import { insertChannels } from '../app/insert-channels.ts';
import { environment, readConfig, requireLoopback } from '../config.ts';
import { addDefaults, readGiven, replaceSettings } from '../lib/given-settings.ts';
import { isUnreleasedSchema, migrate, ofNewerRelease } from '../lib/migrate.ts';
import { formatBanner } from './commands.ts';
import { createPorts, lockDataFolder, readState, writeState, type Ports, type ServiceInfo } from './data-folder.ts';
import { LOG_FILE, openLocalLog, print, step } from './log.ts';
import { buildPortal } from './portal.ts';
import { ownTemporaryFolder } from './postgres.ts';
import { ensurePostgres, ensureTemporal, stopOrphans } from './servers.ts';
import { localFolders, PORT_SETTINGS, readLocalSettings, type LocalSettings } from './settings.ts';
import { createShutdown, type Shutdown } from './shutdown.ts';
import { findTemporalBinary } from './temporal.ts';

const LOCAL_HOST = '127.0.0.1';

/**
 * `npm start`: runs everything on this machine until Ctrl-C. `project` is the folder of package.json. Returns the exit
 * code.
 */
export async function start(project: string): Promise<number> {
  const wanted = readLocalSettings(environment, project);
  const { dataFolder } = wanted;
  const hosts = readGiven(['LISTEN_HOST', 'CONSOLE_HOST'], environment);
  for (const name of ['LISTEN_HOST', 'CONSOLE_HOST'] as const) requireLoopback(name, hosts[name] ?? LOCAL_HOST);
  // All files, including those of child processes, are private: they contain secrets and personal data.
  process.umask(0o077);
  if (wanted.TEMPORAL_CLI_PATH) await findTemporalBinary({ givenPath: wanted.TEMPORAL_CLI_PATH });
  const lock = await lockDataFolder(dataFolder);
  if ('takenBy' in lock) {
    describeFirstCopy(dataFolder, lock.takenBy);
    return 0;
  }
  const reserved = PORT_SETTINGS.map((name) => wanted[name]);
  const ports = createPorts({ wanted: reserved, claimsFolder: join(await ownTemporaryFolder(), 'ports'), print });
  const shutdown = createShutdown();
  try {
    const startedAt = performance.now();
    await stopOrphans(dataFolder);
    const info = await startEverything(project, await choosePorts(wanted, ports), shutdown);
    writeState(dataFolder, { pid: process.pid, info });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    print(`\nMeskot runs, after ${seconds} s.\n\n${formatBanner(info, dataFolder)}\n`);
    print('  Ctrl-C stops, "npm run reset" wipes.\n');
    await shutdown.afterSignal;
    return 0;
  } finally {
    await shutdown.run();
    ports.release();
    lock.release();
    print('Stopped.');
  }
}

async function choosePorts(settings: LocalSettings, { choose }: Ports): Promise<LocalSettings> {
  const chosen = {
    ...settings,
    API_PORT: await choose('the API', settings.API_PORT),
    PORTAL_PORT: await choose('the portal', settings.PORTAL_PORT),
    SIMULATOR_PORT: await choose('the simulator', settings.SIMULATOR_PORT),
    DEMO_SHOP_PORT: await choose('the demo shop', settings.DEMO_SHOP_PORT),
    CONSOLE_PORT: await choose('the console', settings.CONSOLE_PORT),
    METRICS_PORT: await choose('metrics', settings.METRICS_PORT),
  };
  if (!settings.DATABASE_URL) chosen.POSTGRES_PORT = await choose('PostgreSQL', settings.POSTGRES_PORT);
  if (settings.TEMPORAL_ADDRESS) return chosen;
  chosen.TEMPORAL_PORT = await choose('Temporal', settings.TEMPORAL_PORT);
  chosen.TEMPORAL_UI_PORT = await choose("Temporal's web interface", settings.TEMPORAL_UI_PORT);
  return chosen;
}

/** Starts the servers while our own code loads, which takes seconds, then the services. */
async function startEverything(project: string, settings: LocalSettings, shutdown: Shutdown): Promise<ServiceInfo> {
  const { dataFolder, API_PORT, METRICS_PORT, PORTAL_PORT, CONSOLE_PORT, SIMULATOR_PORT } = settings;
  const migrations = join(project, 'migrations');
  const starting = [
    ensurePostgres(settings, shutdown).then((urls) => migrated(settings, migrations, urls)),
    ensureTemporal(settings, shutdown),
    loadCode(),
    buildPortal(project, dataFolder),
  ] as const;
  // All finish before a failure is thrown, so that servers that did start can be stopped.
  await Promise.allSettled(starting);
  const [databaseUrl, { temporalAddress, temporalUiUrl }, { startServices, workflowBundle }, pagesFolder] =
    await Promise.all(starting);
  const defaults = {
    LOG_LEVEL: 'warn',
    PUBLIC_BASE_URL: `http://localhost:${API_PORT}`,
    PORTAL_URL: `http://localhost:${PORTAL_PORT}`,
    CONSOLE_URL: `http://localhost:${CONSOLE_PORT}`,
    PORTAL_PAGES_DIR: pagesFolder,
    SIMULATOR_URL: `http://localhost:${SIMULATOR_PORT}`,
    TEMPORAL_UI_URL: temporalUiUrl,
    ...localFolders(dataFolder),
  };
  const chosen = {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    API_PORT: String(API_PORT),
    METRICS_PORT: String(METRICS_PORT),
    PORTAL_PORT: String(PORTAL_PORT),
    CONSOLE_PORT: String(CONSOLE_PORT),
  };
  const config = readConfig(replaceSettings(addDefaults(environment, defaults), chosen));
  const { log, close } = openLocalLog(join(dataFolder, LOG_FILE), { level: config.LOG_LEVEL, write: print });
  shutdown.add({ name: 'the log', stop: async () => close() });
  const info = await startServices({ project, config, settings, workflowBundle, log, shutdown });
  return { ...info, temporalAddress, temporalUiUrl, databaseUrl };
}

/** Applies the migrations. Returns the application's URL. */
async function migrated(
  { dataFolder, DATABASE_URL }: LocalSettings,
  directory: string,
  { ownerUrl, appUrl }: { ownerUrl: string; appUrl: string },
): Promise<string> {
  await step('Migrations', async (describe) => {
    const { applied, newer } = await migrate({ url: ownerUrl, directory, insertRows: insertChannels }).catch(
      (error: unknown) => {
        if (!isUnreleasedSchema(error) || DATABASE_URL !== undefined) throw error;
        throw new Error(
          `The data folder ${dataFolder} is of an unreleased version of Meskot: "npm run reset" wipes it and starts afresh.`,
        );
      },
    );
    if (newer.length > 0) print(ofNewerRelease(newer));
    describe(applied.length === 0 ? 'up to date' : `${applied.length} applied`);
  });
  return appUrl;
}

async function loadCode() {
  return step('Code', async () => {
    const [{ startServices }, { bundleWorkflows }] = await Promise.all([
      import('./services.ts'),
      import('../temporal/workers.ts'),
    ]);
    return { startServices, workflowBundle: await bundleWorkflows({ warn: print }) };
  });
}

function describeFirstCopy(dataFolder: string, holder: number): void {
  const { pid, info } = readState(dataFolder);
  if (pid !== holder) print(`Meskot is being started here already, by process ${holder}.`);
  else print(`Meskot runs here already, as process ${pid}.\n\n${formatBanner(info, dataFolder)}`);
}
