import { randomInt } from 'node:crypto';

import { isPortFree } from '../../src/lib/free-port.ts';

/**
 * A port for a server that goes away and comes back. Not one that the system gives to connections, from 32,768 on: a
 * client that asks again and again while nothing listens is connected to itself in the end, and keeps the port.
 */
export async function stablePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await isPortFree(port)) return port;
  }
}
