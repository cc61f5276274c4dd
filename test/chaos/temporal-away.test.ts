import { resolve } from 'node:path';
import { inspect } from 'node:util';

import { createKey } from '../../src/access/api-keys.ts';
import { startApi, type RunningApi } from '../../src/app/api.ts';
import { readConfig } from '../../src/config.ts';
import { createLogger } from '../../src/lib/log.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { approveWithdrawal } from '../../src/payouts/withdrawals/review.ts';
import { expectInvariants } from '../invariants/check.ts';
import { RETRY_DELAYS_SECONDS, type Evidence } from '../invariants/evidence.ts';
import { createMerchantClient, type MerchantClient } from '../support/merchant-client.ts';
import { createOwnTemporal, type OwnTemporal } from '../support/own-temporal.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, readDelivery, type WorkerFixture } from '../support/worker.ts';
import { buy, PHONES } from './service.ts';

let temporal: OwnTemporal;
let simulator: TestSimulator;
let fixture: WorkerFixture;
let api: RunningApi;
let healthy: Receiver;
let failing: Receiver;
let scope: MerchantScope;
let client: MerchantClient;
let orders = 0;

beforeAll(async () => {
  temporal = await createOwnTemporal();
  await temporal.start();
  simulator = await startTestSimulator();
  const [apiPort, metricsPort, consolePort] = [await anyFreePort(), await anyFreePort(), await anyFreePort()];
  const settings = {
    TEMPORAL_ADDRESS: temporal.address,
    TASK_QUEUES: 'payments,money,webhooks',
    SIMULATOR_URL: simulator.url,
    PUBLIC_BASE_URL: `http://127.0.0.1:${apiPort}`,
    API_PORT: String(apiPort),
    METRICS_PORT: String(metricsPort),
    CONSOLE_PORT: String(consolePort),
    RATE_LIMIT_SANDBOX_PER_SECOND: '0',
  };
  fixture = await createWorkerFixture(settings);
  await fixture.startWorker().ready;
  api = await startApi(
    readConfig({
      ...settings,
      DATABASE_URL: fixture.database.url,
      TASK_QUEUE_PREFIX: fixture.config.TASK_QUEUE_PREFIX,
    }),
    {
      log: createLogger('silent', 'test'),
      project: resolve(import.meta.dirname, '../..'),
      version: 'test',
    },
  );
  healthy = await startReceiver();
  failing = await startReceiver();
  failing.behave({ kind: 'answer', status: 503 });
  scope = await fixture.newMerchant();
  await fixture.subscribe(scope, { url: healthy.url, eventTypes: ['payment.succeeded'] });
  await fixture.subscribe(scope, { url: failing.url, eventTypes: ['checkout.completed'] });
  const clock = () => new Date();
  const made = await fixture.db.transaction((trx) =>
    createKey({ trx, pepper: fixture.config.API_KEY_PEPPER, clock }, { ...scope, kind: 'secret' }),
  );
  client = createMerchantClient({ url: api.url, key: made.secret, scope });
}, 60_000);
afterAll(async () => {
  await api.stop();
  await fixture.close();
  await Promise.all([healthy.close(), failing.close(), simulator.close(), temporal.close()]);
}, 60_000);

const startPaying = async (phone: string) => {
  orders += 1;
  return buy(client, { orderNo: `AWAY-${orders}`, phone });
};

const eventOf = async (transactionId: string, event: string): Promise<string> =>
  until(`${event} recorded`, async () => {
    const row = (await fixture.db.knex()('webhookEvent').where({ resourceId: transactionId, event }).first('id')) as
      | { id: string }
      | undefined;
    return row?.id;
  });
const deliveryIs = async (eventId: string, status: string) =>
  until(`delivery ${status}`, async () => {
    const delivery = await readDelivery(fixture.db, eventId);
    return delivery.status === status && delivery;
  });
/** The recovery skips open rows of the last half minute: makes all rows older. */
const age = async (): Promise<void> => {
  const earlier = fixture.db.knex().raw(`now() - interval '1 minute'`);
  await fixture.db.knex()('webhookDelivery').update({ createdAt: earlier, lastAttemptAt: earlier });
  await fixture.db.knex()('paymentAttempt').update({ createdAt: earlier });
};

/** The deliveries whose workflow waits to be started. */
const waitingStarts = async (): Promise<string[]> =>
  (await fixture.db.knex()('webhookWorkflowStart').select('deliveryId')).map(({ deliveryId }) => String(deliveryId));

const gather = async (): Promise<Evidence> => ({
  db: fixture.db,
  now: new Date(),
  clients: [client],
  receivers: [healthy, failing].map(({ url, requests }) => ({ url, requests, scope })),
  orders: (await simulator.journal()).orders,
  running: new Map((await temporal.running()).map((id) => [id, { failures: 0 }])),
  retryDelaysSeconds: RETRY_DELAYS_SECONDS,
  duplicatesMax: 0,
});

test('without Temporal, payments are confirmed and healthy receivers get their events; all open workflows run again when it is back with an empty database', async () => {
  const before = await startPaying(PHONES.approved);
  const retryingBefore = await deliveryIs(await eventOf(before.transactionId, 'checkout.completed'), 'RETRYING');
  const open = await startPaying(PHONES.silent);

  await temporal.stop();
  const during = await startPaying(PHONES.approved);
  const delivered = await deliveryIs(await eventOf(during.transactionId, 'payment.succeeded'), 'DELIVERED');
  expect(await waitingStarts()).toContain(delivered.id);
  const retryingDuring = await deliveryIs(await eventOf(during.transactionId, 'checkout.completed'), 'RETRYING');
  expect(await fixture.db.knex()('outbox').where({ workflowId: retryingDuring.workflowId })).toHaveLength(1);
  const openDuring = await startPaying(PHONES.silent);

  await temporal.forget();
  await temporal.start();
  await age();
  const expected = [
    retryingBefore.workflowId,
    retryingDuring.workflowId,
    `payment-${open.attemptId}`,
    `payment-${openDuring.attemptId}`,
  ];
  const deadlineMs = Date.now() + 90_000;
  for (;;) {
    const running = await temporal.running().catch((): string[] => []);
    if (expected.every((id) => running.includes(id))) break;
    if (Date.now() > deadlineMs) throw new Error(`running: ${running.join(', ')}; expected: ${expected.join(', ')}`);
    await new Promise((settle) => setTimeout(settle, 250));
  }
  await until('the outbox to drain', async () => (await fixture.db.knex()('outbox')).length === 0);
  // A start that Temporal has rejected while its namespace was missing is repeated after half a minute.
  await withTimeout(90_000, async () => (await waitingStarts()).length === 0);
  await until('the workflow of what was delivered meanwhile', async () => temporal.knows(delivered.workflowId));

  // No retry was early or doubled.
  const failed = failing.requests.map((request) => request.headers['x-service-event-id']);
  expect(failed).toHaveLength(new Set(failed).size);
  expect(healthy.requests).toHaveLength(2);
  await expectInvariants(gather);
}, 240_000);

/** Waits; ends with an error that shows what is left. */
const withTimeout = async (ms: number, isSo: () => Promise<boolean>): Promise<void> => {
  for (const endMs = Date.now() + ms; !(await isSo());) {
    if (Date.now() > endMs) throw new Error(`it was not so within ${ms} ms: ${inspect(await readProgress())}`);
    await new Promise((settle) => setTimeout(settle, 100));
  }
};
const readProgress = async () => {
  const count = async (table: string, column: string): Promise<unknown> =>
    fixture.db.knex()(table).select(column).count({ rows: '*' }).groupBy(column);
  return {
    outbox: await count('outbox', 'priority'),
    failures: await count('outbox', 'failures'),
    withdrawals: await count('payout', 'status'),
    payouts: (await simulator.journal()).payouts.length,
    running: (await temporal.running().catch(() => [])).length,
  };
};

/** The requests that arrived while Temporal was unavailable. */
const WAITING = 400;
const FINISHED = 100;
const WITHDRAWALS = 5;
const AT_ONCE = 10;
/** Longer than the pause before Temporal's clients reconnect. */
const UNAVAILABLE_BACKOFF_MS = 20_000;

const payAll = async (phone: string, count: number): Promise<string[]> => {
  const attemptIds: string[] = [];
  const payNext = async (): Promise<void> => {
    while (count > 0) {
      count -= 1;
      attemptIds.push((await startPaying(phone)).attemptId);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, payNext));
  return attemptIds;
};

const withdraw = async (nth: number): Promise<void> => {
  const destination = { phone: '0911000001', accountName: 'Abebe Bikila' };
  const asked = { requestId: `AWAY-OUT-${nth}`, amount: 2, channel: 'TELEBIRR', destination };
  const id = String((await client.post('withdrawal', asked))['withdrawalRequestId']);
  await fixture.runInTransaction((tx) => approveWithdrawal(tx, id, { operatorId: 'opr_1', at: new Date() }));
};

test('after an outage of Temporal with 500 payments and some withdrawals, withdrawals are sent first and all open rows are processed', async () => {
  await payAll(PHONES.approved, 5);
  await until('the money to be there', async () => {
    const open = await fixture.db.knex()('paymentAttempt').whereIn('status', ['CREATED', 'PENDING']).pluck('phone');
    return open.every((phone) => phone !== '251911000001');
  });
  await temporal.stop();
  const stoppedAt = performance.now();
  const finished = await payAll(PHONES.approved, FINISHED);
  const waiting = await payAll(PHONES.silent, WAITING);
  await Promise.all(Array.from({ length: WITHDRAWALS }, (_, nth) => withdraw(nth)));
  const { length: before } = (await simulator.journal()).payouts;
  expect(before).toBe(0);
  await new Promise((settle) =>
    setTimeout(settle, Math.max(0, UNAVAILABLE_BACKOFF_MS - (performance.now() - stoppedAt))),
  );

  await temporal.start();
  // Including the pause of the clients: what counts is that most of the payments still wait.
  await withTimeout(200_000, async () => (await simulator.journal()).payouts.length === WITHDRAWALS);
  expect((await fixture.db.knex()('outbox')).length).toBeGreaterThan(WAITING / 2);
  await withTimeout(300_000, async () => (await fixture.db.knex()('outbox')).length === 0);
  const ids = await until('all to run', async () => {
    const running = new Set(await temporal.running());
    return waiting.every((attemptId) => running.has(`payment-${attemptId}`)) && running;
  });
  expect(finished.filter((attemptId) => ids.has(`payment-${attemptId}`))).toEqual([]);
  expect((await simulator.journal()).payouts).toHaveLength(WITHDRAWALS);
}, 660_000);
