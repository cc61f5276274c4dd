import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { anyFreePort } from '../../src/lib/ports.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { meskot } from '../support/program.ts';
import { until } from '../support/until.ts';

const DAY_SECONDS = 86_400;
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Runs a process until its log has a line with these words: that line, and its metrics. */
async function runUntil(command: 'api' | 'worker', words: string): Promise<{ line: string; metrics: string }> {
  const [apiPort, metricsPort, consolePort] = [await anyFreePort(), await anyFreePort(), await anyFreePort()];
  const child = spawn(process.execPath, meskot(command), {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      LOG_LEVEL: 'info',
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      API_PORT: String(apiPort),
      METRICS_PORT: String(metricsPort),
      CONSOLE_PORT: String(consolePort),
      AWASH_CREDENTIALS_EXPIRE_ON: '2026-01-01',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.includes(words)) continue;
      const read = async () => fetch(`http://127.0.0.1:${metricsPort}/metrics`).catch(() => null);
      const response = await until('the metrics are served', read);
      return { line, metrics: await response.text() };
    }
    throw new Error(`${command} ended without "${words}"`);
  } finally {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

const secondsLeft = (metrics: string): number =>
  Number(/^meskot_credential_expires_seconds\{.*AWASH_CREDENTIALS_EXPIRE_ON.*\} (\S+)$/m.exec(metrics)?.[1]);

test('a worker warns of credentials that have ended when it starts, without Temporal, and its metric is negative', async () => {
  const { line, metrics } = await runUntil('worker', 'a credential has ended');
  expect(JSON.parse(line)).toMatchObject({
    what: 'AWASH_CREDENTIALS_EXPIRE_ON',
    expiresAt: '2025-12-31T21:00:00.000Z',
  });
  expect(secondsLeft(metrics)).toBeLessThan(-DAY_SECONDS);
}, 30_000);

test('the API exports the same metric', async () => {
  const { metrics } = await runUntil('api', 'API started');
  expect(secondsLeft(metrics)).toBeLessThan(-DAY_SECONDS);
}, 30_000);
