import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { isPortFree } from '../lib/free-port.ts';
import { takeLock } from './data-folder.ts';

export type Ports = ReturnType<typeof createPorts>;

type PortsOptions = {
  /** The wanted ports of all services of this start. */
  wanted: Iterable<number>;
  /**
   * Holds a lock file per port, shared by all starts on this machine: a port is chosen long before anything listens on it,
   * so two copies could both find it free.
   */
  claimsFolder: string;
  print: (line: string) => void;
};

/** Allocates ports, none twice. */
export function createPorts({ wanted: allWanted, claimsFolder, print }: PortsOptions) {
  const reserved = new Set(allWanted);
  const claims: (() => void)[] = [];
  const take = async (port: number): Promise<boolean> => {
    const claim = await takeLock(join(claimsFolder, `${port}.pid`));
    if ('takenBy' in claim) return false;
    claims.push(claim.release);
    return isPortFree(port);
  };
  return {
    /** The wanted port, or else the next free one that no other service wants, which is printed. */
    choose: async (name: string, wanted: number): Promise<number> => {
      await mkdir(claimsFolder, { recursive: true, mode: 0o700 });
      for (let port = wanted; port <= 65_535; port += 1) {
        if ((port > wanted && reserved.has(port)) || !(await take(port))) continue;
        if (port > wanted) print(`port ${wanted} is taken; ${name} uses ${port}`);
        return port;
      }
      throw new Error(`There is no free port from ${wanted} up.`);
    },
    release: (): void => claims.forEach((release) => release()),
  };
}
