import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

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
