import { once } from 'node:events';
import { type Server } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';

const HOST = '127.0.0.1';
const CONNECT_MS = 300;

const succeeds = async (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** Whether no process listens on this port of the loopback interface. */
export async function isPortFree(port: number): Promise<boolean> {
  // Connecting and listening: some systems allow both beside a program that listens on all addresses.
  const socket = connect({ port, host: HOST });
  const connected = once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
  const isUsed = await succeeds(connected).finally(() => socket.destroy());
  return !isUsed && succeeds(listenBriefly(port));
}

/** Any port that was free a moment ago. */
export async function anyFreePort(): Promise<number> {
  return listenBriefly(0);
}

/** Listens on a port, 0 for any, and stops at once. Returns the port; rejects when it is taken. */
async function listenBriefly(port: number): Promise<number> {
  const server = createServer().listen(port, HOST);
  await once(server, 'listening');
  const { port: listened } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return listened;
}

/** Listens and returns the URL; port 0 takes a free one. Rejects when it cannot: EADDRINUSE for a used port. */
export async function listen(server: Server, at: { host: string; port: number }): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return `http://${at.host.includes(':') ? `[${at.host}]` : at.host}:${port}`;
}

/** How often idle connections are closed while stopping. */
const IDLE_LOOK_MS = 100;

/** Stops accepting connections and waits for running requests for `graceMs`, then closes them. At once by default. */
export async function stopListening(server: Server, graceMs = 0): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  // close() ends connections that are idle now. One with a response in progress would be kept alive after it.
  const look = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS);
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  clearInterval(look);
  clearTimeout(deadline);
}
