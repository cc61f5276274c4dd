import { readDayRange } from '../../src/lib/pagination.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { readStats } from '../../src/webhooks/events/queries.ts';
import { Stats } from '../../src/webhooks/events/schema.ts';
import { createFixture, type Fixture } from './fixture.ts';

let fixture: Fixture;
let scope: MerchantScope;

beforeAll(async () => {
  fixture = await createFixture();
});
beforeEach(async () => {
  scope = await fixture.newMerchant();
  fixture.clock.now = new Date('2025-06-15T12:00:00.000Z');
});
afterAll(async () => fixture.drop());

const read = async (startDate: string, endDate: string, subscriptionId?: string) => {
  const range = readDayRange({ startDate, endDate }, fixture.clock.now);
  return Stats.parse(await readStats(fixture.db, { ...scope, subscriptionId }, range));
};

const deliver = async (...outcomes: Parameters<Fixture['attempt']>[1][]): Promise<void> => {
  const deliveryId = await fixture.deliveryId(await fixture.record(scope));
  for (const [index, outcome] of outcomes.entries()) await fixture.attempt(deliveryId, outcome, index === 2);
};

test('statistics count totals, groups and failures of the deliveries of the days', async () => {
  await fixture.record(scope, 'checkout.expired');
  const { row } = await fixture.subscribe(scope, { eventTypes: ['payment.succeeded'] });
  await deliver({ httpStatus: 200, durationMs: 100 });
  await deliver({ code: 'timeout' }, { httpStatus: 200, durationMs: 300 });
  await deliver({ httpStatus: 500, durationMs: 200 }, { code: 'timeout' }, { code: 'timeout' });
  fixture.clock.now = new Date('2025-06-15T21:00:00.000Z');
  await deliver({ httpStatus: 500, durationMs: 400 });
  await deliver();

  const stats = await read('2025-06-15', '2025-06-16');
  const counts = {
    deliveries: 5,
    attempted: 4,
    delivered: 2,
    failed: 1,
    retrying: 1,
    pending: 1,
    skipped: 0,
    attempts: 7,
    successRate: 2 / 4,
  };
  expect(stats.range).toEqual({ startDate: '2025-06-15', endDate: '2025-06-16' });
  expect(stats.totals).toEqual({
    events: 6,
    ...counts,
    firstAttemptSuccessRate: 1 / 4,
    latencyMs: { p50: 200, p95: 400, p99: 400 },
  });
  expect(stats.byEvent).toEqual([{ event: 'payment.succeeded', ...counts }]);
  expect(stats.bySubscription).toEqual([{ subscriptionId: row.id, url: row.url, ...counts }]);
  expect(stats.byDay.map(({ date, deliveries, successRate }) => [date, deliveries, successRate])).toEqual([
    ['2025-06-15', 3, 2 / 3],
    ['2025-06-16', 2, 0],
  ]);
  expect(stats.failures).toEqual([
    { code: 'timeout', count: 3 },
    { code: 'http_status', count: 2 },
  ]);
  expect(stats.deadLetters).toEqual({ open: 1, oldestAt: '2025-06-15T12:02:00.000Z' });
});

test('in the success rate a delivery that waits for a retry counts as not delivered, one without an attempt not at all', async () => {
  await fixture.subscribe(scope);
  for (const status of [200, 200, 503, 503]) await deliver({ httpStatus: status });
  await deliver();
  const half = { deliveries: 5, attempted: 4, delivered: 2, failed: 0, retrying: 2, pending: 1, successRate: 1 / 2 };
  const stats = await read('2025-06-15', '2025-06-15');
  for (const counts of [stats.totals, stats.byEvent[0], stats.bySubscription[0], stats.byDay[0]]) {
    expect(counts).toMatchObject(half);
  }
  const [retrying] = await fixture.db
    .knex()('webhookDelivery')
    .where({ merchantId: scope.merchantId, status: 'RETRYING' });
  await fixture.attempt(retrying.id, { httpStatus: 200 });
  expect((await read('2025-06-15', '2025-06-15')).totals.successRate).toBe(3 / 4);
});

test('statistics count the dead letters of one environment only', async () => {
  const live: MerchantScope = { ...scope, environment: 'live' };
  for (const one of [scope, live]) await fixture.subscribe(one);
  await fixture.failedDelivery(scope);
  fixture.clock.now = new Date('2025-06-15T13:00:00.000Z');
  for (let i = 0; i < 2; i += 1) await fixture.failedDelivery(live);
  const deadLetters = async (of: MerchantScope) => {
    scope = of;
    return (await read('2025-06-15', '2025-06-15')).deadLetters;
  };
  expect(await deadLetters({ ...live, environment: 'sandbox' })).toEqual({
    open: 1,
    oldestAt: '2025-06-15T12:00:00.000Z',
  });
  expect(await deadLetters(live)).toEqual({ open: 2, oldestAt: '2025-06-15T13:00:00.000Z' });
});

test('statistics have zeros for days without deliveries, and null for rates without a denominator', async () => {
  const stats = await read('2025-06-01', '2025-06-03');
  expect(stats.byDay.map(({ date, deliveries }) => [date, deliveries])).toEqual([
    ['2025-06-01', 0],
    ['2025-06-02', 0],
    ['2025-06-03', 0],
  ]);
  expect(stats.totals).toMatchObject({
    deliveries: 0,
    successRate: null,
    firstAttemptSuccessRate: null,
    latencyMs: { p50: null, p95: null, p99: null },
  });
  expect(stats.deadLetters).toEqual({ open: 0, oldestAt: null });
});

test('statistics leave out other merchants, the other environment and other days', async () => {
  await fixture.subscribe(scope);
  await deliver({ httpStatus: 200 });
  const mine = scope;
  scope = await fixture.newMerchant();
  await fixture.subscribe(scope);
  await deliver({ httpStatus: 200 });
  scope = mine;
  expect((await read('2025-06-15', '2025-06-15')).totals.deliveries).toBe(1);
  expect((await read('2025-06-14', '2025-06-14')).totals.deliveries).toBe(0);
  scope = { ...mine, environment: 'live' };
  expect((await read('2025-06-15', '2025-06-15')).totals.events).toBe(0);
});

test('the statistics of one subscription count its deliveries, attempts, events and dead letters alone', async () => {
  const { row } = await fixture.subscribe(scope, { eventTypes: ['payment.succeeded'] });
  await deliver({ httpStatus: 200, durationMs: 100 });
  await deliver({ code: 'timeout' }, { code: 'timeout' }, { code: 'timeout' });
  const { row: other } = await fixture.subscribe(scope, { eventTypes: ['checkout.expired'] });
  await fixture.record(scope, 'checkout.expired');
  const day = '2025-06-15';
  const all = await read(day, day);
  const first = await read(day, day, row.id);
  const second = await read(day, day, other.id);
  expect([all, first, second].map(({ totals: { events, deliveries } }) => [events, deliveries])).toEqual([
    [3, 3],
    [2, 2],
    [1, 1],
  ]);
  expect([first, second].map((stats) => stats.byDay.map(({ delivered, pending }) => [delivered, pending]))).toEqual([
    [[1, 0]],
    [[0, 1]],
  ]);
  expect([first.failures, second.failures]).toEqual([[{ code: 'timeout', count: 3 }], []]);
  expect([all, first, second].map(({ deadLetters }) => deadLetters.open)).toEqual([1, 1, 0]);
});
