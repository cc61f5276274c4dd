import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { rows } from '../../src/lib/db.ts';
import { UnavailableError } from '../../src/lib/errors.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createNotifier } from '../../src/outbox/listener.ts';
import { createTransactionRunner, type OutboxMessage, type OutboxRow } from '../../src/outbox/record.ts';
import { createRelay, type RelayDeps } from '../../src/outbox/relay.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => void (await rows(database.db, 'DELETE FROM outbox')));
afterAll(async () => database.drop());

const start = (workflowId: string, more: Partial<OutboxMessage> = {}): OutboxMessage => ({
  kind: 'start',
  workflowType: 'payment',
  workflowId,
  ...more,
});
const retry = (workflowId: string): OutboxMessage =>
  start(workflowId, { workflowType: 'webhookDelivery', priority: 'retry' });

async function leave(...messages: OutboxMessage[]): Promise<void> {
  for (const message of messages)
    await createTransactionRunner(database.db, () => {})(async ({ enqueue }) => enqueue([message]));
}

const relayOf = (send: (message: OutboxRow) => Promise<unknown>, more: Partial<RelayDeps> = {}) =>
  createRelay({
    db: database.db,
    log: createLogger('silent', 'test'),
    send,
    reachable: () => true,
    isBusy: () => false,
    startConcurrency: 8,
    ...more,
  });

/** One sweep: what it leases it sends before it stops. */
async function sweep(send: (message: OutboxRow) => Promise<unknown>, more: Partial<RelayDeps> = {}): Promise<void> {
  const relay = relayOf(send, more);
  relay.trigger();
  await relay.stop();
}

type Left = { workflowId: string; failures: number; pauseSeconds: number; isFree: boolean };
const left = async (): Promise<Left[]> =>
  rows<Left>(
    database.db,
    `SELECT workflow_id, failures, lease_until IS NULL AS is_free,
            CAST(round(extract(epoch FROM available_at - now())) AS integer) AS pause_seconds
     FROM outbox ORDER BY created_at, available_at`,
  );
const untilNothingIsLeft = async (): Promise<void> => {
  for (const endMs = Date.now() + 5_000; (await left()).length > 0;) {
    if (Date.now() > endMs) throw new Error('something is left after 5 s');
    await sleep(10);
  }
};
const setDue = async () => rows(database.db, `UPDATE outbox SET available_at = now() - interval '1 second'`);

describe('a sweep of the outbox', () => {
  test('sends outgoing money first, then retries, then the rest, each oldest first', async () => {
    await leave(start('old'), start('new'), retry('retry'), start('money', { priority: 'money' }));
    const sent: string[] = [];
    const send = async ({ workflowId }: OutboxRow) => sent.push(workflowId);
    await sweep(send, { startConcurrency: 1 });
    expect(sent).toEqual(['money', 'retry', 'old', 'new']);
    expect(await left()).toEqual([]);
  });

  test('continues until no row is left', async () => {
    await leave(...Array.from({ length: 120 }, (_, index) => start(`payment-${index}`)));
    let sent = 0;
    const relay = relayOf(async () => (sent += 1));
    relay.trigger();
    for (const endMs = Date.now() + 5_000; sent < 120 && Date.now() < endMs;) await sleep(10);
    await relay.stop();
    expect(sent).toBe(120);
    expect(await left()).toEqual([]);
  });

  test('leaves rows alone that are not due yet', async () => {
    const sent: string[] = [];
    const send = async ({ workflowId }: OutboxRow) => sent.push(workflowId);
    await leave(start('later', { delayMs: 2_000 }), start('now'));
    await sweep(send);
    expect(sent).toEqual(['now']);
    expect(await left()).toEqual([{ workflowId: 'later', failures: 0, pauseSeconds: 2, isFree: true }]);
    await setDue();
    await sweep(send);
    expect(sent).toEqual(['now', 'later']);
  });

  test('leaves rows alone that another sweep has leased, until the lease has expired', async () => {
    const sent: string[] = [];
    const send = async ({ workflowId }: OutboxRow) => sent.push(workflowId);
    await leave(start('leased'), start('of a dead process'));
    await rows(
      database.db,
      `UPDATE outbox SET lease_until = now() + CASE workflow_id WHEN 'leased' THEN 1 ELSE -1 END * interval '3 seconds'`,
    );
    await sweep(send);
    expect(sent).toEqual(['of a dead process']);
    expect(await left()).toMatchObject([{ workflowId: 'leased', isFree: false }]);
  });

  test('postpones a message that Temporal rejects by 1, 2, 4 … 30 s', async () => {
    await leave(start('refused'));
    const pauses: number[] = [];
    for (let failures = 0; failures < 7; failures += 1) {
      await setDue();
      await sweep(async () => Promise.reject(new Error('refused')));
      const [row] = await left();
      pauses.push(row?.pauseSeconds ?? NaN);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
  });

  test('postpones a message by one second when Temporal is unavailable, and untried messages not at all', async () => {
    await leave(start('first', { priority: 'money' }), start('second'), start('third'));
    let isUnavailable = false;
    const tried: string[] = [];
    const send = async ({ workflowId }: OutboxRow): Promise<void> => {
      tried.push(workflowId);
      isUnavailable = true;
      throw new UnavailableError('no answer within 3 s');
    };
    await sweep(send, { startConcurrency: 1, reachable: () => !isUnavailable });
    await sweep(send, { startConcurrency: 1, reachable: () => !isUnavailable });
    expect(tried).toEqual(['first']);
    const rest = { failures: 0, isFree: true };
    const [first, ...others] = await left();
    expect(first).toEqual({ ...rest, workflowId: 'first', pauseSeconds: 1 });
    expect(others).toMatchObject([
      { ...rest, workflowId: 'second' },
      { ...rest, workflowId: 'third' },
    ]);
    expect(Math.max(...others.map(({ pauseSeconds }) => pauseSeconds))).toBeLessThanOrEqual(0);
  });

  test('starts at most the given number of workflows at once', async () => {
    await leave(...Array.from({ length: 20 }, (_, index) => retry(`retry-${index}`)));
    let now = 0;
    let most = 0;
    const send = async (): Promise<void> => {
      now += 1;
      most = Math.max(most, now);
      await sleep(5);
      now -= 1;
    };
    const relay = relayOf(send, { startConcurrency: 3 });
    relay.trigger();
    await untilNothingIsLeft();
    await relay.stop();
    expect(most).toBe(3);
  });
});

test('workflows of retries start before their time, unless the process is busy', async () => {
  await leave(retry('early'), retry('due'), retry('refused before'));
  await rows(
    database.db,
    `UPDATE outbox SET available_at = now() + interval '30 seconds', failures = CASE workflow_id WHEN 'early' THEN 0 ELSE 1 END
     WHERE workflow_id <> 'due'`,
  );
  const sent: string[] = [];
  const send = async ({ workflowId }: OutboxRow) => sent.push(workflowId);
  await sweep(send, { isBusy: () => true });
  expect(sent).toEqual(['due']);
  await sweep(send, { isBusy: () => false });
  expect(sent).toEqual(['due', 'early']);
});

test('workers are notified of each commit, and once for commits at the same moment', async () => {
  const listener = new pg.Client({ connectionString: database.url });
  await listener.connect();
  const heard: (string | undefined)[] = [];
  listener.on('notification', ({ payload }) => heard.push(payload));
  await listener.query('LISTEN meskot_outbox');
  const untilHeard = async (count: number): Promise<void> => {
    for (let tries = 0; heard.length < count && tries < 200; tries += 1) await sleep(10);
  };
  const notifier = createNotifier(database.db);
  const commit = (...messages: OutboxMessage[]): void =>
    notifier.dispatch(
      messages.map((message) => ({ ...message, id: 'obx_1' })),
      true,
    );
  commit();
  await untilHeard(1);
  for (let times = 0; times < 10; times += 1) commit();
  await untilHeard(3);
  commit(start('later', { delayMs: 2_000 }));
  await untilHeard(4);
  commit(start('now'));
  await untilHeard(6);
  await notifier.stop();
  await listener.end();
  expect(heard.filter((payload) => payload === 'deliveries')).toHaveLength(5);
  expect(heard.filter((payload) => payload === 'messages')).toHaveLength(1);
});

test('rows of a release that also left starts of delivered events are sent last, and none is dropped', async () => {
  await leave(start('payment'));
  await rows(
    database.db,
    `INSERT INTO outbox (id, kind, workflow_type, workflow_id, priority, available_at, created_at)
     VALUES ('obx_0', 'start', 'webhookDelivery', 'delivered', 3, now() - interval '2 hours', now() - interval '2 hours')`,
  );
  const sent: string[] = [];
  await sweep(async ({ workflowId }) => sent.push(workflowId), { startConcurrency: 1, isBusy: () => true });
  expect(sent).toEqual(['payment', 'delivered']);
});

test('the relay says while it is sending', async () => {
  await leave(start('payment'));
  const seen: boolean[] = [];
  const relay = relayOf(async () => seen.push(relay.isSending()));
  relay.trigger();
  await untilNothingIsLeft();
  await relay.stop();
  expect([...seen, relay.isSending()]).toEqual([true, false]);
});
