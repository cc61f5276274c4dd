import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { isNativeError } from 'node:util/types';

import { findChild, processMark, writePidFile } from './child-process.ts';

/** A file that says which process has something; it counts for as long as that process lives. */
export type Taken = { release: () => void } | { takenBy: number };

/** Takes a lock file, or says which living process has it. One that a dead process left is taken over. */
export async function takeLock(lock: string): Promise<Taken> {
  const draft = `${lock}.claim.${process.pid}`;
  writePidFile(draft, { pid: process.pid, mark: (await processMark(process.pid)) ?? '' });
  try {
    while (!linksTo(draft, lock)) {
      const seen = read(lock);
      const holder = await findLockOwner(lock);
      if (holder === process.pid) break;
      if (holder !== undefined) return { takenBy: holder };
      if (seen !== undefined) removeStale(lock, seen);
    }
    return { release: () => rmSync(lock, { force: true }) };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The living process that has the lock, if there is one. */
export async function findLockOwner(lock: string): Promise<number | undefined> {
  return (await findChild(lock))?.pid;
}

/**
 * Removes what a dead process left, and nothing newer: somebody else may have removed it meanwhile and have the lock
 * now. Of those who rename it at once, one succeeds.
 */
function removeStale(lock: string, seen: string): void {
  const aside = `${lock}.stale.${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch {
    return;
  }
  if (read(aside) !== seen) linksTo(aside, lock);
  rmSync(aside, { force: true });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Unlike a rename, a link fails when somebody was faster. */
function linksTo(draft: string, lock: string): boolean {
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    if (isNativeError(error) && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
