import { setTimeout as sleep } from 'node:timers/promises';

import { rows } from '../../src/lib/db.ts';
import { UnavailableError } from '../../src/lib/errors.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createTransactionRunner, type OutboxMessage } from '../../src/outbox/record.ts';
import { createRelay } from '../../src/outbox/relay.ts';
import { createWorkflowStarter, type StarterDeps } from '../../src/webhooks/delivery/start-workflows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let stop: () => Promise<void> = async () => {};

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await stop();
  await rows(database.db, 'DELETE FROM webhook_workflow_start');
});
afterAll(async () => database.drop());

const log = createLogger('silent', 'test');
const idOf = (n: number): string => `delivery-evt_${n}-whs_1`;

/** Leaves the starts of deliveries with these numbers, as a recorded attempt does. */
const leave = async (first: number, last = first): Promise<void> => {
  const sql = `INSERT INTO webhook_workflow_start (delivery_id, input)
    SELECT 'whd_' || lpad(n::text, 9, '0'), jsonb_build_object('eventId', 'evt_' || n, 'subscriptionId', 'whs_1')
    FROM generate_series(CAST(:first AS integer), CAST(:last AS integer)) n`;
  await rows(database.db, sql, { first, last });
};

function starterOf(send: StarterDeps['send'], more: Partial<StarterDeps> = {}) {
  const starter = createWorkflowStarter({
    db: database.db,
    log,
    send,
    reachable: () => true,
    isBusy: () => false,
    ...more,
  });
  stop = starter.stop;
  return starter;
}

const left = async () =>
  rows<{ deliveryId: string; isFree: boolean }>(
    database.db,
    `SELECT delivery_id, lease_until IS NULL AS is_free FROM webhook_workflow_start ORDER BY delivery_id`,
  );
const untilLeft = async (count: number) => until(`${count} to be left`, async () => (await left()).length === count);

test('all that wait are started, the oldest first and two at once, and are gone afterwards', async () => {
  await leave(1, 130);
  const messages: OutboxMessage[] = [];
  let [now, most] = [0, 0];
  const starter = starterOf(async (message) => {
    now += 1;
    most = Math.max(most, now);
    messages.push(message);
    await sleep(1);
    now -= 1;
    // Both are success.
    return messages.length % 2 ? 'sent' : 'already';
  });
  starter.trigger();
  await untilLeft(0);
  expect(messages.map(({ workflowId }) => workflowId)).toEqual(Array.from({ length: 130 }, (_, n) => idOf(n + 1)));
  const input = { eventId: 'evt_1', subscriptionId: 'whs_1' };
  expect(messages[0]).toMatchObject({ kind: 'start', workflowType: 'webhookDelivery', input });
  expect(most).toBe(2);
});

test('a row that comes behind the last one started is found too', async () => {
  await leave(101, 160);
  const started: string[] = [];
  const starter = starterOf(async ({ workflowId }) => {
    if (started.push(workflowId) === 1) await leave(1);
  });
  starter.trigger();
  await untilLeft(0);
  expect(started).toHaveLength(61);
  expect(started.indexOf(idOf(1))).toBeGreaterThan(49);
});

test('while anything is more urgent it starts one after the other, and does not stand still', async () => {
  await leave(1, 4);
  const at: number[] = [];
  const starter = starterOf(async () => at.push(performance.now()), { isBusy: () => true });
  starter.trigger();
  await untilLeft(0);
  expect(at).toHaveLength(4);
  for (const [index, ms] of at.slice(1).entries()) expect(ms - (at[index] ?? 0)).toBeGreaterThan(150);
});

test('Temporal is away: nothing is dropped, and all rows are free for when it is back', async () => {
  await leave(1, 60);
  let isAway = false;
  const started: string[] = [];
  const starter = starterOf(
    async ({ workflowId }) => {
      isAway ||= started.length === 20;
      if (isAway) throw new UnavailableError('no answer within 3 s');
      started.push(workflowId);
    },
    { reachable: () => !isAway },
  );
  starter.trigger();
  await untilLeft(40);
  await until('the rest to be free', async () => (await left()).every(({ isFree }) => isFree));
  started.length = 0;
  isAway = false;
  await leave(61);
  starter.trigger();
  await until('some to be started', () => started.length > 0);
  expect(started[0]).toBe(idOf(21));
});

test('a start that Temporal rejects holds up no other, and is tried again when its lease has ended', async () => {
  await leave(1, 3);
  let tries = 0;
  const starter = starterOf(async ({ workflowId }) => {
    if (workflowId === idOf(2) && (tries += 1) === 1) throw new Error('refused');
  });
  starter.trigger();
  await untilLeft(1);
  expect(await left()).toEqual([{ deliveryId: 'whd_000000002', isFree: false }]);
  starter.trigger();
  await sleep(200);
  expect(tries).toBe(1);
  await rows(database.db, `UPDATE webhook_workflow_start SET lease_until = now() - interval '1 second'`);
  starter.trigger();
  await untilLeft(0);
  expect(tries).toBe(2);
});

test('rows that another worker is starting are left to it, until its lease has ended', async () => {
  await leave(1, 2);
  await rows(
    database.db,
    `UPDATE webhook_workflow_start SET lease_until = now() + CASE delivery_id WHEN 'whd_000000001' THEN 1 ELSE -1 END * interval '30 s'`,
  );
  const started: string[] = [];
  const starter = starterOf(async ({ workflowId }) => started.push(workflowId));
  starter.trigger();
  await untilLeft(1);
  expect(started).toEqual([idOf(2)]);
});

test('a worker that stops releases what it has not begun', async () => {
  await leave(1, 50);
  let begun = 0;
  const starter = starterOf(async () => {
    begun += 1;
    await sleep(20);
  });
  starter.trigger();
  await until('some to be begun', () => begun >= 6);
  await starter.stop();
  const rest = await left();
  expect(rest).toHaveLength(50 - begun);
  expect(rest.every(({ isFree }) => isFree)).toBe(true);
});

test('ten thousand that wait delay no message of the outbox: retries and money go first', async () => {
  const SEND_MS = 20;
  const MESSAGES = 200;
  await leave(1, 10_000);
  const { db } = database;
  const sent: { workflowId: string; at: number }[] = [];
  const send = async ({ workflowId }: OutboxMessage): Promise<void> => {
    sent.push({ workflowId, at: performance.now() });
    await sleep(SEND_MS);
  };
  const relay = createRelay({ db, log, send, reachable: () => true, isBusy: () => false, startConcurrency: 8 });
  const starter = starterOf(send, { isBusy: relay.isSending });
  starter.trigger();
  await until('some to be started', () => sent.length > 4);
  const messages = Array.from({ length: MESSAGES }, (_, n) => ({
    kind: 'start' as const,
    workflowType: 'withdrawal',
    workflowId: `withdrawal-${n}`,
    priority: n % 2 ? ('money' as const) : ('retry' as const),
  }));
  await createTransactionRunner(db, () => relay.trigger())(async ({ enqueue }) => enqueue(messages));
  await until('the outbox to be empty', async () => (await rows(db, 'SELECT FROM outbox')).length === 0);
  await Promise.all([relay.stop(), starter.stop()]);
  const urgent = sent.filter(({ workflowId }) => workflowId.startsWith('withdrawal'));
  const [begin = 0, end = 0] = [urgent[0]?.at, urgent.at(-1)?.at];
  const meanwhile = sent.filter(({ at }) => at > begin && at < end).length - (urgent.length - 2);
  expect(urgent).toHaveLength(MESSAGES);
  // Between two sweeps nothing is sent, which a start may use.
  const sweeps = Math.ceil(MESSAGES / 32);
  expect(meanwhile).toBeLessThanOrEqual(2 * (sweeps + 1) + (end - begin) / 150);
});
