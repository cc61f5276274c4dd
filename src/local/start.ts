import { join } from 'node:path';

import { environment, readConfig, requireLoopback, type Config } from '../config.ts';
import { isUnreleasedSchema, migrate, ofNewerRelease } from '../lib/migrate.ts';
import { lockDataFolder, readState, writeState, type ServiceInfo } from './data-folder.ts';
import { createProgress, LOG_FILE, openLocalLog, type Progress } from './log.ts';
import { createPorts, type Ports } from './ports.ts';
import { ownTemporaryFolder } from './postgres-location.ts';
import { startServers, type LocalServers } from './servers.ts';
import { PORT_SETTINGS, readLocalSettings, type LocalPorts, type LocalSettings } from './settings.ts';
import { createShutdown, type Shutdown } from './shutdown.ts';
import { formatBanner } from './status.ts';
import { findTemporalBinary } from './temporal-binary.ts';

// Reserved for the portal.
const PORTAL_PORT = 4001;
const LOCAL_HOST = '127.0.0.1';

const write = (text: string): void => void process.stdout.write(text);

/**
 * `npm start`: runs everything on this machine until Ctrl-C. `project` is the folder of package.json. Returns the exit
 * code.
 */
export async function start(project: string): Promise<number> {
  const settings = readLocalSettings(environment, project);
  requireLoopback('LISTEN_HOST', environment['LISTEN_HOST'] ?? LOCAL_HOST);
  // All files, including those of child processes, are private: they contain secrets and personal data.
  process.umask(0o077);
  if (settings.TEMPORAL_CLI_PATH) await findTemporalBinary({ givenPath: settings.TEMPORAL_CLI_PATH });
  const lock = await lockDataFolder(settings.dataFolder);
  if ('takenBy' in lock) {
    await describeFirstCopy(settings, lock.takenBy);
    return 0;
  }
  const progress = createProgress(write);
  const ports = createPorts({
    wanted: [...PORT_SETTINGS.map((name) => settings[name]), PORTAL_PORT],
    claimsFolder: join(await ownTemporaryFolder(), 'ports'),
    print: progress.print,
  });
  const shutdown = createShutdown(progress);
  try {
    const startedAt = performance.now();
    const info = await startEverything({ project, settings, progress, shutdown, ports });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    write(`\nMeskot runs, after ${seconds} s.\n\n${formatBanner(info, settings.dataFolder)}\n\n`);
    write('  Ctrl-C stops, "npm run reset" wipes.\n\n');
    await shutdown.afterSignal;
    return 0;
  } finally {
    await shutdown.run();
    ports.release();
    lock.release();
    write('Stopped.\n');
  }
}

type Run = { project: string; settings: LocalSettings; progress: Progress; shutdown: Shutdown; ports: Ports };

async function startEverything(run: Run): Promise<ServiceInfo> {
  const { project, settings, progress, shutdown } = run;
  const starting = [startMigrated(run), loadCode(run)] as const;
  // Both finish before a failure is thrown, so that servers that did start can be stopped.
  await Promise.allSettled(starting);
  const [servers, { startServices, workflowBundle }] = await Promise.all(starting);
  const ports = await choosePorts(run);
  const previous = (await readState(settings.dataFolder))?.info ?? {};
  const config = localConfig(servers, ports, settings.dataFolder);
  const print = (line: string): void => write(`${line}\n`);
  const logFile = join(settings.dataFolder, LOG_FILE);
  const { log, close } = openLocalLog(logFile, { level: config.LOG_LEVEL, write: print });
  shutdown.add({ name: 'the log', stop: async () => close() });
  const services = await startServices({
    project,
    config,
    ports,
    settings,
    workflowBundle,
    previous,
    log,
    write: print,
    start: (name, service) => progress.step(name, () => service((stop) => shutdown.add({ name, stop }))),
  });
  const { temporalAddress, temporalUiUrl, appUrl: databaseUrl } = servers;
  const info: ServiceInfo = { ...services, temporalAddress, temporalUiUrl, databaseUrl };
  writeState(settings.dataFolder, { pid: process.pid, info });
  return info;
}

async function startMigrated(run: Run): Promise<LocalServers> {
  const { project, settings, progress, shutdown, ports } = run;
  const servers = await startServers({ settings, progress, ports, onStarted: shutdown.addServer });
  await progress.step('Migrations', async (describe) => {
    const migrating = migrate({ url: servers.ownerUrl, directory: join(project, 'migrations') });
    const { applied, newer } = await migrating.catch((error: unknown) => {
      if (!isUnreleasedSchema(error) || settings.DATABASE_URL !== undefined) throw error;
      throw new Error(
        `The data folder ${settings.dataFolder} is of an unreleased version of Meskot: ` +
          '"npm run reset" wipes it and starts afresh.',
      );
    });
    if (newer.length > 0) progress.print(ofNewerRelease(newer));
    describe(applied.length === 0 ? 'up to date' : `${applied.length} applied`);
  });
  return servers;
}

/** Loads our own code and the bundled workflows, which takes seconds, while the servers start. */
async function loadCode({ progress }: Run) {
  return progress.step('Code', async () => {
    const [{ startServices }, { bundleWorkflows }] = await Promise.all([
      import('./services.ts'),
      import('../temporal/workers.ts'),
    ]);
    const warn = (message: string): void => progress.print(message);
    return { startServices, workflowBundle: await bundleWorkflows({ warn }) };
  });
}

async function choosePorts({ settings, ports }: Run): Promise<LocalPorts> {
  return {
    API_PORT: await ports.choose('the API', settings.API_PORT),
    SIMULATOR_PORT: await ports.choose('the simulator', settings.SIMULATOR_PORT),
    DEMO_SHOP_PORT: await ports.choose('the demo shop', settings.DEMO_SHOP_PORT),
    METRICS_PORT: await ports.choose('metrics', settings.METRICS_PORT),
  };
}

/** The settings of this start: the environment, completed by the servers and ports found. */
function localConfig(servers: LocalServers, ports: LocalPorts, dataFolder: string): Config {
  return readConfig({
    LOG_LEVEL: 'warn',
    PUBLIC_BASE_URL: `http://localhost:${ports.API_PORT}`,
    SIMULATOR_URL: `http://localhost:${ports.SIMULATOR_PORT}`,
    KYC_DOCUMENTS_DIR: join(dataFolder, 'documents'),
    TEMPORAL_UI_URL: servers.temporalUiUrl,
    REPORTS_DIR: join(dataFolder, 'reports'),
    ...environment,
    DATABASE_URL: servers.appUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    API_PORT: String(ports.API_PORT),
    METRICS_PORT: String(ports.METRICS_PORT),
  });
}

async function describeFirstCopy({ dataFolder }: LocalSettings, pid: number): Promise<void> {
  const state = await readState(dataFolder);
  if (state?.pid !== pid) return write(`Meskot is being started here already, by process ${pid}.\n`);
  write(`Meskot runs here already, as process ${pid}.\n\n${formatBanner(state.info, dataFolder)}\n`);
}
