import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { anyFreePort } from '../../src/lib/ports.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { meskot } from '../support/program.ts';

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
async function startApiProcess(
  settings: Record<string, string> = {},
): Promise<{ child: ChildProcess; port: number; consolePort: number }> {
  const [port, metricsPort, consolePort] = [await anyFreePort(), await anyFreePort(), await anyFreePort()];
  const child = spawn(process.execPath, meskot('api'), {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      API_PORT: String(port),
      METRICS_PORT: String(metricsPort),
      CONSOLE_PORT: String(consolePort),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('API started')) break;
  }
  child.stdout.resume();
  return { child, port, consolePort };
}

type Asked = { answered: number; failed: unknown[] };

/** A request whose headers never come to their end. */
async function beginRequest(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n');
}

describe('the API as a process', () => {
  test('is ready without Temporal, and exits with 0 after SIGTERM', async () => {
    const { child, port } = await startApiProcess();
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(ready.status).toBe(200);

    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  test('is not ready while a disk that it writes to is full, and names the disk', async () => {
    const { child, port } = await startApiProcess({ DISK_FREE_MEGABYTES_MIN: '1000000000' });
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toMatch(
      /The disk of KYC_DOCUMENTS_DIR has \d+ MB free, and at least 1000000000 MB are needed\./,
    );
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
    child.kill('SIGKILL');
  });

  test('is not ready at once after SIGTERM, and serves until load balancers have noticed', async () => {
    const { child, port } = await startApiProcess({ SHUTDOWN_DELAY_SECONDS: '2' });
    let isOver = false;
    const until = (): boolean => isOver;
    const clients = [true, false, true, false].map(async (keepAlive) => request(port, { keepAlive, until }));
    await expect(readiness(port)).resolves.toBe(200);

    child.kill('SIGTERM');
    const printedAt = performance.now();
    while ((await readiness(port)) === 200);
    expect(performance.now() - printedAt).toBeLessThan(500);
    // A balancer that looks every half second sends its last request a second after.
    await sleep(1_000);
    isOver = true;
    const asked = await Promise.all(clients);
    expect(asked.flatMap(({ failed }) => failed)).toEqual([]);
    expect(Math.min(...asked.map(({ answered }) => answered))).toBeGreaterThan(10);

    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
    expect(performance.now() - printedAt).toBeGreaterThan(2_000);
  });

  test.each(['port', 'consolePort'] as const)(
    'waits for requests in progress at its %s after a signal, and exits at once after a second one',
    async (name) => {
      const { child, [name]: port } = await startApiProcess();
      await beginRequest(port);

      child.kill('SIGTERM');
      await expect(refusesConnections(port)).resolves.toBe(true);
      expect(child.exitCode).toBeNull();

      const printedAt = performance.now();
      child.kill('SIGTERM');
      await once(child, 'exit');
      expect(child.exitCode).toBe(130);
      // Sooner than the 10 s after which the unfinished request itself would end.
      expect(performance.now() - printedAt).toBeLessThan(5_000);
    },
  );

  test("turns 503 at the operators' listener, too, when it stops", async () => {
    const { child, port, consolePort } = await startApiProcess({ SHUTDOWN_DELAY_SECONDS: '1' });
    await expect(readiness(consolePort)).resolves.toBe(200);
    child.kill('SIGTERM');
    while ((await readiness(port)) === 200);
    await expect(readiness(consolePort)).resolves.toBe(503);
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  test("does not start without its operators' listener, where another program has the port", async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const { child } = await startApiProcess({ CONSOLE_PORT: String(port) });
    if (child.exitCode === null) await once(child, 'exit');
    holder.close();
    expect(child.exitCode).toBe(1);
  });
});

/** Requests one after the other until stopped; on connections of their own, or on one that is kept. */
async function request(port: number, options: { keepAlive: boolean; until: () => boolean }): Promise<Asked> {
  const agent = new Agent({ keepAlive: options.keepAlive, maxSockets: 1 });
  const asked: Asked = { answered: 0, failed: [] };
  while (!options.until()) {
    try {
      const [answer] = (await once(get({ port, host: '127.0.0.1', path: '/livez', agent }), 'response')) as [
        IncomingMessage,
      ];
      answer.resume();
      await once(answer, 'end');
      asked.answered += 1;
    } catch (error) {
      asked.failed.push(error instanceof Error && 'code' in error ? error.code : error);
    }
  }
  agent.destroy();
  return asked;
}

async function readiness(port: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { headers: { connection: 'close' } });
  await answer.arrayBuffer();
  return answer.status;
}

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
