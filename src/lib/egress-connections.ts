import type { Socket } from 'node:net';

import { Client, type buildConnector } from 'undici';

import type { Connect, ConnectProgress } from './egress-connect.ts';

/** One connection to one origin. undici keeps its protocol; who uses it when is decided here. */
export type Connection = {
  client: Client;
  origin: string;
  progress: ConnectProgress;
  /** Requests written to the present socket: above 1 it was kept alive, and the other side may have closed it. */
  requests: number;
  /** Ends it at once, in whatever phase it is. */
  abandon: () => void;
};

export type Connections = {
  /** An idle connection to the URL's origin, else a new one. */
  take: (url: URL) => Connection;
  /** A new one, whatever is idle. */
  open: (url: URL) => Connection;
  /** For the next request to that origin; only after an answer that was read to its end. */
  giveBack: (connection: Connection) => void;
  /** Ends all idle connections, and from now on each as it is given back. */
  close: () => void;
};

const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 60_000;
const HEADER_BYTES_MAX = 32_768;

/**
 * Connections kept alive between requests, at most `idleMax` in all, the longest idle ended first. undici's Agent is
 * not used because it queues one merchant's request behind another's at a shared host, refuses a new origin when it
 * holds many, and does not say whether a connection was reused.
 */
export function createConnections(options: { connect: Connect; idleMax: number }): Connections {
  const idle = new Map<string, Connection[]>();
  // In the order in which they became idle.
  const idleSince = new Set<Connection>();
  let closed = false;

  const forget = (connection: Connection): void => {
    if (!idleSince.delete(connection)) return;
    const left = (idle.get(connection.origin) ?? []).filter((other) => other !== connection);
    if (left.length === 0) idle.delete(connection.origin);
    else idle.set(connection.origin, left);
  };

  const open = (url: URL): Connection => {
    const connection = openConnection(url, options.connect);
    connection.client.on('disconnect', () => {
      if (!idleSince.has(connection)) return;
      forget(connection);
      connection.abandon();
    });
    return connection;
  };

  const end = (connection: Connection): void => {
    forget(connection);
    connection.abandon();
  };

  return {
    open,
    take: (url) => {
      const connection = idle.get(url.origin)?.at(-1);
      if (connection === undefined) return open(url);
      forget(connection);
      return connection;
    },
    giveBack: (connection) => {
      if (closed) return end(connection);
      const others = idle.get(connection.origin);
      if (others === undefined) idle.set(connection.origin, [connection]);
      else others.push(connection);
      idleSince.add(connection);
      const [oldest] = idleSince;
      if (oldest !== undefined && idleSince.size > options.idleMax) end(oldest);
    },
    close: () => {
      closed = true;
      for (const connection of idleSince) end(connection);
    },
  };
}

function openConnection(url: URL, connect: Connect): Connection {
  const abort = new AbortController();
  const progress: ConnectProgress = { phase: 'dns', dnsMs: null, connectMs: null, tlsMs: null };
  const connectFor = async (done: buildConnector.Callback): Promise<void> => {
    connection.requests = 0;
    let socket: Socket;
    try {
      socket = await connect(url, progress, abort.signal);
    } catch (error) {
      return done(error as Error, null);
    }
    return done(null, socket);
  };
  const client = new Client(url.origin, {
    connect: (_target, done) => void connectFor(done),
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    // The sender has one clock over everything.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const connection: Connection = {
    client,
    origin: url.origin,
    progress,
    requests: 0,
    abandon: () => {
      abort.abort();
      void client.destroy();
    },
  };
  return connection;
}
