import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { READ_SERVER } from './db-session.ts';
import type { Database } from './db.ts';

/** A pool that receives nothing from the server for this long, on any connection, is probed. */
const SILENT_MS = 700;
/** A live server answers the probe in this time, however busy it is. */
const PROBE_MS = 800;
const LOOK_EVERY_MS = 200;

/**
 * Closes a pool's connections when the server behind them is silent: frozen, or cut off. Waiting queries then fail within
 * about 2 s, as with an unavailable server, and the next ones get new connections. Silence is judged over the whole pool:
 * a single connection that is cut off is left to its statement's timeout. A slow statement is not silence: the server
 * answers the probe meanwhile, on a connection of its own.
 */
export function closeFrozenConnections(db: Database, url: string): void {
  void watch(db, url);
}

async function watch({ pool, sockets, server }: Database, url: string): Promise<void> {
  let [bytesSeen, silentSinceMs] = [0, performance.now()];
  while (!pool.ended) {
    await sleep(LOOK_EVERY_MS, undefined, { ref: false });
    const bytesRead = readBy(sockets);
    const isIdle = pool.totalCount === pool.idleCount;
    if (bytesRead !== bytesSeen || isIdle) [bytesSeen, silentSinceMs] = [bytesRead, performance.now()];
    if (performance.now() - silentSinceMs < SILENT_MS) continue;
    const suspected = [...sockets];
    const isFrozen = !(await isAlive(url, server.get()));
    // Bytes that arrived while this process was busy are read first.
    await nextTurn();
    if (isFrozen && readBy(suspected) === bytesRead) for (const socket of suspected) socket.destroy();
    silentSinceMs = performance.now();
  }
}

function readBy(sockets: Iterable<Socket>): number {
  return [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0);
}

/** Whether this server answers. After a failover another one does, under the same name. */
async function isAlive(url: string, server: string | undefined): Promise<boolean> {
  const timeouts = { connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS };
  const client = new pg.Client({ connectionString: url, ...timeouts });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ server: string }>(READ_SERVER);
    return server === undefined || rows[0]?.server === server;
  } catch (error) {
    // A server that rejects the probe is alive.
    return error instanceof pg.DatabaseError;
  } finally {
    // Not awaited: a silent server does not confirm the end either.
    void client.end().catch(() => {});
  }
}
