import { statfsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

import { bundleWorkflowCode } from '@temporalio/worker';

import { environment } from '../../src/config.ts';
import { migrate } from '../../src/lib/migrate.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { isAlive, processStartTime, writePidFile, type Child, stopOrphan } from '../../src/local/child-process.ts';
import { ensureDatabase, startPostgres, POSTGRES_PID_FILE, type LocalPostgres } from '../../src/local/postgres.ts';
import { readLocalSettings } from '../../src/local/settings.ts';
import { type LocalTemporal, findTemporalBinary, startTemporal, TEMPORAL_PID_FILE } from '../../src/local/temporal.ts';
import { buildProgram } from './build-program.ts';
import { EVENTS_OF_A_RUN, STACK_VARIABLE, TEMPLATE_DATABASE, type TestStack } from './stack-facts.ts';

const PREFIX = 'meskot-test-';
const PROJECT = resolve(import.meta.dirname, '../..');
const MEMORY = '/dev/shm';
const ROOM_NEEDED_BYTES = 4_000_000_000;
/** In memory if there is room: the databases of the test files consist of thousands of short-lived small files. */
const SCRATCH = hasRoom(MEMORY) ? MEMORY : tmpdir();

/** The servers that the chosen test files need besides PostgreSQL (needs.mjs). */
export type NeededServers = { temporal: boolean; workflows: boolean; program: boolean };

/**
 * Starts the shared servers: PostgreSQL with the migrated template database and, if a test file needs them, a Temporal
 * server that can skip time, the bundled workflows and the built program. One environment variable passes the addresses to
 * the test files.
 */
export async function startTestStack(needed: NeededServers): Promise<{ stop: () => Promise<void> }> {
  await clearAbortedRuns();
  const folder = await mkdtemp(join(SCRATCH, PREFIX));
  // PostgreSQL may run as another user, who must be able to enter the folder.
  await chmod(folder, 0o711);
  writePidFile(join(folder, 'owner.pid'), { pid: process.pid, mark: (await processStartTime(process.pid)) ?? '' });
  const stop = async (): Promise<void> => clear(folder);
  try {
    const [postgres, temporal, workflowBundlePath, programFolder] = await Promise.all([
      preparePostgres(folder),
      needed.temporal ? prepareTemporal(folder) : undefined,
      needed.workflows ? bundleWorkflows(folder) : undefined,
      needed.program ? prepareProgram(folder) : undefined,
    ]);
    const stack: TestStack = {
      superuserUrl: postgres.url('postgres', 'superuser'),
      ownerUrl: postgres.url('postgres', 'owner'),
      appUrl: postgres.url('postgres', 'app'),
      temporalAddress: temporal?.address ?? '',
      workflowBundlePath,
      programFolder,
    };
    process.env[STACK_VARIABLE] = JSON.stringify(stack);
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function preparePostgres(folder: string): Promise<LocalPostgres> {
  const postgres = await startPostgres({
    folder: join(folder, 'postgres'),
    choosePort: anyFreePort,
    durable: false,
  });
  await ensureDatabase(postgres.url('postgres', 'owner'), TEMPLATE_DATABASE);
  await migrate({ url: postgres.url(TEMPLATE_DATABASE, 'owner'), directory: join(PROJECT, 'migrations') });
  return postgres;
}

async function prepareTemporal(folder: string): Promise<LocalTemporal> {
  const { TEMPORAL_CLI_PATH: givenPath, XDG_CACHE_HOME: cacheFolder } = readLocalSettings(environment, PROJECT);
  const temporal = await startTemporal({
    findBinary: () => findTemporalBinary({ givenPath, cacheFolder }),
    folder: join(folder, 'temporal'),
    choosePorts: async () => ({ port: await anyFreePort() }),
    dynamicConfig: {
      'frontend.WorkflowTimeSkippingEnabled': 'true',
      'history.timerProcessorMaxTimeShift': '"10ms"',
      'limit.historyCount.suggestContinueAsNew': String(EVENTS_OF_A_RUN),
    },
  });
  // Search attributes and schedules are registered here, by ensureTemporal of src/temporal/client.ts.
  return temporal;
}

async function bundleWorkflows(folder: string): Promise<string> {
  const workflowsPath = join(PROJECT, 'workflows/index.ts');
  const logger = { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error };
  const workflowInterceptorModules = [join(PROJECT, 'workflows/interceptors.ts')];
  const { code } = await bundleWorkflowCode({ workflowsPath, workflowInterceptorModules, logger });
  const path = join(folder, 'workflows.js');
  await writeFile(path, code);
  return path;
}

async function prepareProgram(folder: string): Promise<string> {
  const path = join(folder, 'program');
  await buildProgram(path);
  return path;
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM_NEEDED_BYTES;
  } catch {
    return false;
  }
}

/** Stops the servers of killed runs: their folders name them. */
async function clearAbortedRuns(): Promise<void> {
  const places = [...new Set([SCRATCH, tmpdir()])];
  const names = (
    await Promise.all(places.map(async (place) => (await readdir(place)).map((name) => join(place, name))))
  ).flat();
  const folders = names.filter((name) => basename(name).startsWith(PREFIX));
  await Promise.all(
    folders.map(async (folder) => {
      const scope = await readOwner(folder);
      if (scope && !(await isAlive(scope))) await clear(folder);
    }),
  );
}

async function readOwner(folder: string): Promise<Child | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, 'owner.pid'), 'utf8')) as Child;
  } catch {
    return undefined;
  }
}

async function clear(folder: string): Promise<void> {
  await Promise.all([
    stopOrphan(join(folder, 'postgres', POSTGRES_PID_FILE)),
    stopOrphan(join(folder, 'temporal', TEMPORAL_PID_FILE)),
  ]);
  await rm(folder, { recursive: true, force: true });
}
