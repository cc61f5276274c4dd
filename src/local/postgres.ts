import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import pg from 'pg';

import { APP_ROLE } from '../lib/grants.ts';
import { isAlive, lastLines, processStartTime, startChild, stopChild, type Child } from './child-process.ts';
import { createFolderAboveDatabase } from './data-folder.ts';
import { locatePostgres, type PostgresLocation } from './postgres-location.ts';

const USERS = { superuser: 'postgres', owner: 'meskot_owner', app: APP_ROLE } as const;
const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 3_000;
// Long, since loading our own code at the same time blocks this process for seconds.
const CONNECT_WITHIN_MS = 10_000;
const START_ATTEMPTS = 4;

export type PostgresOptions = {
  /** The wanted folder; see {@link locatePostgres}. */
  folder: string;
  /** Called only when no server is running there. */
  choosePort: () => Promise<number>;
  /** False for tests: a crash of the machine may lose data. */
  durable: boolean;
};

export type LocalPostgres = Awaited<ReturnType<typeof startOnce>>;

type Role = keyof typeof USERS;

type Passwords = Record<Role, string>;

/** Starts PostgreSQL on its folder, where it creates a cluster if there is none, or uses the server running there. */
export async function startPostgres(options: PostgresOptions): Promise<LocalPostgres> {
  const location = await locatePostgres(options.folder);
  await createFolderAboveDatabase(location.folder);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(location, options);
    } catch (error) {
      // A server that is just stopping, or shared memory of a killed one, is gone soon.
      if (!(error instanceof ServerEnded)) throw error;
      if (attempt === START_ATTEMPTS) {
        const log = await lastLines(join(location.folder, 'postgres.log'));
        throw new Error(`${error.message} The end of its log:\n${log}`, { cause: error });
      }
      await sleep(500);
    }
  }
}

class ServerEnded extends Error {}

async function startOnce(location: PostgresLocation, options: PostgresOptions) {
  const passwords = await readOrCreatePasswords(location.folder);
  const cluster = join(location.folder, 'cluster');
  const running = await findRunning(cluster);
  if (!running) {
    await ensureCluster(location, passwords.superuser);
    // It names a process that has ended or is no PostgreSQL of this cluster.
    await rm(join(cluster, 'postmaster.pid'), { force: true });
  }
  const port = running?.port ?? (await options.choosePort());
  const child = running?.child ?? (await launch(location, port, options.durable));
  /** The connection string of a database for a role: owner (migrations), app, or superuser. */
  const url = (database: string, role: Role): string =>
    `postgresql://${USERS[role]}:${passwords[role]}@127.0.0.1:${port}/${database}`;
  const stop = (): Promise<void> => stopChild(child, 'SIGINT', STOP_WITHIN_MS);
  try {
    await untilReady(url('postgres', 'superuser'), child);
    await ensureRoles(url('postgres', 'superuser'), passwords);
  } catch (error) {
    await stop();
    throw error;
  }
  /** `reused`: a killed process left it running. */
  return { port, reused: running !== undefined, note: location.note, child, url, stop };
}

/** Stops a PostgreSQL that a killed process left running on this folder. */
export async function stopOrphanPostgres(folder: string): Promise<void> {
  const running = await findRunning(join(folder, 'cluster'));
  if (running) await stopChild(running.child, 'SIGINT', STOP_WITHIN_MS);
}

/** Creates a database of this name. Idempotent. The URL is the owner's, of any database. */
export async function ensureDatabase(ownerUrl: string, name: string): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  });
}

/** The server running on a cluster, by its postmaster.pid: process id in line 1, port in line 4. */
async function findRunning(cluster: string): Promise<{ child: Child; port: number } | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, folder, , port] = text.split('\n');
  const startTime = pid && folder === cluster ? await processStartTime(Number(pid)) : undefined;
  if (startTime === undefined || !(await runsOn(Number(pid), cluster))) return undefined;
  return { child: { pid: Number(pid), mark: startTime }, port: Number(port) };
}

/** Whether a process has this folder as an argument: its id may belong to another program by now. */
async function runsOn(pid: number, cluster: string): Promise<boolean> {
  const fromPs = (): Promise<string> =>
    promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).then(({ stdout }) => stdout);
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(fromPs);
  return command.includes(cluster);
}

async function ensureCluster(location: PostgresLocation, password: string): Promise<void> {
  const cluster = join(location.folder, 'cluster');
  if (await stat(join(cluster, 'PG_VERSION')).catch(() => undefined)) return;
  const [draft, passwordFile] = [join(location.folder, 'cluster.draft'), join(location.folder, 'password.draft')];
  await Promise.all([draft, cluster].map((folder) => rm(folder, { recursive: true, force: true })));
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  const { user } = location;
  if (user) await Promise.all([draft, passwordFile].map((path) => chown(path, user.uid, user.gid)));
  const args = ['-D', draft, '-U', USERS.superuser, `--pwfile=${passwordFile}`, '--auth=password', '--encoding=UTF8'];
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-sync'];
  await promisify(execFile)(join(location.programs, 'bin', 'initdb'), [...args, ...locale], { ...user, cwd: '/' });
  await rm(passwordFile);
  // Last, so that an existing cluster is complete.
  await rename(draft, cluster);
}

async function launch(location: PostgresLocation, port: number, durable: boolean): Promise<Child> {
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
  const unsafeSettings = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off'];
  // As durable as the default, one system call less for each commit.
  const durableSettings = ['wal_sync_method=open_datasync'];
  const args = [...settings, ...(durable ? durableSettings : unsafeSettings)].flatMap((setting) => ['-c', setting]);
  return startChild({
    command: join(location.programs, 'bin', 'postgres'),
    args: ['-D', join(location.folder, 'cluster'), '-p', String(port), ...args],
    logFile: join(location.folder, 'postgres.log'),
    pidFile: join(location.folder, 'postgres.pid'),
    details: {},
    user: location.user,
  });
}

async function untilReady(url: string, child: Child): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      return await withClient(url, async (client) => void (await client.query('SELECT 1')));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === '28P01') {
        throw new Error('PostgreSQL rejects the password stored beside its data. "npm run reset" starts afresh.', {
          cause: error,
        });
      }
      if (!(await isAlive(child))) throw new ServerEnded('PostgreSQL ended while starting.', { cause: error });
      if (Date.now() > deadline) throw new Error('PostgreSQL did not respond within 30 s.', { cause: error });
    }
    await sleep(25);
  }
}

/** The owner's only right is to create databases of its own. */
async function ensureRoles(superuserUrl: string, { owner, app }: Passwords): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    const roles = {
      [USERS.owner]: `CREATEDB PASSWORD ${pg.escapeLiteral(owner)}`,
      [USERS.app]: `PASSWORD ${pg.escapeLiteral(app)}`,
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
  if (stored !== undefined) {
    const passwords = JSON.parse(stored) as Passwords;
    if (passwords.owner && passwords.superuser) return passwords;
    throw new Error('PostgreSQL is of an unreleased version of Meskot: "npm run reset" wipes it and starts afresh.');
  }
  const randomPassword = (): string => randomBytes(16).toString('hex');
  const passwords = { superuser: randomPassword(), owner: randomPassword(), app: randomPassword() };
  await writeFile(`${file}.draft`, JSON.stringify(passwords), { mode: 0o600 });
  await rename(`${file}.draft`, file);
  return passwords;
}
