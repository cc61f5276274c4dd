import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { findChild, processMark, writePidFile } from './children.ts';
import { makeFolderAboveDatabase } from './private-folder.ts';

/** What a person or a script wants to know about a local start; a part that does not exist has no fact here. */
export type Facts = {
  apiUrl?: string;
  docsUrl?: string;
  demoShopUrl?: string;
  simulatorUrl?: string;
  temporalUiUrl?: string;
  temporalAddress?: string;
  /** As the application's role. */
  databaseUrl?: string;
  metricsUrl?: string;
  sandboxKey?: string;
  merchantId?: string;
  webhookSecret?: string;
  /** Of the demo data's operator, an admin. */
  operatorKey?: string;
  /** A page that waits to be paid. */
  checkoutUrl?: string;
};

/** The facts, and which process wrote them once it was ready. */
export type LocalState = { pid: number; facts: Facts };

const stateFile = (dataFolder: string): string => join(dataFolder, 'state.json');
const lockFile = (dataFolder: string): string => join(dataFolder, 'meskot.pid');

/** What the last start that became ready has written; empty when there was none. */
export async function readState(dataFolder: string): Promise<LocalState | undefined> {
  try {
    return JSON.parse(await readFile(stateFile(dataFolder), 'utf8')) as LocalState;
  } catch {
    return undefined;
  }
}

/** Keys and secrets are in it: only its owner may read it. */
export function writeState(dataFolder: string, state: LocalState): void {
  const draft = `${stateFile(dataFolder)}.draft`;
  writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, stateFile(dataFolder));
}

/** The process that runs on this folder, if there is one. */
export async function findOwner(dataFolder: string): Promise<number | undefined> {
  return (await findChild(lockFile(dataFolder)))?.pid;
}

/**
 * Makes the folder ours until `release`, or says who has it. A process that was killed has it no longer.
 */
export async function claimFolder(dataFolder: string): Promise<{ release: () => void } | { takenBy: number }> {
  await makeFolderAboveDatabase(dataFolder);
  const lock = lockFile(dataFolder);
  const draft = `${lock}.claim.${process.pid}`;
  writePidFile(draft, { pid: process.pid, mark: (await processMark(process.pid)) ?? '' });
  const release = (): void => rmSync(lock, { force: true });
  try {
    while (!linksTo(draft, lock)) {
      const owner = await findOwner(dataFolder);
      if (owner === process.pid) break;
      if (owner !== undefined) return { takenBy: owner };
      rmSync(lock, { force: true });
      // Somebody who removes the same stale lock may remove ours instead: whose is left after a while has it.
      if (linksTo(draft, lock)) await sleep(100);
    }
    return { release };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Unlike a rename, a link fails when somebody was faster. */
function linksTo(draft: string, lock: string): boolean {
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
