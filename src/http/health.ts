import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

import { z } from 'zod';

import { DatabaseRefused } from '../lib/db-errors.ts';
import { serviceUnavailable } from '../lib/errors.ts';
import { withTimeout } from '../lib/timeout.ts';
import { cachedFor, measureFigures, type FigureGauge, type Registry } from './metrics.ts';
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
        const reason = await findUnreadiness({ countPendingMigrations, findFullDisk });
        if (reason !== null) throw serviceUnavailable(reason);
        return { message: 'The process is ready', data: { status: 'ok' } };
      },
    }),
  ];
}

/** Why a process that does not shut down can take no requests, as a sentence; null when it can. */
async function findUnreadiness({ countPendingMigrations, findFullDisk }: Readiness): Promise<string | null> {
  const counted = countPendingMigrations().catch((error: unknown) => {
    if (error instanceof DatabaseRefused) return error.message;
    throw error;
  });
  const pending = await withTimeout(counted, READY_WITHIN_MS);
  if (pending === null) return 'The database does not respond.';
  if (typeof pending === 'string') return pending;
  if (pending > 0) return `${pending} migrations are not applied yet.`;
  const disk = findFullDisk().then((full) => full ?? 'has room');
  const full = (await withTimeout(disk, READY_WITHIN_MS)) ?? 'A disk does not respond.';
  return full === 'has room' ? null : full;
}

const READY = { name: 'meskot_ready', help: 'Whether the process can take requests, as /readyz says: 1 or 0' };
const READY_CACHED_MS = 3_000;

/** Measures what `/readyz` says, but for the end of the process. */
export function measureReadiness(registry: Registry, readiness: Readiness): void {
  const isReady = async (): Promise<boolean> =>
    findUnreadiness(readiness).then(
      (reason) => reason === null,
      () => false,
    );
  const measure = async () => ({ ready: (await isReady()) ? 1 : 0 });
  measureFigures(registry, { ready: READY }, cachedFor(READY_CACHED_MS, measure));
}

const MEGABYTE = 1_000_000;

/** `folders`: those the process writes to, by the names of their settings. */
type DiskNeeds = { folders: Readonly<Record<string, string>>; freeMegabytesMin: number };

/** The first folder whose disk is full, as a sentence; null when all have space for users other than root. */
export async function findFullDisk({ folders, freeMegabytesMin }: DiskNeeds): Promise<string | null> {
  for (const [setting, folder] of Object.entries(folders)) {
    const freeMegabytes = Math.floor((await readDisk(folder)).free / MEGABYTE);
    if (freeMegabytes < freeMegabytesMin) {
      return `The disk of ${setting} has ${freeMegabytes} MB free, and at least ${freeMegabytesMin} MB are needed.`;
    }
  }
  return null;
}

/** Bytes for users other than root, of the disk of a folder. A folder that does not exist yet counts as its parent. */
async function readDisk(folder: string): Promise<{ free: number; size: number }> {
  let existing = resolve(folder);
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, blocks, bsize } = await statfs(existing);
  return { free: bavail * bsize, size: blocks * bsize };
}

const DISK_GAUGES = {
  free: { name: 'meskot_disk_free_bytes', help: 'Free bytes of the disk of a folder that the process writes to' },
  size: { name: 'meskot_disk_size_bytes', help: 'Size of the disk of a folder that the process writes to' },
} as const;

/** Measures the disks that the process writes to; a label names the setting, not the folder. */
export function measureDisks(registry: Registry, { folders }: Pick<DiskNeeds, 'folders'>): void {
  const gauges: Record<string, FigureGauge> = {};
  for (const setting of Object.keys(folders)) {
    for (const figure of ['free', 'size'] as const)
      gauges[`${setting} ${figure}`] = { ...DISK_GAUGES[figure], labels: { setting } };
  }
  measureFigures(registry, gauges, async () => {
    const figures = Object.entries(folders).map(async ([setting, folder]) => {
      const { free, size } = await readDisk(folder);
      return { [`${setting} free`]: free, [`${setting} size`]: size };
    });
    return Object.assign({}, ...(await Promise.all(figures))) as Record<string, number>;
  });
}
