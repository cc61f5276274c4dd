import { setTimeout as sleep } from 'node:timers/promises';

import { rows, type Database } from '../../../src/lib/db.ts';
import { inFixture, untilTrue, type Bench, type Fixture, type Server } from '../fixture.ts';
import { measureBurst, measureSteady, steadyRow, type Subject } from '../measure.ts';
import { median, nowMs, percentile } from '../numbers.ts';
import type { Running } from '../stack.ts';
import { publishTo, release, subjectOfOurs, subscribe } from '../subjects.ts';

const SUBSCRIPTIONS = 10;
const RATE = { perSecond: 20, seconds: 30 };
/** Retries are due so long after the failure, and as much as a twentieth later. */
const RETRY_SECONDS = 2;
const SETTINGS = { WEBHOOK_RETRY_SCHEDULE_SECONDS: `${RETRY_SECONDS},600` };
const STARTED_WITHIN_MS = 300_000;
const NO_RECEIVER = 'http://127.0.0.1:1/';

/** Workflows of delivered events: how long after a burst all have begun, and what a backlog of them delays. */
export async function starts(bench: Bench): Promise<void> {
  await inFixture(bench, (fixture) => afterBurst(bench, fixture));
  await inFixture(bench, (fixture) => besideWaiting(bench, fixture));
}

/** All events are delivered and recorded, whatever waits for Temporal. */
const DELIVERED = `NOT EXISTS (SELECT 1 FROM webhook_delivery WHERE status = 'PENDING')`;

async function afterBurst(bench: Bench, fixture: Fixture): Promise<void> {
  const { sheet, stack, say } = bench;
  const count = bench.size(3_000, 150);
  const row = sheet.table(`A burst of ${count} test events, and the workflow of each`);
  const ours = await subjectOfOurs(fixture, { api: await fixture.startApi(), count: SUBSCRIPTIONS });
  const rates: Record<string, number> = {};
  try {
    for (const mode of ['failed', 'every'] as const) {
      const worker = await fixture.startWorker({ WEBHOOK_WORKFLOWS: mode });
      const subject: Subject = { ...ours.with(mode, worker), isQuiet: DELIVERED };
      await measureBurst(stack, { ...ours.inMode(mode, worker), isQuiet: NONE_WAITS }, bench.size(1_000, 100));
      const before = await fixture.workflowsStarted();
      say(`a burst in mode "${mode}"`);
      const burst = await measureBurst(stack, subject, count);
      const endMs = Math.max(...ours.receiver.arrivals.values());
      rates[mode] = burst.perSecond;
      const started = async (): Promise<number> => (await fixture.workflowsStarted()) - before;
      const isEvery = mode === 'every';
      while (isEvery && (await started()) < count && nowMs() < endMs + STARTED_WITHIN_MS) await sleep(500);
      const seconds = (nowMs() - endMs) / 1_000;
      const workflows = await started();
      row({ mode, 'delivered/s': burst.perSecond, 'gap ms': burst.stallMs, workflows, 'all after s': seconds });
      if (isEvery) sheet.measured('startsMissing', count - workflows);
      if (isEvery) sheet.measured('startsWithin', seconds);
      await worker.stop();
    }
    sheet.measured('everyRate', (rates['every'] ?? 0) / (rates['failed'] ?? 1));
  } finally {
    await release(ours);
  }
}

const NONE_WAITS = `${DELIVERED} AND NOT EXISTS (SELECT 1 FROM webhook_workflow_start)`;
const waitingRows = (count: number): string => `
  INSERT INTO webhook_workflow_start (delivery_id, input)
  SELECT 'whd_0' || lpad(n::text, 25, '0'), jsonb_build_object('deliveryId', 'whd_0' || lpad(n::text, 25, '0'), 'eventId', 'evt_' || n,
    'merchantId', 'mrc_1', 'merchantName', 'Abyssinia Coffee', 'environment', 'sandbox', 'eventType', 'payment.succeeded',
    'subscriptionId', 'whs_1', 'checkoutOrderNo', 'ORDER-' || n, 'receiverHost', 'hooks.example.com', 'attemptsMade', 0,
    'lastOutcome', jsonb_build_object('ok', true, 'httpStatus', 200, 'code', null, 'atMs', 1800000000000, 'answer', 'ok'),
    'nextAttemptAtMs', null)
  FROM generate_series(1, ${count}) n`;

/** The same deliveries, retries and signals of money, with nothing in the background and beside a backlog. */
async function besideWaiting(bench: Bench, fixture: Fixture): Promise<void> {
  const count = bench.size(200_000, 500);
  const row = bench.sheet.table(
    `${RATE.perSecond} deliveries and a retry a second, alone and beside ${count} workflows to start`,
  );
  const api = await fixture.startApi();
  const ours = await subjectOfOurs(fixture, { api, count: SUBSCRIPTIONS });
  const worker = await fixture.startWorker({ WEBHOOK_WORKFLOWS: 'failed', ...SETTINGS });
  try {
    await measureBurst(bench.stack, ours.with('Meskot', worker), bench.size(1_000, 100));
    bench.say('alone');
    const alone = await measureBeside(bench, fixture, { api, worker, ours });
    row({ beside: 'nothing', ...alone });
    await fixture.asOwner(waitingRows(count), 'ANALYZE webhook_workflow_start');
    bench.say(`beside ${count} waiting workflows`);
    const beside = await measureBeside(bench, fixture, { api, worker, ours });
    row({ beside: `${count}`, ...beside });
    bench.sheet.measured('startsBesideP50', beside['p50 ms'] / alone['p50 ms']);
    bench.sheet.measured('startsBesideP99', beside['p99 ms'] / alone['p99 ms']);
    bench.sheet.measured('startsBesideRetries', beside['retries late, p50 ms'] / alone['retries late, p50 ms']);
    bench.sheet.measured('startsBesideMoney', beside['money p99 ms'] / alone['money p99 ms']);
    bench.sheet.measured('startsRate', beside['started/s']);
    await fixture.asOwner('TRUNCATE webhook_workflow_start');
  } finally {
    await release(ours);
  }
}

type Parts = { api: Server; worker: Running; ours: Awaited<ReturnType<typeof subjectOfOurs>> };

async function measureBeside({ stack, size }: Bench, fixture: Fixture, { api, worker, ours }: Parts) {
  const { db } = fixture;
  const failing = await subscribe({ ...fixture, ...api }, { count: 1, url: NO_RECEIVER });
  const load = publishTo(api.origin, failing);
  const seconds = size(RATE.seconds, 4);
  const before = await countWaiting(db);
  const startMs = nowMs();
  const [steady, , signalsMs] = await Promise.all([
    measureSteady(stack, { ...ours.with('Meskot', worker), isQuiet: 'true' }, { ...RATE, seconds }),
    load.steady(1, seconds),
    signalMoney(db, seconds),
  ]);
  const started = ((before - (await countWaiting(db))) * 1_000) / (nowMs() - startMs);
  const { subscriptionId } = failing[0]!;
  await untilTrue(
    db,
    `NOT EXISTS (SELECT FROM webhook_delivery WHERE subscription_id = '${subscriptionId}' AND attempts < 2)`,
    60_000,
  );
  await load.close();
  const late = await retriesLateMs(db, subscriptionId);
  const {
    'CPU ms each': _,
    duplicates: __,
    ...latencies
  } = steadyRow(steady) as Record<'p50 ms' | 'p99 ms', number> & Record<string, number>;
  return {
    ...latencies,
    'retries late, p50 ms': median(late),
    'worst ms': Math.max(...late),
    'money p50 ms': median(signalsMs),
    'money p99 ms': percentile(signalsMs, 0.99),
    'started/s': started,
  };
}

const countWaiting = async (db: Database): Promise<number> =>
  (await rows<{ count: number }>(db, 'SELECT count(*)::int AS count FROM webhook_workflow_start'))[0]?.count ?? 0;

/** How much later than its failure allows the first retry of each event began. */
async function retriesLateMs(db: Database, subscriptionId: string): Promise<number[]> {
  const sql = `
    SELECT CAST(extract(epoch FROM retry.started_at - first.ended_at) * 1000 AS float8) - ${RETRY_SECONDS * 1_000} AS ms
    FROM webhook_delivery d
    JOIN webhook_attempt first ON first.delivery_id = d.id AND first.sequence = 1
    JOIN webhook_attempt retry ON retry.delivery_id = d.id AND retry.sequence = 2
    WHERE d.subscription_id = :subscriptionId`;
  return (await rows<{ ms: number }>(db, sql, { subscriptionId })).map(({ ms }) => ms);
}

/** Two a second: the time from the commit of a signal to money's workflows until Temporal has answered. */
async function signalMoney(db: Database, seconds: number): Promise<number[]> {
  const took: number[] = [];
  for (let number = 0; number < seconds * 2; number += 1) {
    const startMs = nowMs();
    const id = `obx_bench_${startMs}`;
    await rows(
      db,
      `WITH row AS (INSERT INTO outbox (id, kind, workflow_type, workflow_id, signal, priority)
         VALUES (:id, 'signal', 'withdrawal', 'withdrawal-bench', 'approved', 0))
       SELECT pg_notify('meskot_outbox', 'messages')`,
      { id },
    );
    while ((await rows(db, 'SELECT FROM outbox WHERE id = :id', { id })).length > 0) await sleep(5);
    took.push(nowMs() - startMs);
    await sleep(Math.max(0, 500 - (nowMs() - startMs)));
  }
  return took;
}
