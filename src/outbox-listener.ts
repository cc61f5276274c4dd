import pg from 'pg';

import { startChores, type Chores } from './chores.ts';
import type { Logger } from './lib/log.ts';
import { OUTBOX_CHANNEL } from './relay.ts';

const RECONNECT_MS = 1_000;

/**
 * Calls `wake` when another process has committed to the outbox. Only a hint that saves waiting for the next sweep: a
 * connection that is lost is opened again at leisure.
 */
export function listenToOutbox(options: { databaseUrl: string; wake: () => void; log: Logger }): Chores {
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
      await client.query(`LISTEN ${OUTBOX_CHANNEL}`);
      client.on('notification', options.wake);
      await ended;
    } finally {
      over.abort();
      await client.end().catch(() => {});
    }
  };
  const listening = startChores(
    [{ name: 'listen to the outbox', everyMs: RECONNECT_MS, run: listenOnce }],
    options.log,
  );
  return {
    stop: async () => {
      stopping.abort();
      await listening.stop();
    },
  };
}
