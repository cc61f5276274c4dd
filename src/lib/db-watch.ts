import type { Socket } from 'node:net';

import pg from 'pg';

import type { Knex } from './db.ts';

/** Whoever waits this long without a byte from the server is worth a question … */
const SILENT_MS = 700;
/** … which a server that is there answers in this time, however busy it is. */
const PROBE_MS = 800;
const LOOK_EVERY_MS = 200;

/** The parts of tarn, knex's pool, that are needed. Each new connection is told of with the event's number. */
type Pool = {
  numUsed: () => number;
  on: ((event: 'createSuccess', told: (id: number, client: { connection: { stream: Socket } }) => void) => void) &
    ((event: 'poolDestroyRequest', told: () => void) => void);
};

/**
 * Ends a pool's connections when the server behind them has fallen silent: frozen, or cut off without a word. Whoever
 * waits on one then fails within about 2 s, as with a server that is away, and the next one gets a new connection. A
 * statement that is merely slow is left alone: meanwhile the server answers a connection of the watch's own.
 */
export function watchDatabase(db: Knex, url: string): void {
  const { pool } = db.client as { pool: Pool };
  const sockets = new Set<Socket>();
  let [bytesSeen, silentSinceMs, probing] = [0, performance.now(), false];

  const look = async (): Promise<void> => {
    const bytesRead = [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0);
    const nowMs = performance.now();
    if (bytesRead !== bytesSeen || pool.numUsed() === 0) [bytesSeen, silentSinceMs] = [bytesRead, nowMs];
    if (probing || nowMs - silentSinceMs < SILENT_MS) return;
    probing = true;
    const suspected = [...sockets];
    if (!(await isAnswering(url))) for (const socket of suspected) socket.destroy();
    [silentSinceMs, probing] = [performance.now(), false];
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  pool.on('poolDestroyRequest', () => clearInterval(timer));
  pool.on('createSuccess', (_id, { connection: { stream } }) => {
    sockets.add(stream);
    stream.once('close', () => sockets.delete(stream));
  });
}

async function isAnswering(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PROBE_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch (error) {
    // One that refuses us is there.
    return error instanceof pg.DatabaseError;
  } finally {
    // Not waited for: a silent server does not say goodbye either.
    void client.end().catch(() => {});
  }
}
