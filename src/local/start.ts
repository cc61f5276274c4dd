import { join } from 'node:path';

import { environment, readConfig, requireLoopback, type Config } from '../config.ts';
import { isUnreleasedSchema, migrate, ofNewerRelease } from '../lib/migrate.ts';
import { formatBanner, LOG_FILE } from './banner.ts';
import { openLocalLog } from './log.ts';
import { createPorts, type Ports } from './ports.ts';
import { ownTemporaryFolder } from './postgres-location.ts';
import { createProgress, type Progress } from './progress.ts';
import { freePort, startServers, type LocalServers } from './servers.ts';
import { readLocalSettings, type LocalPorts, type LocalSettings } from './settings.ts';
import { createShutdown, type Shutdown } from './shutdown.ts';
import { claimFolder, readState, writeState, type Facts } from './state.ts';
import { findTemporalBinary } from './temporal-binary.ts';

// Kept free for the portal, so that the API does not move there.
const PORTAL_PORT = 4001;
const LOCAL_HOST = '127.0.0.1';

const write = (text: string): void => void process.stdout.write(text);

/**
 * `npm start`: everything on this machine, until Ctrl-C. `project` is the folder of package.json. Returns the exit
 * code.
 */
export async function start(project: string): Promise<number> {
  const settings = readLocalSettings(environment, project);
  requireLoopback('LISTEN_HOST', environment['LISTEN_HOST'] ?? LOCAL_HOST);
  // Whatever is written here, by our children too, is for this user alone: secrets and people's data are in it.
  process.umask(0o077);
  if (settings.temporalCliPath) await findTemporalBinary({ givenPath: settings.temporalCliPath });
  const claim = await claimFolder(settings.dataFolder);
  if ('takenBy' in claim) return greetSecondCopy(settings, claim.takenBy);
  const ports = createPorts({
    wanted: [...Object.values(settings.ports), PORTAL_PORT],
    claimsFolder: join(await ownTemporaryFolder(), 'ports'),
  });
  const progress = createProgress(write);
  const shutdown = createShutdown(progress);
  try {
    const startedAt = performance.now();
    const facts = await startEverything({ project, settings, progress, shutdown, ports });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    write(`\nMeskot runs, after ${seconds} s.\n\n${formatBanner(facts, settings.dataFolder)}\n\n`);
    write('  Ctrl-C stops, "npm run reset" wipes.\n\n');
    await shutdown.afterSignal;
    return 0;
  } finally {
    await shutdown.run();
    ports.release();
    claim.release();
    write('stopped\n');
  }
}

type Run = { project: string; settings: LocalSettings; progress: Progress; shutdown: Shutdown; ports: Ports };

async function startEverything(run: Run): Promise<Facts> {
  const { project, settings, progress, shutdown } = run;
  const starting = [startMigrated(run), loadCode(run)] as const;
  // Both come to an end before a failure is told, so that servers that did start can be stopped.
  await Promise.allSettled(starting);
  const [servers, { localParts, workflowBundle }] = await Promise.all(starting);
  const ports = await chooseOurPorts(run);
  const previous = (await readState(settings.dataFolder))?.facts ?? {};
  const config = localConfig(servers, ports, settings.dataFolder);
  const facts: Facts = {
    temporalAddress: servers.temporalAddress,
    databaseUrl: servers.appUrl,
    ...(servers.temporalUiUrl === undefined ? {} : { temporalUiUrl: servers.temporalUiUrl }),
  };
  const { dataFolder, demoPayments, demoCustomerSeconds } = settings;
  const print = (line: string): void => write(`${line}\n`);
  const { log, close } = openLocalLog(join(dataFolder, LOG_FILE), { level: config.LOG_LEVEL, write: print });
  shutdown.add({ name: 'the log', stop: async () => close() });
  const parts = localParts({
    project,
    config,
    ports,
    previous,
    dataFolder,
    demoPayments,
    demoCustomerSeconds,
    workflowBundle,
    log,
    write: print,
  });
  for (const part of parts) {
    const running = await progress.step(part.name, part.start);
    shutdown.add({ name: part.name, stop: running.stop });
    Object.assign(facts, running.facts);
  }
  writeState(settings.dataFolder, { pid: process.pid, facts });
  return facts;
}

async function startMigrated(run: Run): Promise<LocalServers> {
  const { project, settings, progress, shutdown, ports } = run;
  const servers = await startServers({ settings, progress, ports, onStarted: shutdown.addServer });
  await progress.step('Migrations', async (describe) => {
    const migrating = migrate({ url: servers.ownerUrl, directory: join(project, 'migrations') });
    const { applied, newer } = await migrating.catch((error: unknown) => {
      throw isUnreleasedSchema(error) && settings.databaseUrl === undefined ? ofUnreleasedVersion(settings) : error;
    });
    if (newer.length > 0) progress.print(ofNewerRelease(newer));
    describe(applied.length === 0 ? 'up to date' : `${applied.length} applied`);
  });
  return servers;
}

function ofUnreleasedVersion({ dataFolder }: LocalSettings): Error {
  return new Error(
    `The data folder ${dataFolder} is of an unreleased version of Meskot: "npm run reset" wipes it and starts afresh.`,
  );
}

/** Our own code and the bundled workflows: seconds of work, done while the servers start. */
async function loadCode({ settings, progress }: Run) {
  return progress.step('Code', async () => {
    const [{ localParts }, { bundleWorkflowsCached }] = await Promise.all([
      import('./services.ts'),
      import('../temporal/bundle.ts'),
    ]);
    const warn = (message: string): void => progress.print(message);
    return { localParts, workflowBundle: await bundleWorkflowsCached(settings.dataFolder, { warn }) };
  });
}

async function chooseOurPorts({ settings, progress, ports }: Run): Promise<LocalPorts> {
  const choose = (name: string, wanted: number) => freePort({ progress, ports }, name, wanted);
  return {
    api: await choose('the API', settings.ports.api),
    simulator: await choose('the simulator', settings.ports.simulator),
    demoShop: await choose('the demo shop', settings.ports.demoShop),
    metrics: await choose('metrics', settings.ports.metrics),
  };
}

/** The settings of this start: what the environment says, and for the rest what was just found. */
function localConfig(servers: LocalServers, ports: LocalPorts, dataFolder: string): Config {
  return readConfig({
    LOG_LEVEL: 'warn',
    PUBLIC_BASE_URL: `http://localhost:${ports.api}`,
    SIMULATOR_URL: `http://localhost:${ports.simulator}`,
    KYC_DOCUMENTS_DIR: join(dataFolder, 'documents'),
    ...(servers.temporalUiUrl === undefined ? {} : { TEMPORAL_UI_URL: servers.temporalUiUrl }),
    REPORTS_DIR: join(dataFolder, 'reports'),
    ...environment,
    DATABASE_URL: servers.appUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    API_PORT: String(ports.api),
    METRICS_PORT: String(ports.metrics),
  });
}

async function greetSecondCopy(settings: LocalSettings, pid: number): Promise<number> {
  const state = await readState(settings.dataFolder);
  if (state?.pid !== pid) {
    write(`Meskot is being started here already, by process ${pid}.\n`);
    return 0;
  }
  write(`Meskot runs here already, as process ${pid}.\n\n${formatBanner(state.facts, settings.dataFolder)}\n`);
  return 0;
}
