import { connect, createServer } from 'node:net';

const HOST = '127.0.0.1';

/** Whether no process listens on this port of the loopback interface. */
export async function isPortFree(port: number): Promise<boolean> {
  // Connecting and listening: some systems allow both beside a program that listens on all addresses.
  return !(await isListening(port)) && (await listens(port));
}

/** Any port that was free a moment ago. */
export async function anyFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('The system returned no port.');
  return address.port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST, timeout: 300 });
    const end = (isListening: boolean): void => {
      socket.destroy();
      resolve(isListening);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, HOST, () => server.close(() => resolve(true)));
  });
}
