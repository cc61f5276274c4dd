import { once } from 'node:events';

import { connectSession } from '../lib/db-session.ts';
import { type Database, rows } from '../lib/db.ts';
import { createDrainLoop } from '../lib/drain-loop.ts';
import type { Logger } from '../lib/log.ts';
import { startPeriodicJobs, type PeriodicJobs } from '../lib/periodic-jobs.ts';
import type { Dispatch } from './record.ts';

const CHANNEL = 'meskot_outbox';
const RECONNECT_MS = 1_000;

/** What a commit has written: messages for the relay, or deliveries for the dispatcher. */
type Written = 'messages' | 'deliveries';

/** Triggers the relay or the dispatcher of this process; delayed messages wait for a later sweep. */
export const dispatchTo =
  (trigger: Record<Written, () => void>): Dispatch =>
  (written, triggersDispatcher) => {
    if (written.some(({ delayMs }) => delayMs === undefined)) trigger.messages();
    if (triggersDispatcher) trigger.deliveries();
  };

/**
 * Notifies the workers of the API's commits. One notification of each kind is in flight at a time; the next one covers all
 * commits before it. A failed notification delays its messages by at most 1 s: the workers also poll.
 */
export function createNotifier(db: Database): { dispatch: Dispatch; stop: () => Promise<void> } {
  const createOne = (written: Written) =>
    createDrainLoop(
      async () => {
        await rows(db, `SELECT pg_notify('${CHANNEL}', :written)`, { written }).catch(() => {});
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
 * Triggers the relay or the dispatcher when another process commits. Only saves waiting for the next poll; a lost connection
 * is opened again after a second.
 */
export function listenForCommits(options: {
  databaseUrl: string;
  trigger: Record<Written, () => void>;
  log: Logger;
}): PeriodicJobs {
  const { databaseUrl: url, trigger, log } = options;
  const config = { url, applicationName: 'meskot-listener', connectMs: 2_000 };
  const listenOnce = async (stopping: AbortSignal): Promise<void> => {
    const client = await connectSession(config);
    try {
      await client.query(`LISTEN ${CHANNEL}`);
      client.on('notification', ({ payload }) => trigger[payload === 'messages' ? 'messages' : 'deliveries']());
      // Until the connection is lost or this process stops.
      await once(client, 'end', { signal: stopping }).catch(() => {});
    } finally {
      await client.end().catch(() => {});
    }
  };
  return startPeriodicJobs([{ name: 'listen for commits', everyMs: RECONNECT_MS, run: listenOnce }], log);
}
