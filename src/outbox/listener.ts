import pg from 'pg';

import type { Knex } from '../lib/db.ts';
import { createDrainLoop } from '../lib/drain-loop.ts';
import type { Logger } from '../lib/log.ts';
import { startPeriodicJobs, type PeriodicJobs } from '../lib/periodic-jobs.ts';
import type { Dispatch } from './record.ts';

const CHANNEL = 'meskot_outbox';
const RECONNECT_MS = 1_000;

/** What a commit has written for the workers: messages for Temporal, or deliveries for the dispatcher. */
type Left = 'messages' | 'deliveries';

/** Wakes the relay or the dispatcher; delayed messages wait for the next sweep. */
export const dispatchTo =
  (wake: Record<Left, () => void>): Dispatch =>
  (written, triggersDispatcher) => {
    if (written.some(({ delayMs }) => delayMs === undefined)) wake.messages();
    if (triggersDispatcher) wake.deliveries();
  };

/**
 * Notifies workers of the API's commits. Of each kind one notification is in flight at a
 * time, and the next one stands for all commits before it. Where one fails, the workers look by themselves within 1 s.
 */
export function createNotifier(db: Knex): { dispatch: Dispatch; stop: () => Promise<void> } {
  const createOne = (left: Left) =>
    createDrainLoop(
      async () => {
        await db.raw(`NOTIFY ${CHANNEL}, '${left}'`).catch(() => {});
        return false;
      },
      () => 0,
    );
  const [messages, deliveries] = [createOne('messages'), createOne('deliveries')];
  return {
    dispatch: dispatchTo({ messages: messages.trigger, deliveries: deliveries.trigger }),
    stop: async () => {
      await Promise.all([messages.stop(), deliveries.stop()]);
    },
  };
}

/**
 * Wakes for what another process has committed. Only a hint that saves waiting for the
 * next look: a connection that is lost is opened again after a second.
 */
export function listenForCommits(options: {
  databaseUrl: string;
  wake: Record<Left, () => void>;
  log: Logger;
}): PeriodicJobs {
  const stopping = new AbortController();
  const listenOnce = async (): Promise<void> => {
    const client = new pg.Client({
      connectionString: options.databaseUrl,
      connectionTimeoutMillis: 2_000,
      keepAlive: true,
    });
    const over = new AbortController();
    const ended = new Promise<void>((resolve) => {
      client.on('end', resolve);
      client.on('error', () => resolve());
      stopping.signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      client.on('notification', ({ payload }) => options.wake[payload === 'messages' ? 'messages' : 'deliveries']());
      await ended;
    } finally {
      over.abort();
      await client.end().catch(() => {});
    }
  };
  const listening = startPeriodicJobs(
    [{ name: 'listen for commits', everyMs: RECONNECT_MS, run: listenOnce }],
    options.log,
  );
  return {
    stop: async () => {
      stopping.abort();
      await listening.stop();
    },
  };
}
