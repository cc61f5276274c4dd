import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { environment } from '../../src/config.ts';
import { migrate } from '../../src/lib/migrate.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import {
  findChild,
  isAlive,
  processStartTime,
  startChild,
  stopChild,
  writePidFile,
  type Child,
  stopOrphan,
} from '../../src/local/child-process.ts';
import { ensureDatabase, startPostgres, POSTGRES_PID_FILE, type LocalPostgres } from '../../src/local/postgres.ts';
import { readLocalSettings } from '../../src/local/settings.ts';
import { type LocalTemporal, findTemporalBinary, startTemporal, TEMPORAL_PID_FILE } from '../../src/local/temporal.ts';
import { buildProgram } from '../support/build-program.ts';

const PREFIX = 'meskot-bench-';
const PROJECT = resolve(import.meta.dirname, '../..');
const TEMPLATE = 'meskot_template';
/** Includes slow starts on a busy machine. */
const READY_WITHIN_MS = 120_000;
const SERVER_STARTS = 3;
/** Longer than the worker's own grace period for sends in flight. */
const STOP_WITHIN_MS = 20_000;

export type Script = {
  /** The name of the log and the pid file. */
  name: string;
  /** The built file, relative to the project's folder. */
  file: string;
  args?: readonly string[];
  settings?: Readonly<Record<string, string>>;
};

export type Running = Child & {
  /** The output so far. */
  output: () => Promise<string>;
  stop: () => Promise<void>;
  /** Kills it like a crash. */
  kill: () => void;
};

/** A PostgreSQL and a Temporal server for the bench, and the project as deployed: built, on plain Node. */
export type BenchStack = {
  postgres: LocalPostgres;
  temporal: LocalTemporal;
  /** Creates another migrated database: its URLs with the application's role and the owner's. */
  newDatabase: () => Promise<{ url: string; ownerUrl: string }>;
  /** The URL of the server's own database as superuser, for statement statistics. */
  superuserUrl: string;
  /** The temporary folder. */
  folder: string;
  /** Starts a built script in another process; resolves when polling `isReady` returns true. */
  run: (script: Script, isReady: (running: Running) => Promise<boolean>) => Promise<Running>;
  /** Stops all running processes and deletes the folder. */
  clear: () => Promise<void>;
};

export type StackOptions = {
  say: (line: string) => void;
  /**
   * Each process writes a CPU profile to this folder when it ends, as <name>.cpuprofile; PostgreSQL collects statement
   * statistics (profile.ts), which costs a little itself.
   */
  profileFolder?: string | undefined;
};

export async function prepareStack({ say, profileFolder }: StackOptions): Promise<BenchStack> {
  await clearAbortedRuns();
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  // PostgreSQL may run as another user, who must be able to enter the folder.
  await chmod(folder, 0o711);
  writePidFile(join(folder, 'owner.pid'), { pid: process.pid, mark: (await processStartTime(process.pid)) ?? '' });
  const clear = async (): Promise<void> => clearFolder(folder);
  onSignal(clear);
  try {
    say('building the project, starting PostgreSQL and Temporal');
    const isProfiled = profileFolder !== undefined;
    const servers = [preparePostgres(folder, isProfiled), patiently(() => prepareTemporal(folder))] as const;
    const parts = [...servers, buildProgram(join(folder, 'app'), { more: ['test/bench'] })];
    // If one fails the others may still be starting: only started ones can be stopped.
    await Promise.allSettled(parts);
    const [postgres, temporal] = await Promise.all(servers);
    await Promise.all(parts);
    let databases = 0;
    return {
      postgres,
      temporal,
      superuserUrl: postgres.url('postgres', 'superuser'),
      newDatabase: async () => {
        databases += 1;
        const name = `meskot_${databases}`;
        await asOwner(postgres.url('postgres', 'owner'), `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
        return { url: postgres.url(name, 'app'), ownerUrl: postgres.url(name, 'owner') };
      },
      folder,
      run: (script, isReady) => runScript(folder, { ...script, flags: profileFlags(script, profileFolder) }, isReady),
      clear,
    };
  } catch (error) {
    await clear();
    throw error;
  }
}

/** As deployed, plus commit timestamps, from which latencies are measured. */
async function preparePostgres(folder: string, isProfiled: boolean): Promise<LocalPostgres> {
  const options = { folder: join(folder, 'postgres'), choosePort: anyFreePort, durable: true };
  const first = await patiently(() => startPostgres(options));
  const settings = [
    'ALTER SYSTEM SET track_commit_timestamp = on',
    ...(isProfiled ? ["ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'"] : []),
  ];
  await asOwner(first.url('postgres', 'superuser'), ...settings);
  await first.stop();
  const postgres = await patiently(() => startPostgres(options));
  if (isProfiled) await asOwner(postgres.url('postgres', 'superuser'), 'CREATE EXTENSION pg_stat_statements');
  await ensureDatabase(postgres.url('postgres', 'owner'), TEMPLATE);
  await migrate({ url: postgres.url(TEMPLATE, 'owner'), directory: join(PROJECT, 'migrations') });
  return postgres;
}

/** A start that takes half a minute is repeated. */
async function patiently<T>(start: () => Promise<T>): Promise<T> {
  for (let left = SERVER_STARTS - 1; ; left -= 1) {
    try {
      return await start();
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

async function prepareTemporal(folder: string): Promise<LocalTemporal> {
  const { TEMPORAL_CLI_PATH: givenPath, XDG_CACHE_HOME: cacheFolder } = readLocalSettings(environment, PROJECT);
  return startTemporal({
    findBinary: () => findTemporalBinary({ givenPath, cacheFolder }),
    folder: join(folder, 'temporal'),
    choosePorts: async () => ({ port: await anyFreePort() }),
  });
}

function profileFlags({ name }: Script, folder: string | undefined): string[] {
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}.cpuprofile`];
}

async function runScript(
  folder: string,
  script: Script & { flags: readonly string[] },
  isReady: (running: Running) => Promise<boolean>,
): Promise<Running> {
  const settings = { NODE_ENV: 'production', NODE_OPTIONS: '', ...script.settings };
  const logFile = join(folder, `${script.name}.log`);
  await rm(logFile, { force: true });
  const child = await startChild({
    command: '/usr/bin/env',
    args: [
      ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
      process.execPath,
      ...script.flags,
      join(folder, 'app/dist', script.file),
      ...(script.args ?? []),
    ],
    logFile,
    pidFile: join(folder, `${script.name}.pid`),
  });
  const output = async (): Promise<string> => readFile(logFile, 'utf8');
  const running: Running = {
    ...child,
    output,
    stop: () => stopChild(child, 'SIGTERM', STOP_WITHIN_MS),
    kill: () => void process.kill(child.pid, 'SIGKILL'),
  };
  const deadlineMs = Date.now() + READY_WITHIN_MS;
  while (!(await isReady(running))) {
    if (Date.now() > deadlineMs || !(await isAlive(child))) {
      throw new Error(`The ${script.name} did not start. Its last words:\n${(await output()).slice(-2_000)}`);
    }
    await sleep(50);
  }
  return running;
}

/** Runs statements with the owner's role. */
export async function asOwner(ownerUrl: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The processes have sessions of their own, so Ctrl-C reaches only this one: it stops them and then exits. */
function onSignal(clear: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void clear().finally(() => process.exit(130)));
  }
}

/** Stops the processes of killed runs. */
async function clearAbortedRuns(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(PREFIX));
  for (const folder of names.map((name) => join(tmpdir(), name))) {
    const isKept = (await readdir(folder)).includes('owner.pid');
    if (isKept && !(await findChild(join(folder, 'owner.pid')))) await clearFolder(folder);
  }
}

async function clearFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const pidFiles = names.filter((name) => name.endsWith('.pid') && name !== 'owner.pid');
  const children = await Promise.all(pidFiles.map((name) => findChild(join(folder, name))));
  await Promise.all(children.map(async (child) => child && stopChild(child, 'SIGTERM', STOP_WITHIN_MS)));
  await Promise.all([
    stopOrphan(join(folder, 'postgres', POSTGRES_PID_FILE)),
    stopOrphan(join(folder, 'temporal', TEMPORAL_PID_FILE)),
  ]);
  // A stopped server may still be writing files.
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
