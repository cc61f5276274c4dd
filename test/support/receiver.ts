import { once, setMaxListeners } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

import { RECEIVER_CERTIFICATE, RECEIVER_KEY } from './receiver-certificate.ts';

/** What a receiver does with a request, from well-behaved to hostile. */
export type Behaviour =
  | { kind: 'answer'; status: number; body?: string | Buffer; headers?: Record<string, string>; afterMs?: number }
  /** Reads the request and never responds. */
  | { kind: 'hang' }
  /** Responds with 200 at once, then with one byte of the body at a time, without end. */
  | { kind: 'drip'; everyMs: number }
  /** Sends the status line at once, then one byte of a header at a time, without end. */
  | { kind: 'drip-headers'; everyMs: number }
  /** Responds with 200 and a body of this size. */
  | { kind: 'huge'; bytes: number }
  /** Resets the connection instead of responding; `reused`: only from its second request on, the first gets a 200. */
  | { kind: 'reset'; reused?: boolean }
  | { kind: 'redirect'; location: string }
  /** Responds with 200 and a few kB of gzip that unpack to 64 MB. */
  | { kind: 'gzip-bomb' }
  /** Sends these bytes instead of HTTP. */
  | { kind: 'garbage'; bytes: string };

export type ReceivedRequest = {
  at: Date;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The number of its connection, from 1. */
  connection: number;
  /** The host name in the TLS handshake. */
  servername: string | null;
  /** Its response; `delivered`: the sender was still connected. Null until there is one. */
  response: { status: number; at: Date; delivered: boolean } | null;
};

export type Receiver = {
  /** The webhook URL, on 127.0.0.1. */
  url: string;
  port: number;
  /** All requests, in their order of arrival. */
  requests: ReceivedRequest[];
  /** Sets the behaviour for the next requests; a function chooses it by the request. */
  behave: (behaviour: Behaviour | ((request: ReceivedRequest) => Behaviour)) => void;
  /** Resolves when this many requests have arrived; rejects after 10 s. */
  received: (count: number) => Promise<ReceivedRequest[]>;
  /** The number of open connections. */
  openConnections: () => number;
  /** Bytes written to all connections, headers included. */
  bytesWritten: () => number;
  close: () => Promise<void>;
};

/** An HTTP server that records all requests and responds with 200 by default. */
export async function startReceiver(
  options: { tls?: boolean | { key: string; cert: string } } = {},
): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Map<Socket, number>();
  const closedBytes = { written: 0 };
  let opened = 0;
  let behaviour: (request: ReceivedRequest) => Behaviour = () => ({ kind: 'answer', status: 200 });
  let wake: () => void = () => {};

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request: ReceivedRequest = {
      at: new Date(),
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks),
      connection: sockets.get(incoming.socket) ?? 0,
      servername: (incoming.socket as Socket & { servername?: string | false }).servername || null,
      response: null,
    };
    requests.push(request);
    wake();
    const isReused = requests.filter((other) => other.connection === request.connection).length > 1;
    await respond({ request, response }, behaviour(request), isReused);
  };
  const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
    // Senders that disconnect during a request are part of the tests.
    handle(incoming, response).catch(() => response.destroy());
  };
  const ownTls = { key: RECEIVER_KEY, cert: RECEIVER_CERTIFICATE };
  const server = options.tls
    ? createTlsServer(options.tls === true ? ownTls : options.tls, listener)
    : createServer(listener);
  server.keepAliveTimeout = 30_000;
  server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.set(socket, ++opened);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      closedBytes.written += socket.bytesWritten;
    });
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}/webhooks`,
    port,
    requests,
    behave: (next) => void (behaviour = typeof next === 'function' ? next : () => next),
    received: async (count) => {
      const deadline = AbortSignal.timeout(10_000);
      setMaxListeners(0, deadline);
      while (requests.length < count) {
        deadline.throwIfAborted();
        await new Promise<void>((resolve) => {
          wake = resolve;
          deadline.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      return requests;
    },
    openConnections: () => sockets.size,
    bytesWritten: () => [...sockets.keys()].reduce((sum, socket) => sum + socket.bytesWritten, closedBytes.written),
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets.keys()) socket.destroy();
      await closed;
    },
  };
}

type Exchange = { request: ReceivedRequest; response: ServerResponse };

function writeStatus({ request, response }: Exchange, status: number, headers = {}): ServerResponse {
  request.response = { status, at: new Date(), delivered: response.socket?.destroyed === false };
  return response.writeHead(status, headers);
}

async function respond(exchange: Exchange, behaviour: Behaviour, isReused: boolean): Promise<void> {
  const { response } = exchange;
  switch (behaviour.kind) {
    case 'answer':
      if (behaviour.afterMs !== undefined) await pause(behaviour.afterMs);
      writeStatus(exchange, behaviour.status, behaviour.headers).end(behaviour.body);
      return;
    case 'hang':
      return;
    case 'drip':
      writeStatus(exchange, 200).write('.');
      await drip(response, behaviour.everyMs, () => response.write('.'));
      return;
    case 'drip-headers':
      response.socket?.write('HTTP/1.1 200 OK\r\nx-slow: ');
      await drip(response, behaviour.everyMs, () => response.socket?.write('.'));
      return;
    case 'huge':
      writeStatus(exchange, 200, { 'content-length': behaviour.bytes });
      await writeMany(response, behaviour.bytes);
      return;
    case 'reset':
      if (behaviour.reused && !isReused) writeStatus(exchange, 200).end();
      else response.socket?.resetAndDestroy();
      return;
    case 'redirect':
      writeStatus(exchange, 302, { location: behaviour.location }).end();
      return;
    case 'gzip-bomb':
      writeStatus(exchange, 200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * 1024 * 1024)));
      return;
    case 'garbage':
      response.socket?.end(behaviour.bytes);
      return;
  }
}

async function drip(response: ServerResponse, everyMs: number, write: () => unknown): Promise<void> {
  while (!response.destroyed && !response.socket?.destroyed) {
    await pause(everyMs);
    write();
  }
}

async function writeMany(response: ServerResponse, bytes: number): Promise<void> {
  response.setMaxListeners(0);
  const chunk = Buffer.alloc(65_536, 'x');
  for (let left = bytes; left > 0 && !response.destroyed; left -= chunk.length) {
    if (!response.write(chunk.subarray(0, left)))
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end();
}

/** Does not keep a test's process alive. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
