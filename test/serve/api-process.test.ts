import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

import { anyFreePort } from '../../src/local/ports.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
const children: ChildProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await database.drop();
});

/** The real `meskot api`, with no Temporal to reach; resolves when it listens. */
async function startApiProcess(): Promise<{ child: ChildProcess; port: number }> {
  const [port, metricsPort] = [await anyFreePort(), await anyFreePort()];
  const child = spawn(process.execPath, ['--import', 'tsx/esm', 'src/cli.ts', 'api'], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      API_PORT: String(port),
      METRICS_PORT: String(metricsPort),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('the API listens')) break;
  }
  child.stdout.resume();
  return { child, port };
}

/** A request whose headers never come to their end. */
async function beginRequest(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n');
}

describe('the API as a process', () => {
  test('is ready without Temporal, and ends with 0 when it is told to stop', async () => {
    const { child, port } = await startApiProcess();
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(ready.status).toBe(200);

    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  test('waits for a request under way, but ends at once when it is told a second time', async () => {
    const { child, port } = await startApiProcess();
    await beginRequest(port);

    child.kill('SIGTERM');
    await expect(refusesConnections(port)).resolves.toBe(true);
    expect(child.exitCode).toBeNull();

    const toldAt = performance.now();
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(child.exitCode).toBe(130);
    // Sooner than the 10 s after which the unfinished request itself would end.
    expect(performance.now() - toldAt).toBeLessThan(5_000);
  });
});

async function refusesConnections(port: number): Promise<boolean> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const refused = await once(socket, 'connect').then(
      () => false,
      () => true,
    );
    socket.destroy();
    if (refused) return true;
  }
}
