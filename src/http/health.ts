import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

import { z } from 'zod';

import { DatabaseRefused } from '../lib/db-errors.ts';
import { serviceUnavailable } from '../lib/errors.ts';
import { withTimeout } from '../lib/timeout.ts';
import { readRoute, type Route } from './route.ts';

const READY_WITHIN_MS = 1_500;

const Status = z.object({ status: z.literal('ok') });

export const ALIVE = { message: 'The process is alive', data: { status: 'ok' } };

export type Readiness = {
  /** How many migrations the database still lacks; rejects when the database is unavailable or takes no writes. */
  countPendingMigrations: () => Promise<number>;
  /** Why the process cannot write its files, as a sentence; null when it can. */
  findFullDisk: () => Promise<string | null>;
};

/**
 * `/livez`: the event loop turns. `/readyz`: the database is available, takes writes and is migrated, the disks have room, and the process
 * does not shut down. Temporal is no part of it: without it requests are still accepted.
 */
export function healthRoutes({ countPendingMigrations, findFullDisk }: Readiness, stopping: AbortSignal): Route[] {
  const common = { tag: 'System', auth: { by: 'public' }, rateLimit: 'none' } as const;
  return [
    readRoute('GET /livez', {
      ...common,
      operationId: 'getLiveness',
      summary: 'Whether the process is alive',
      responses: { 200: Status },
      handle: async () => ALIVE,
    }),
    readRoute('GET /readyz', {
      ...common,
      operationId: 'getReadiness',
      summary: 'Whether the process can take requests: database, migrations, room on the disks',
      responses: { 200: Status },
      handle: async () => {
        if (stopping.aborted) throw serviceUnavailable('The process is shutting down.');
        const pending = await withTimeout(countPendingMigrations(), READY_WITHIN_MS).catch((error: unknown) => {
          throw error instanceof DatabaseRefused ? serviceUnavailable(error.message) : error;
        });
        if (pending === null) throw serviceUnavailable('The database does not respond.');
        if (pending > 0) throw serviceUnavailable(`${pending} migrations are not applied yet.`);
        const disk = findFullDisk().then((full) => full ?? 'has room');
        const full = (await withTimeout(disk, READY_WITHIN_MS)) ?? 'A disk does not respond.';
        if (full !== 'has room') throw serviceUnavailable(full);
        return { message: 'The process is ready', data: { status: 'ok' } };
      },
    }),
  ];
}

const MEGABYTE = 1_000_000;

/** `folders`: those the process writes to, by the names of their settings. */
type DiskNeeds = { folders: Readonly<Record<string, string>>; freeMegabytesMin: number };

/** The first folder whose disk is full, as a sentence; null when all have space for users other than root. */
export async function findFullDisk({ folders, freeMegabytesMin }: DiskNeeds): Promise<string | null> {
  for (const [setting, folder] of Object.entries(folders)) {
    // A folder that does not exist yet counts as its parent.
    let existing = resolve(folder);
    while (!existsSync(existing)) existing = dirname(existing);
    const { bavail, bsize } = await statfs(existing);
    const freeMegabytes = Math.floor((bavail * bsize) / MEGABYTE);
    if (freeMegabytes < freeMegabytesMin) {
      return `The disk of ${setting} has ${freeMegabytes} MB free, and at least ${freeMegabytesMin} MB are needed.`;
    }
  }
  return null;
}
