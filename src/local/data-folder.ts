import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { BLOCKED_PORTS, isPortFree } from '../lib/ports.ts';
import { findChild, processStartTime, writePidFile } from './child-process.ts';

/** Until a lock is tried again that another process is taking over. */
const RETRY_MS = 10;

/** Addresses of a local start, valid while it runs. `opsUrl` takes operators' keys; `databaseUrl` is the application role's; `checkoutUrl` can be paid. */
export const ADDRESSES = [
  'apiUrl',
  'docsUrl',
  'portalUrl',
  'consoleUrl',
  'opsUrl',
  'demoShopUrl',
  'simulatorUrl',
  'temporalUiUrl',
  'temporalAddress',
  'databaseUrl',
  'metricsUrl',
  'checkoutUrl',
] as const;

/** Of the demo data, valid also while nothing runs. The operators are admins: one confirms what the other proposes. The
 * password is of every demo person. */
export const CREDENTIALS = [
  'sandboxKey',
  'merchantId',
  'webhookSecret',
  'operatorKey',
  'secondOperatorKey',
  'portalPassword',
] as const;

/** What a person or a script needs to know about a local start. What does not exist has no entry. */
export type ServiceInfo = { [Name in (typeof ADDRESSES)[number]]?: string | undefined } & {
  [Name in (typeof CREDENTIALS)[number]]?: string;
};

/** The information of a start that became ready, and its process; without one the pid is 0. */
export type LocalState = { pid: number; info: ServiceInfo };

/** A lock is valid while the process named in its file lives. */
export type Lock = { release: () => void } | { takenBy: number };

const stateFile = (dataFolder: string): string => join(dataFolder, 'state.json');
const lockFile = (dataFolder: string): string => join(dataFolder, 'meskot.pid');

/** The state of the last start that became ready. */
export function readState(dataFolder: string): LocalState {
  try {
    return JSON.parse(readFileSync(stateFile(dataFolder), 'utf8')) as LocalState;
  } catch {
    return { pid: 0, info: {} };
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
  await createDataFolder(dataFolder);
  return takeLock(lockFile(dataFolder));
}

/** The living process that has locked the folder. */
export async function findLockHolder(dataFolder: string): Promise<number | undefined> {
  return (await findChild(lockFile(dataFolder)))?.pid;
}

/** Creates a folder that others cannot list; but when root starts PostgreSQL, its user passes through. */
export async function createDataFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, userInfo().uid === 0 ? 0o711 : 0o700);
}

/** Takes a lock file, or returns the living process that has it. The lock of a dead process is removed. */
export async function takeLock(lock: string): Promise<Lock> {
  const draft = `${lock}.claim.${process.pid}`;
  writePidFile(draft, { pid: process.pid, mark: (await processStartTime(process.pid)) ?? '' });
  try {
    while (!tryLink(draft, lock)) {
      const holder = await findChild(lock);
      if (holder) return { takenBy: holder.pid };
      await removeStaleLock(lock);
    }
    return { release: () => rmSync(lock, { force: true }) };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Under a lock of its own: of several processes that try at once, none removes the lock that another has just taken. */
async function removeStaleLock(lock: string): Promise<void> {
  const removal = await takeLock(`${lock}.removal`);
  if ('takenBy' in removal) return sleep(RETRY_MS);
  if (!(await findChild(lock))) rmSync(lock, { force: true });
  removal.release();
}

/** Unlike a rename, a link fails when the target exists. */
function tryLink(draft: string, lock: string): boolean {
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

export type Ports = ReturnType<typeof createPorts>;

type PortsOptions = {
  wanted: Iterable<number>;
  /**
   * Holds a lock file per port, shared by all starts on this machine: a port is chosen long before anything listens on it,
   * so two copies could both find it free.
   */
  claimsFolder: string;
  print: (line: string) => void;
};

/** Allocates ports, none twice. */
export function createPorts({ wanted: allWanted, claimsFolder, print }: PortsOptions) {
  const skipped = new Set([...allWanted, ...BLOCKED_PORTS]);
  const claims: (() => void)[] = [];
  const take = async (port: number): Promise<boolean> => {
    const claim = await takeLock(join(claimsFolder, `${port}.pid`));
    if ('takenBy' in claim) return false;
    claims.push(claim.release);
    return isPortFree(port);
  };
  return {
    /** The wanted port, or else the next free one, which is printed: one that no other service wants and browsers accept. */
    choose: async (name: string, wanted: number): Promise<number> => {
      await mkdir(claimsFolder, { recursive: true, mode: 0o700 });
      for (let port = wanted; port <= 65_535; port += 1) {
        if ((port > wanted && skipped.has(port)) || !(await take(port))) continue;
        if (port > wanted) print(`port ${wanted} is taken; ${name} uses ${port}`);
        return port;
      }
      throw new Error(`There is no free port from ${wanted} up.`);
    },
    release: (): void => claims.forEach((release) => release()),
  };
}
