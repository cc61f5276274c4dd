import { Registry } from '../../src/http/metrics.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { connectLive } from './live.ts';
import { anOrder } from './sandbox.ts';

let database: TestDatabase;
let simulator: TestSimulator;
const registry = new Registry();

beforeAll(async () => {
  database = await createTestDatabase();
  simulator = await startTestSimulator();
});
afterAll(async () => {
  await simulator.close();
  await database.drop();
});

const metric = async (name: string): Promise<Record<string, number>> => {
  const values = (await registry.getSingleMetric(name)?.get())?.values ?? [];
  return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
};

test('calls are spaced by the rate limit; those that would wait for over half of their time are refused and counted', async () => {
  const settings = { CBE_BIRR_CALLS_PER_SECOND: '20', CBE_BIRR_TIMEOUT_MS: '1000' };
  const monitor = { registry, db: database.db, log: createLogger('silent', 'test') };
  const { live, close } = connectLive(simulator.url, { settings, monitor });
  const startedMs = performance.now();
  const calls = Array.from({ length: 30 }, async () => {
    const outcome = await live('CBE_BIRR').query(anOrder('').orderId);
    return { outcome, afterMs: performance.now() - startedMs };
  });
  const results = await Promise.all(calls);
  const sent = results.filter(({ outcome }) => outcome.kind !== 'unknown');
  const refused = results.filter(({ outcome }) => outcome.kind === 'unknown');
  // At once, and then one each 50 ms for 500 ms from the moment at which the last one was refused.
  const lastRefusedMs = Math.max(...refused.map(({ afterMs }) => afterMs));
  expect(sent.length).toBeGreaterThanOrEqual(10);
  expect(sent.length).toBeLessThanOrEqual(12 + lastRefusedMs / 50);
  sent.forEach(({ afterMs }, index) => expect(afterMs).toBeGreaterThanOrEqual(index * 50 - 1));
  for (const { outcome } of refused) {
    expect(outcome).toMatchObject({ reason: 'rate-limit', message: expect.stringContaining('rate limit') });
  }
  expect(await simulator.requests('CBE_BIRR query')).toBe(sent.length);

  expect(await metric('meskot_provider_calls_total')).toEqual({
    'CBE_BIRR query pending': sent.length,
    'CBE_BIRR query rate-limit': refused.length,
  });
  const limited = await metric('meskot_provider_rate_limited_total');
  expect(limited['CBE_BIRR refused']).toBe(refused.length);
  expect(limited['CBE_BIRR delayed']).toBeGreaterThanOrEqual(sent.length - 2);
  expect(limited['AWASH refused']).toBe(0);
  const circuits = await metric('meskot_provider_circuit_open');
  expect(Object.keys(circuits)).toHaveLength(12);
  expect(circuits['CBE_BIRR payments']).toBe(0);
  await close();
});

test('a limit below one call a second spaces calls by more than a second', async () => {
  const { live, close } = connectLive(simulator.url, { settings: { CBE_BIRR_CALLS_PER_SECOND: '0.8' } });
  const startedMs = performance.now();
  for (const _ of ['at once', 'after 1.25 s']) await live('CBE_BIRR').query(anOrder('').orderId);
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(1_249);
  await close();
});

test('without a limit no call waits', async () => {
  const { live, close } = connectLive(simulator.url);
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => live('AWASH').query(anOrder('').orderId)));
  for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: 'pending' });
  await close();
});
