import { renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { findLockOwner, takeLock, type Taken } from './lock.ts';
import { createFolderAboveDatabase } from './private-folder.ts';

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
export async function findLockHolder(dataFolder: string): Promise<number | undefined> {
  return findLockOwner(lockFile(dataFolder));
}

/** Makes the folder ours until `release`, or says who has it. A process that was killed has it no longer. */
export async function claimFolder(dataFolder: string): Promise<Taken> {
  await createFolderAboveDatabase(dataFolder);
  return takeLock(lockFile(dataFolder));
}
