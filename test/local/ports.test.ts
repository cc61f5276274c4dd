import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { anyFreePort, isPortFree } from '../../src/lib/ports.ts';
import { processStartTime } from '../../src/local/child-process.ts';
import { createPorts } from '../../src/local/data-folder.ts';

function listenOn(port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

let claimsFolder: string;
const lines: string[] = [];
const print = (line: string): void => void lines.push(line);
beforeAll(async () => {
  claimsFolder = await mkdtemp(join(tmpdir(), 'meskot-ports-'));
});
afterAll(() => rm(claimsFolder, { recursive: true }));

describe('choosing a port', () => {
  let taken: Server | undefined;
  afterEach(() => new Promise((resolve) => (taken ? taken.close(resolve) : resolve(undefined))));

  test('free ports that are chosen at the same time differ, and are below those of outgoing connections', async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, () => anyFreePort()));
    expect(new Set(ports).size).toBe(20);
    expect(Math.max(...ports)).toBeLessThan(32_768);
  });

  test('a free port is allocated as wanted, and again once released', async () => {
    const port = await anyFreePort();
    for (const _ of [1, 2]) {
      const ports = createPorts({ wanted: [], claimsFolder, print });
      await expect(ports.choose('the API', port)).resolves.toBe(port);
      ports.release();
    }
  });

  test.each(['127.0.0.1', '0.0.0.0'])('a port taken on %s is replaced by the next free one', async (host) => {
    const port = await anyFreePort();
    taken = await listenOn(port, host);
    await expect(isPortFree(port)).resolves.toBe(false);
    const chosen = await createPorts({ wanted: [], claimsFolder, print }).choose('the API', port);
    expect(chosen).toBeGreaterThan(port);
    expect(lines).toContain(`port ${port} is taken; the API uses ${chosen}`);
  });

  test('a port that another service wants is skipped, and no port is allocated twice', async () => {
    const port = await anyFreePort();
    taken = await listenOn(port, '127.0.0.1');
    const ports = createPorts({ wanted: [port + 1], claimsFolder, print });
    const first = await ports.choose('the API', port);
    const second = await ports.choose('the API', port);
    expect(first).toBeGreaterThan(port + 1);
    expect(second).toBeGreaterThan(first);
  });

  test('a port that browsers refuse is not offered in place of a taken one', async () => {
    const ports = createPorts({ wanted: [], claimsFolder, print });
    const first = await ports.choose('the API', 10_079);
    const second = await ports.choose('the API', 10_079);
    expect([first, second]).not.toContain(10_080);
    expect(second).toBeGreaterThan(first);
    ports.release();
  });

  test('a port claimed by a living process is skipped before it listens, one claimed by a dead process is not', async () => {
    const port = await anyFreePort();
    const claim = join(claimsFolder, `${port}.pid`);
    const other = spawn('sleep', ['60']);
    await once(other, 'spawn');
    const pid = other.pid ?? 0;
    await writeFile(claim, JSON.stringify({ pid, mark: await processStartTime(pid) }));
    await expect(createPorts({ wanted: [], claimsFolder, print }).choose('the API', port)).resolves.toBeGreaterThan(
      port,
    );

    other.kill('SIGKILL');
    await once(other, 'exit');
    await expect(createPorts({ wanted: [], claimsFolder, print }).choose('the API', port)).resolves.toBe(port);
  });
});

describe('the lock of a dead process', () => {
  const code = `
    const { takeLock } = await import('./src/local/data-folder.ts');
    const taken = await takeLock(process.argv[1]);
    process.stdout.write('takenBy' in taken ? 'waits' : 'has it');
    setInterval(() => {}, 1000);`;

  test('is taken over by exactly one of several processes that try at once', async () => {
    const lock = join(claimsFolder, 'stale.pid');
    await writeFile(lock, JSON.stringify({ pid: process.pid, mark: 'another life' }));
    const tries = Array.from({ length: 6 }, () =>
      spawn(process.execPath, ['--import', 'tsx/esm', '--input-type=module', '-e', code, lock], {
        cwd: resolve(import.meta.dirname, '../..'),
        env: { ...process.env, NODE_OPTIONS: '' },
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    const results = await Promise.all(tries.map(async ({ stdout }) => String((await once(stdout, 'data'))[0])));
    for (const one of tries) one.kill('SIGKILL');
    expect(results.filter((result) => result === 'has it')).toHaveLength(1);
  }, 30_000);
});
