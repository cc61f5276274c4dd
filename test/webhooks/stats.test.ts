import type { Owner } from '../../src/lib/owner.ts';
import { readDayRange } from '../../src/lib/page.ts';
import { Stats } from '../../src/webhooks/schema.ts';
import { readStats } from '../../src/webhooks/stats.ts';
import { createWorld, type World } from './world.ts';

let world: World;
let owner: Owner;

beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  owner = await world.newMerchant();
  world.clock.now = new Date('2025-06-15T12:00:00.000Z');
});
afterAll(async () => world.drop());

const read = async (startDate: string, endDate: string) =>
  Stats.parse(await readStats(world.db, owner, readDayRange({ startDate, endDate }, world.clock.now)));

const deliver = async (...outcomes: Parameters<World['attempt']>[1][]): Promise<void> => {
  const deliveryId = await world.deliveryId(await world.record(owner));
  for (const [index, outcome] of outcomes.entries()) await world.attempt(deliveryId, outcome, index === 2);
};

test('totals, groups and failures say what became of the deliveries of those days', async () => {
  await world.record(owner, 'checkout.expired');
  const { row } = await world.subscribe(owner, { eventTypes: ['payment.succeeded'] });
  await deliver({ httpStatus: 200, durationMs: 100 });
  await deliver({ code: 'timeout' }, { httpStatus: 200, durationMs: 300 });
  await deliver({ httpStatus: 500, durationMs: 200 }, { code: 'timeout' }, { code: 'timeout' });
  world.clock.now = new Date('2025-06-15T21:00:00.000Z');
  await deliver({ httpStatus: 500, durationMs: 400 });
  await deliver();

  const stats = await read('2025-06-15', '2025-06-16');
  const counts = {
    deliveries: 5,
    delivered: 2,
    failed: 1,
    retrying: 1,
    pending: 1,
    skipped: 0,
    attempts: 7,
    successRate: 2 / 3,
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
    ['2025-06-16', 2, null],
  ]);
  expect(stats.failures).toEqual([
    { code: 'timeout', count: 3 },
    { code: 'http_status', count: 2 },
  ]);
  expect(stats.deadLetters).toEqual({ open: 1, oldestAt: '2025-06-15T12:02:00.000Z' });
});

test('days without deliveries are there with zeros, and rates without anything to divide by are null', async () => {
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

test('other merchants, the other environment and other days are left out', async () => {
  await world.subscribe(owner);
  await deliver({ httpStatus: 200 });
  const mine = owner;
  owner = await world.newMerchant();
  await world.subscribe(owner);
  await deliver({ httpStatus: 200 });
  owner = mine;
  expect((await read('2025-06-15', '2025-06-15')).totals.deliveries).toBe(1);
  expect((await read('2025-06-14', '2025-06-14')).totals.deliveries).toBe(0);
  owner = { ...mine, environment: 'live' };
  expect((await read('2025-06-15', '2025-06-15')).totals.events).toBe(0);
});
