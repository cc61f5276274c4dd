import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import pg from 'pg';

import type { Knex } from './db.ts';

/** A pool that waits this long without a byte from the server, on any connection, is worth a question … */
const SILENT_MS = 700;
/** … which a server that is there answers in this time, however busy it is. */
const PROBE_MS = 800;
const LOOK_EVERY_MS = 200;

/** The parts of tarn, knex's pool, that are needed. Each new connection is told of with the event's number. */
type Pool = {
  numUsed: () => number;
  on: ((event: 'createSuccess', callback: (id: number, client: { connection: { stream: Socket } }) => void) => void) &
    ((event: 'poolDestroyRequest', callback: () => void) => void);
};

/**
 * Ends a pool's connections when the server behind them has fallen silent: frozen, or cut off without a word. Whoever
 * waits on one then fails within about 2 s, as with a server that is away, and the next one gets a new connection.
 * Silence is judged over the whole pool: one connection that is cut off among others that hear the server is not
 * noticed here (its statement has a timeout of its own). A statement that is merely slow is left alone: meanwhile the
 * server answers a connection of the watch's own.
 */
export function closeFrozenConnections(db: Knex, url: string): void {
  const { pool } = db.client as { pool: Pool };
  const sockets = new Set<Socket>();
  let [bytesSeen, silentSinceMs, probing] = [0, performance.now(), false];

  const look = async (): Promise<void> => {
    const bytesRead = readBy(sockets);
    const nowMs = performance.now();
    if (bytesRead !== bytesSeen || pool.numUsed() === 0) [bytesSeen, silentSinceMs] = [bytesRead, nowMs];
    if (probing || nowMs - silentSinceMs < SILENT_MS) return;
    probing = true;
    const suspected = [...sockets];
    const bytesBefore = readBy(suspected);
    if (!(await isAlive(url))) {
      // What came while this process was too busy to read waits to be read: it is read first.
      await nextTurn();
      if (readBy(suspected) === bytesBefore) for (const socket of suspected) socket.destroy();
    }
    [silentSinceMs, probing] = [performance.now(), false];
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  pool.on('poolDestroyRequest', () => clearInterval(timer));
  pool.on('createSuccess', (_id, { connection: { stream } }) => {
    sockets.add(stream);
    stream.once('close', () => sockets.delete(stream));
  });
}

function readBy(sockets: Iterable<Socket>): number {
  return [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0);
}

async function isAlive(url: string): Promise<boolean> {
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
