import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import pg from 'pg';

import { APP_ROLE } from '../lib/grants.ts';
import { isAlive, processMark, startChild, stopChild, type Child } from './child-process.ts';
import { placePostgres, type PostgresPlace } from './postgres-location.ts';
import { createFolderAboveDatabase } from './private-folder.ts';

const SUPERUSER = 'postgres';
const OWNER_ROLE = 'meskot_owner';
const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 3_000;
// Long, since our own code is being loaded at the same time: seconds in which nobody listens to an answer.
const CONNECT_WITHIN_MS = 10_000;
const START_ATTEMPTS = 4;

export type PostgresOptions = {
  /** The wanted folder; see {@link placePostgres}. */
  folder: string;
  /** Asked only when none is running there already. */
  choosePort: () => Promise<number>;
  /** False for tests: what is written may be lost when the machine stops. */
  durable: boolean;
};

export type LocalPostgres = {
  port: number;
  /** Whether it was running already, left by a process that was killed. */
  reused: boolean;
  note: string | undefined;
  child: Child;
  /** The connection string of a database, as its owner (migrations), as the application, or as the server's own user. */
  url: (database: string, role: Role) => string;
  stop: () => Promise<void>;
};

type Role = 'superuser' | 'owner' | 'app';

/** Of the roles. A cluster made before the owner was a role of its own has no superuser besides it. */
type Passwords = { superuser?: string; holder: string; app: string };

/** Starts PostgreSQL on its folder, making the cluster first if there is none, or takes over the one running there. */
export async function startPostgres(options: PostgresOptions): Promise<LocalPostgres> {
  const place = await placePostgres(options.folder);
  await createFolderAboveDatabase(place.folder);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(place, options);
    } catch (error) {
      // One that was just going, or what a killed one has left for a moment, is gone soon.
      const isLast = attempt === START_ATTEMPTS || !(error instanceof ServerEnded);
      if (isLast) throw withLog(error, await lastLogLines(place.folder));
      await sleep(500);
    }
  }
}

class ServerEnded extends Error {}

function loginOf(role: Role, { superuser, holder, app }: Passwords): { user: string; password: string } {
  if (role === 'app') return { user: APP_ROLE, password: app };
  if (role === 'superuser' && superuser !== undefined) return { user: SUPERUSER, password: superuser };
  return { user: OWNER_ROLE, password: holder };
}

async function startOnce(place: PostgresPlace, options: PostgresOptions): Promise<LocalPostgres> {
  const passwords = await readOrCreatePasswords(place.folder);
  const cluster = join(place.folder, 'cluster');
  const running = await findRunning(cluster);
  if (!running) {
    await ensureCluster(place, passwords);
    // It names a process that is no PostgreSQL of ours any more; a new one would take it for one.
    await rm(join(cluster, 'postmaster.pid'), { force: true });
  }
  const port = running?.port ?? (await options.choosePort());
  const child = running?.child ?? (await launch(place, port, options.durable));
  const url = (database: string, role: Role): string => {
    const { user, password } = loginOf(role, passwords);
    return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;
  };
  const stop = (): Promise<void> => stopChild(child, 'SIGINT', STOP_WITHIN_MS);
  try {
    await untilReady(url('postgres', 'superuser'), child);
    await ensureRoles(url('postgres', 'superuser'), passwords);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, reused: running !== undefined, note: place.note, child, url, stop };
}

/** Ends a PostgreSQL that a killed process left running on this folder. True if there was one. */
export async function stopLeftPostgres(folder: string): Promise<boolean> {
  const running = await findRunning(join(folder, 'cluster'));
  if (running) await stopChild(running.child, 'SIGINT', STOP_WITHIN_MS);
  return running !== undefined;
}

/** Makes a database of this name if there is none; the URL is the owner's, of any database. */
export async function ensureDatabase(ownerUrl: string, name: string): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  });
}

/** The server running on a cluster, by the file it keeps there: process id in line 1, port in line 4. */
async function findRunning(cluster: string): Promise<{ child: Child; port: number } | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, folder, , port] = text.split('\n');
  const mark = pid && folder === cluster ? await processMark(Number(pid)) : undefined;
  if (mark === undefined || !(await runsOn(Number(pid), cluster))) return undefined;
  return { child: { pid: Number(pid), mark }, port: Number(port) };
}

/** Whether a process was started with this folder as an argument: the number may be a stranger's by now. */
async function runsOn(pid: number, cluster: string): Promise<boolean> {
  const fromProc = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  if (fromProc !== undefined) return fromProc.includes(cluster);
  const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.includes(cluster);
}

async function ensureCluster(place: PostgresPlace, passwords: Passwords): Promise<void> {
  const cluster = join(place.folder, 'cluster');
  if (await stat(join(cluster, 'PG_VERSION')).catch(() => undefined)) return;
  const draft = join(place.folder, 'cluster.draft');
  const passwordFile = join(place.folder, 'password.draft');
  await Promise.all([rm(draft, { recursive: true, force: true }), rm(cluster, { recursive: true, force: true })]);
  await mkdir(draft, { mode: 0o700 });
  const { user, password } = loginOf('superuser', passwords);
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (place.user) {
    await chown(draft, place.user.uid, place.user.gid);
    await chown(passwordFile, place.user.uid, place.user.gid);
  }
  const args = ['-D', draft, '-U', user, `--pwfile=${passwordFile}`, '--auth=password', '--encoding=UTF8'];
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-sync'];
  await promisify(execFile)(join(place.programs, 'bin', 'initdb'), [...args, ...locale], { ...place.user, cwd: '/' });
  await rm(passwordFile);
  // Last, so that a cluster that is there is a whole one.
  await rename(draft, cluster);
}

async function launch(place: PostgresPlace, port: number, durable: boolean): Promise<Child> {
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
  const careless = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off'];
  // As durable as the default, one system call less for each commit.
  const careful = ['wal_sync_method=open_datasync'];
  const args = [...settings, ...(durable ? careful : careless)].flatMap((setting) => ['-c', setting]);
  return startChild({
    command: join(place.programs, 'bin', 'postgres'),
    args: ['-D', join(place.folder, 'cluster'), '-p', String(port), ...args],
    logFile: join(place.folder, 'postgres.log'),
    pidFile: join(place.folder, 'postgres.pid'),
    facts: {},
    user: place.user,
  });
}

async function untilReady(url: string, child: Child): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      return await withClient(url, async (client) => void (await client.query('SELECT 1')));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === '28P01') {
        throw new Error('PostgreSQL does not know the password kept beside its data; "npm run reset" starts afresh', {
          cause: error,
        });
      }
      if (!(await isAlive(child))) throw new ServerEnded('PostgreSQL ended while starting', { cause: error });
      if (Date.now() > deadline) throw new Error('PostgreSQL did not answer within 30 s', { cause: error });
    }
    await sleep(25);
  }
}

/** The owner may make databases, which are then its own, and nothing beyond. */
async function ensureRoles(superuserUrl: string, { holder, app }: Passwords): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    const roles = {
      [OWNER_ROLE]: `CREATEDB PASSWORD ${pg.escapeLiteral(holder)}`,
      [APP_ROLE]: `PASSWORD ${pg.escapeLiteral(app)}`,
    };
    for (const [role, rights] of Object.entries(roles)) {
      const { rowCount } = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
      if (rowCount === 0) await client.query(`CREATE ROLE ${role} LOGIN ${rights}`);
    }
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_WITHIN_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function readOrCreatePasswords(folder: string): Promise<Passwords> {
  const file = join(folder, 'passwords.json');
  const stored = await readFile(file, 'utf8').catch(() => undefined);
  if (stored !== undefined) return JSON.parse(stored) as Passwords;
  const [superuser, holder, app] = [randomPassword(), randomPassword(), randomPassword()];
  const made = { superuser, holder, app };
  await writeFile(`${file}.draft`, JSON.stringify(made), { mode: 0o600 });
  await rename(`${file}.draft`, file);
  return made;
}

function randomPassword(): string {
  return randomBytes(16).toString('hex');
}

async function lastLogLines(folder: string): Promise<string> {
  const log = await readFile(join(folder, 'postgres.log'), 'utf8').catch(() => '');
  return log.trimEnd().split('\n').slice(-5).join('\n');
}

function withLog(error: unknown, log: string): Error {
  const message = error instanceof Error ? error.message : String(error);
  return new Error(log === '' ? message : `${message}. Its last words:\n${log}`, { cause: error });
}
