import { createServer, type Server } from 'node:net';

import { anyFreePort, choosePort, isPortFree } from '../../src/local/ports.ts';

function listenOn(port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

describe('choosing a port', () => {
  let taken: Server | undefined;
  afterEach(() => new Promise((resolve) => (taken ? taken.close(resolve) : resolve(undefined))));

  test('a free port is given as wanted', async () => {
    const port = await anyFreePort();
    await expect(choosePort(port, new Set())).resolves.toBe(port);
  });

  test.each(['127.0.0.1', '0.0.0.0'])('a port taken on %s moves to the next free one', async (host) => {
    const port = await anyFreePort();
    taken = await listenOn(port, host);
    await expect(isPortFree(port)).resolves.toBe(false);
    await expect(choosePort(port, new Set())).resolves.toBeGreaterThan(port);
  });

  test('a port that another part will want is passed over, and one given out is not given twice', async () => {
    const port = await anyFreePort();
    taken = await listenOn(port, '127.0.0.1');
    const reserved = new Set([port + 1]);
    const first = await choosePort(port, reserved);
    const second = await choosePort(port, reserved);
    expect(first).toBeGreaterThan(port + 1);
    expect(second).toBeGreaterThan(first);
  });
});
