import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';

import { isAlive, processStartTime, writePidFile, type Child } from './child-process.ts';

const PRIVATE = 0o700;
/** Others cannot list it, but can pass through to their own files. */
const PASSABLE = 0o711;
/** Until a lock is tried again that another process is taking over. */
const TURN_MS = 10;

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
  const holder = await readHolder(lockFile(dataFolder));
  return holder === 'dead' ? undefined : holder;
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
      const holder = await readHolder(lock);
      if (holder === process.pid || (holder === 'dead' && (await takeOver(draft, lock)))) break;
      if (typeof holder === 'number') return { takenBy: holder };
    }
    return { release: () => rmSync(lock, { force: true }) };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Replaces the lock of a dead process, under a lock of its own: of several processes that try at once, one succeeds. */
async function takeOver(draft: string, lock: string): Promise<boolean> {
  const turn = await takeLock(`${lock}.turn`);
  if ('takenBy' in turn) return sleep(TURN_MS, false);
  try {
    const isDead = (await readHolder(lock)) === 'dead';
    if (isDead) renameSync(draft, lock);
    return isDead;
  } finally {
    turn.release();
  }
}

/** The process that a lock file names, if it lives; undefined without a file. */
async function readHolder(lock: string): Promise<number | 'dead' | undefined> {
  const text = await readFile(lock, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const child = JSON.parse(text) as Child;
    return (await isAlive(child)) ? child.pid : 'dead';
  } catch {
    return 'dead';
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
