import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type Server } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';

const HOST = '127.0.0.1';
const CONNECT_MS = 300;
/** The ports offered as free. Outgoing connections have 32,768 and above on Linux, 49,152 and above elsewhere. */
const OFFERED = { from: 20_000, below: 32_000 };

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

/** Ports that fetch and browsers refuse, from 1024 on: https://fetch.spec.whatwg.org/#port-blocking. */
export const BLOCKED_PORTS = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
];

let lastOffered = randomInt(OFFERED.from, OFFERED.below);

/**
 * A port that was free a moment ago; the next call offers another one. It is below the ports of outgoing connections:
 * one of those could occupy it before its server listens, also a client that connects to itself while no server does.
 */
export async function anyFreePort(): Promise<number> {
  for (;;) {
    lastOffered = lastOffered + 1 < OFFERED.below ? lastOffered + 1 : OFFERED.from;
    const port = lastOffered;
    if (await isPortFree(port)) return port;
  }
}

/** Listens on a port and stops at once. Rejects when it is taken. */
async function listenBriefly(port: number): Promise<void> {
  const server = createServer().listen(port, HOST);
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
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
