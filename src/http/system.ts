import { z } from 'zod';

import { AppError } from '../lib/errors.ts';
import { withTimeout } from '../lib/timeout.ts';
import { readRoute, type Route } from './route.ts';

const READY_WITHIN_MS = 1_500;

const Status = z.object({ status: z.literal('ok') });

/** How many migrations the database still lacks; rejects when the database is away. */
export type CountPendingMigrations = () => Promise<number>;
/** Why the process cannot write its files, as a sentence; null when it can. */
export type FindFullDisk = () => Promise<string | null>;

export type Readiness = { countPendingMigrations: CountPendingMigrations; findFullDisk?: FindFullDisk };

/**
 * `/livez`: the event loop turns. `/readyz`: the database is there and migrated, there is room on the disks, and the process is not shutting down.
 * Temporal is not asked: without it requests are still accepted.
 */
export function systemRoutes({ countPendingMigrations, findFullDisk }: Readiness, red: AbortSignal): Route[] {
  const common = { method: 'GET', tag: 'System', auth: { by: 'nobody' }, rateLimit: 'none' } as const;
  return [
    readRoute({
      ...common,
      path: '/livez',
      operationId: 'getLiveness',
      summary: 'Whether the process is alive',
      responses: { 200: Status },
      handle: async () => ({ message: 'The process is alive', data: { status: 'ok' } }),
    }),
    readRoute({
      ...common,
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Whether the process can take requests: database, migrations, room on the disks',
      responses: { 200: Status },
      handle: async () => {
        if (red.aborted) throw notReady('The process is shutting down.');
        const pending = await withTimeout(countPendingMigrations(), READY_WITHIN_MS);
        if (pending === null) throw notReady('The database does not answer.');
        if (pending > 0) throw notReady(`${pending} migrations are not applied yet.`);
        const disks = await withTimeout(lookAtDisks(findFullDisk), READY_WITHIN_MS);
        if (disks === null) throw notReady('A disk does not answer.');
        if (disks.full !== null) throw notReady(disks.full);
        return { message: 'The process is ready', data: { status: 'ok' } };
      },
    }),
  ];
}

async function lookAtDisks(findFullDisk: FindFullDisk | undefined): Promise<{ full: string | null }> {
  return { full: (await findFullDisk?.()) ?? null };
}

function notReady(why: string): AppError {
  return new AppError('SERVICE_UNAVAILABLE', why, { headers: { 'Retry-After': '1' } });
}
