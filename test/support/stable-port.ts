import { randomInt } from 'node:crypto';

import { isPortFree } from '../../src/lib/ports.ts';

/**
 * A port for a server that is stopped and restarted. It is below 32,768, the ports of outgoing connections: a client
 * that retries while no server listens would finally connect to itself, and occupy the port.
 */
export async function stablePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await isPortFree(port)) return port;
  }
}
