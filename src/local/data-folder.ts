import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { isNativeError } from 'node:util/types';

import { findChild, processStartTime, writePidFile } from './child-process.ts';

const PRIVATE = 0o700;
/** Others cannot list it, but can pass through to their own files. */
const PASSABLE = 0o711;

/** Addresses of a local start, valid while it runs. `databaseUrl` is the application role's; `checkoutUrl` can be paid. */
export const ADDRESSES = [
  'apiUrl',
  'docsUrl',
  'demoShopUrl',
  'simulatorUrl',
  'temporalUiUrl',
  'temporalAddress',
  'databaseUrl',
  'metricsUrl',
  'checkoutUrl',
] as const;

/** Of the demo data, valid also while nothing runs. The operators are admins: one confirms what the other proposes. */
export const CREDENTIALS = ['sandboxKey', 'merchantId', 'webhookSecret', 'operatorKey', 'secondOperatorKey'] as const;

/** What a person or a script needs to know about a local start. What does not exist has no entry. */
export type ServiceInfo = { [Name in (typeof ADDRESSES)[number]]?: string | undefined } & {
  [Name in (typeof CREDENTIALS)[number]]?: string;
};

/** The information of a start that became ready, and its process. */
export type LocalState = { pid: number; info: ServiceInfo };

/** A lock is valid while the process named in its file lives. */
export type Lock = { release: () => void } | { takenBy: number };

const stateFile = (dataFolder: string): string => join(dataFolder, 'state.json');
const lockFile = (dataFolder: string): string => join(dataFolder, 'meskot.pid');

/** The state of the last start that became ready; undefined without one. */
export async function readState(dataFolder: string): Promise<LocalState | undefined> {
  try {
    return JSON.parse(await readFile(stateFile(dataFolder), 'utf8')) as LocalState;
  } catch {
    return undefined;
  }
}

/** Contains keys and secrets: readable by its user only. */
export function writeState(dataFolder: string, state: LocalState): void {
  const draft = `${stateFile(dataFolder)}.draft`;
  writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, stateFile(dataFolder));
}

/** Creates and locks the folder, or returns the living process that has locked it. */
export async function lockDataFolder(dataFolder: string): Promise<Lock> {
  await createFolderAboveDatabase(dataFolder);
  return takeLock(lockFile(dataFolder));
}

/** The living process that has locked the folder. */
export async function findLockHolder(dataFolder: string): Promise<number | undefined> {
  return (await findChild(lockFile(dataFolder)))?.pid;
}

/** Creates a folder that other users cannot read, also where it was open before. */
export async function createPrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, PRIVATE);
}

/** The same, but lets the user postgres pass when root starts PostgreSQL. */
export async function createFolderAboveDatabase(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, userInfo().uid === 0 ? PASSABLE : PRIVATE);
}

/** Takes a lock file, or returns the living process that has it. The lock of a dead process is taken over. */
export async function takeLock(lock: string): Promise<Lock> {
  const draft = `${lock}.claim.${process.pid}`;
  writePidFile(draft, { pid: process.pid, mark: (await processStartTime(process.pid)) ?? '' });
  try {
    while (!tryLink(draft, lock)) {
      const seen = read(lock);
      const holder = (await findChild(lock))?.pid;
      if (holder === process.pid) break;
      if (holder !== undefined) return { takenBy: holder };
      if (seen !== undefined) removeStale(lock, seen);
    }
    return { release: () => rmSync(lock, { force: true }) };
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Removes a dead process's lock and nothing newer: another process may have replaced it meanwhile. Of several that
 * rename it at once, one succeeds.
 */
function removeStale(lock: string, seen: string): void {
  const renamed = `${lock}.stale.${process.pid}`;
  try {
    renameSync(lock, renamed);
  } catch {
    return;
  }
  if (read(renamed) !== seen) tryLink(renamed, lock);
  rmSync(renamed, { force: true });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Unlike a rename, a link fails when the target exists. */
function tryLink(draft: string, lock: string): boolean {
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    if (isNativeError(error) && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
