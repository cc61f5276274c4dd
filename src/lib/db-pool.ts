import { Socket } from 'node:net';

import pg from 'pg';

import { asAbsence } from './db-errors.ts';
import { beginSession, ensureOwnSession, type SessionLimits } from './db-session.ts';

export type DatabaseOptions = {
  /** For queries over whole tables: without time limits of statements. */
  unlimitedStatements?: boolean;
  url: string;
  poolMax: number;
  applicationName: string;
};

const LIMITS: SessionLimits = {
  statement_timeout: 5_000,
  lock_timeout: 1_000,
  idle_in_transaction_session_timeout: 10_000,
};
/** For a free connection, and for a new one. */
const CONNECT_MS = 1_000;
/** The longest that connections stay with a server that runs on after the database's name has moved to another one. */
const LIFETIME_SECONDS = 300;

const ignore = (): void => {};

/** A pool of sessions that have our settings, on a server that takes writes. */
export function openPool({ url, poolMax, applicationName, unlimitedStatements = false }: DatabaseOptions) {
  const sockets = new Set<Socket>();
  const server = createServerWatch();
  let ownSession: Promise<boolean> | undefined;
  // Once for the pool.
  const ensureSession = async (client: pg.ClientBase): Promise<void> => {
    ownSession ??= ensureOwnSession(client, url, CONNECT_MS);
    const isKnown = await ownSession.catch((error: unknown) => {
      ownSession = undefined;
      throw error;
    });
    if (!isKnown) ownSession = undefined;
  };
  // The pool awaits it, other than its types say.
  const onConnect = async (client: pg.ClientBase): Promise<void> => {
    server.add(client, await beginSession(client, { limits: LIMITS, timeoutMs: CONNECT_MS }));
    await ensureSession(client);
  };
  const pool = new pg.Pool({
    connectionString: url,
    application_name: applicationName,
    max: poolMax,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    keepAlive: true,
    // Statements that do not wait for each other's results share a round trip.
    pipeline: true,
    // A frozen server does not enforce its statement timeout.
    ...(unlimitedStatements ? {} : { query_timeout: 6_000 }),
    onConnect: onConnect as (client: pg.ClientBase) => void,
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once('close', () => sockets.delete(socket));
    },
  });
  // The statements of a lost connection reject with the same error.
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  return { pool, sockets: sockets as ReadonlySet<Socket>, server };
}

/** A connection to the server that the database is on; those to another one are closed. Rejects with an absence. */
export async function acquireCurrent(pool: pg.Pool, server: ServerWatch): Promise<pg.PoolClient> {
  for (;;) {
    const client = await pool.connect().catch((error: unknown) => {
      throw asAbsence(error);
    });
    if (server.has(client)) return client;
    client.release(true);
  }
}

export type ServerWatch = ReturnType<typeof createServerWatch>;

/** Which connections of a pool are to the server that the database is on. */
function createServerWatch() {
  let current = new WeakSet<object>();
  let server: string | undefined;
  const leave = (): void => void (current = new WeakSet());
  return {
    has: (client: object): boolean => current.has(client),
    /** The server, as READ_SERVER; undefined before the first connection. */
    get: (): string | undefined => server,
    /** A connection to another server outdates all before it: in a failover the database's name moves. */
    add: (client: object, to: string): void => {
      if (to !== server) leave();
      server = to;
      current.add(client);
    },
    /** Outdates all connections: each is closed when it would be used next. */
    leave,
  };
}
