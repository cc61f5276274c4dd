import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens, and says at which URL; port 0 takes a free one. Rejects when it cannot: EADDRINUSE for a taken port. */
export async function listen(server: Server, at: { host: string; port: number }): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return `http://${at.host.includes(':') ? `[${at.host}]` : at.host}:${port}`;
}

/** How often connections are looked for that have come to rest since. */
const IDLE_LOOK_MS = 100;

/** Takes no new connections, and waits for what is under way: `graceMs`, then it is cut off. At once unless said. */
export async function stopListening(server: Server, graceMs = 0): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  // Closing ends those that are idle now. One whose long answer had begun before would be kept alive after it.
  const look = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS);
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  clearInterval(look);
  clearTimeout(deadline);
}
