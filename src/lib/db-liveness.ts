import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

import pg from 'pg';

import type { Database } from './db.ts';

/** A pool that hears nothing from the server for this long, on any connection, is probed. */
const SILENT_MS = 700;
/** A live server answers the probe in this time, however busy it is. */
const PROBE_MS = 800;
const LOOK_EVERY_MS = 200;

/** The used part of tarn, knex's pool. Events carry their number and the connection. */
type Pool = {
  numUsed: () => number;
  on: ((event: 'createSuccess', callback: (id: number, client: { connection: { stream: Socket } }) => void) => void) &
    ((event: 'poolDestroyRequest', callback: () => void) => void);
};

/**
 * Closes a pool's connections when the server behind them is silent: frozen, or cut off. Waiting queries then fail within
 * about 2 s, as with an unavailable server, and the next ones get new connections. Silence is judged over the whole pool:
 * a single connection that is cut off is left to its statement's timeout. A slow statement is not silence: the server
 * answers the probe meanwhile, on a connection of its own.
 */
export function closeFrozenConnections(db: Database, url: string): void {
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
      // Bytes that arrived while this process was busy are read first.
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
    // A server that rejects the probe is alive.
    return error instanceof pg.DatabaseError;
  } finally {
    // Not awaited: a silent server does not confirm the end either.
    void client.end().catch(() => {});
  }
}
