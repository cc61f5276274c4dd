import { resolve } from 'node:path';

import { startApi } from '../../src/app/api.ts';
import { first, rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { CIRCUIT } from '../../src/providers/circuit-breaker.ts';
import { connectLive, liveSettings } from '../providers/live.ts';
import { buildAttempt, buildFixture, buildSession } from '../support/build.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { buildLive } from '../support/withdrawals.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

const clock = () => new Date();
const log = createLogger('silent', 'test');

let simulator: TestSimulator;
let fixture: WorkerFixture;
let live: ReturnType<typeof connectLive>;

beforeAll(async () => {
  simulator = await startTestSimulator();
  fixture = await createWorkerFixture({
    ...(liveSettings(simulator.url) as Record<string, string>),
    TASK_QUEUES: 'payments',
    PUBLIC_BASE_URL: 'http://127.0.0.1:9',
    API_PORT: String(await anyFreePort()),
    METRICS_PORT: String(await anyFreePort()),
    CONSOLE_PORT: String(await anyFreePort()),
  });
  live = connectLive(simulator.url);
});
afterAll(async () => {
  await fixture.close();
  await Promise.all([live.close(), simulator.close()]);
});

/** As many live attempts as open a circuit, which the provider has not received. */
async function startAttempts(): Promise<string[]> {
  const { db, runInTransaction } = fixture;
  const checkout = { ...buildFixture(db, { clock, findProvider: live.find }), runInTransaction };
  const scope = await buildLive(db, await fixture.newMerchant());
  const attempts = Array.from({ length: CIRCUIT.failuresInRow }, async () => {
    const { sessionId } = await buildSession(checkout, scope);
    return buildAttempt(checkout, { ...scope, sessionId }, { channel: 'CBE_BIRR' });
  });
  return Promise.all(attempts);
}

const isUnavailable = async () =>
  (await first<{ is: boolean }>(
    fixture.db,
    `SELECT live_unavailable_until > now() AS is FROM channel WHERE id = 'CBE_BIRR'`,
  ))!.is;

beforeEach(async () => {
  await rows(fixture.db, 'UPDATE channel SET live_unavailable_until = NULL');
  await simulator.fault({ kind: 'serverError', channel: 'CBE_BIRR' });
});

test('the API stores an outage that it finds, and exports it', async () => {
  const project = resolve(import.meta.dirname, '../..');
  const api = await startApi(fixture.config, { log, project, version: '0.0.0' });
  for (const id of await startAttempts()) {
    const sql = 'SELECT callback_secret FROM payment_attempt WHERE id = :id';
    const secret = (await first<{ callbackSecret: string }>(fixture.db, sql, { id }))?.callbackSecret;
    await fetch(`${api.url}/api/providers/CBE_BIRR/callback/${secret}`, { method: 'POST', body: '{}' });
  }
  await until('the outage to be stored', isUnavailable);
  const metrics = await (await fetch(api.metricsUrl ?? '')).text();
  expect(metrics).toContain('meskot_provider_circuit_open{channel="CBE_BIRR",service="payments",role="api"} 1');
  expect(metrics).toContain(
    'meskot_provider_calls_total{channel="CBE_BIRR",operation="initiate",outcome="http",role="api"} 5',
  );
  await api.stop();
});

test('a worker stores an outage that it finds', async () => {
  await startAttempts();
  await fixture.startWorker().ready;
  await until('the outage to be stored', isUnavailable);
});
