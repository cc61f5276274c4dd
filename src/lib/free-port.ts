import { once } from 'node:events';
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
