import { mkdir } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

import { takeLock } from './lock.ts';

const HOST = '127.0.0.1';

/** Whether nothing listens on this port of the loopback interface, so that we may. */
export async function isPortFree(port: number): Promise<boolean> {
  // Both ways: some systems let us listen beside a program that listens on all addresses.
  return !(await answers(port)) && (await listens(port));
}

/** Gives ports out, none twice: also not to another copy that starts at the same moment. */
export type Ports = {
  /** The wanted port, or else the next one that is free and that no other part will want. */
  choose: (wanted: number) => Promise<number>;
  /** Others may have them. */
  release: () => void;
};

export type PortsOptions = {
  /** What parts of this start will want. */
  wanted: Iterable<number>;
  /**
   * Where starts on this machine say which ports they have. A port is looked at long before anything listens on it, so
   * two copies that looked at once would both find it free.
   */
  claimsFolder: string;
};

export function createPorts({ wanted: allWanted, claimsFolder }: PortsOptions): Ports {
  const reserved = new Set(allWanted);
  const claims: { release: () => void }[] = [];
  const take = async (port: number): Promise<boolean> => {
    const claim = await takeLock(join(claimsFolder, `${port}.pid`));
    if ('takenBy' in claim) return false;
    if (await isPortFree(port)) {
      claims.push(claim);
      reserved.add(port);
      return true;
    }
    claim.release();
    return false;
  };
  return {
    choose: async (wanted) => {
      await mkdir(claimsFolder, { recursive: true, mode: 0o700 });
      if (await take(wanted)) return wanted;
      for (let port = wanted + 1; port <= 65_535; port += 1) {
        if (!reserved.has(port) && (await take(port))) return port;
      }
      throw new Error(`no free port from ${wanted} up`);
    },
    release: () => {
      for (const claim of claims.splice(0)) claim.release();
    },
  };
}

/** A port that was free a moment ago, anywhere. */
export async function anyFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  return address.port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST, timeout: 300 });
    const end = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
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
