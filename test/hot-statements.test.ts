import { setTimeout as pause } from 'node:timers/promises';

import { deleteOldIdempotencyKeys } from '../src/http/idempotency.ts';
import { type Database, openDatabase, rows } from '../src/lib/db.ts';
import { UnavailableError } from '../src/lib/errors.ts';
import { newId } from '../src/lib/ids.ts';
import { createLogger } from '../src/lib/log.ts';
import { createTransactionRunner, type OutboxMessage, type OutboxRow } from '../src/outbox/record.ts';
import { createRelay } from '../src/outbox/relay.ts';
import { closeResolved } from '../src/reconciliation/discrepancies.ts';
import type { AttemptOutcome } from '../src/webhooks/delivery/attempt.ts';
import { claimDue, claimOne, type ClaimedAttempt } from '../src/webhooks/delivery/claim.ts';
import { recordAttempts } from '../src/webhooks/delivery/record-attempt.ts';
import { createWorkflowStarter } from '../src/webhooks/delivery/start-workflows.ts';
import { buildMerchant } from './support/build.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { argumentsOf, explainedBy, rowsSeen, undone, type Explained } from './support/explain.ts';

/**
 * The statements of queues, on tables as they are in a burst: PostgreSQL has gathered its statistics on one live row
 * among 2,000 dead ones, and there are many now, or many more dead ones. None may look at more rows than it needs.
 */
type Statement = { sql: string; values: readonly unknown[] };
type Hot = {
  table: string;
  /** SQL that writes this many rows. */
  fill: (count: number) => string;
  /** The queries, when there are rows. */
  ask: (db: Database) => Promise<unknown>;
  /** What a statement may take at most that names no number itself. */
  batch: number;
  /** How often a plan may look at each row of this batch; 8 times, of the statement's own limit, by default. */
  looksPerRow?: number;
};

const MANY = 20_000;
const LIVE_OF_BLOATED = 300;
/** Also on a machine that is busy with other things. */
const TIME_MAX_MS = 100;

const log = createLogger('silent', 'test');

const OUTBOX: Hot = {
  table: 'outbox',
  batch: 32,
  fill: (count) =>
    `INSERT INTO outbox (id, kind, workflow_type, workflow_id, priority, available_at, created_at)
     SELECT 'obx_' || i, 'start', 'payment', 'payment-' || i, i % 3, now() - interval '90 seconds', now() - interval '90 seconds'
     FROM generate_series(1, ${count}) i`,
  ask: async (db) => {
    // Some are delivered, some rejected, some unanswered, some not tried.
    const send = async ({ id }: OutboxRow): Promise<void> => {
      if (id.endsWith('2')) throw new Error('refused');
      if (id.endsWith('4')) throw new UnavailableError('no answer');
    };
    let asked = 0;
    const reachable = (): boolean => (asked += 1) < 30;
    const relay = createRelay({ db, send, reachable, isBusy: () => false, startConcurrency: 8, log });
    relay.trigger();
    await relay.stop();
  },
};

const STARTS: Hot = {
  table: 'webhook_workflow_start',
  batch: 50,
  fill: (count) =>
    `INSERT INTO webhook_workflow_start (delivery_id, input)
     SELECT 'whd_' || lpad(i::text, 9, '0'), jsonb_build_object('eventId', 'evt_' || i, 'subscriptionId', 'whs_1')
     FROM generate_series(1, ${count}) i`,
  ask: async (db) => {
    let asked = 0;
    const send = async ({ workflowId }: OutboxMessage): Promise<void> => {
      asked += 1;
      if (workflowId.includes('evt_9')) throw new UnavailableError('no answer');
    };
    const starter = createWorkflowStarter({ db, send, log, reachable: () => true, isBusy: () => false });
    starter.trigger();
    for (let tries = 0; tries < 500 && asked < 60; tries += 1) await pause(10);
    await starter.stop();
  },
};

const IDEMPOTENCY_KEYS: Hot = {
  table: 'idempotency_key',
  batch: 10_000,
  fill: (count) =>
    `INSERT INTO idempotency_key (merchant_id, environment, route, key, request_hash, status_code, response_body, created_at)
     SELECT (SELECT id FROM merchant LIMIT 1), 'sandbox', 'POST /', 'key-' || i, '\\x00', 200, '\\x00', now() - interval '25 hours'
     FROM generate_series(1, ${count}) i`,
  ask: deleteOldIdempotencyKeys,
};

const DAY = { reconciliationId: 'rec_1', comparisonNo: 2 };
const DISCREPANCIES: Hot = {
  table: 'reconciliation_discrepancy',
  batch: 500,
  fill: (count) =>
    `INSERT INTO reconciliation_discrepancy (id, reconciliation_id, environment, channel, day, kind, type, order_id, detected_at, comparison_no)
     SELECT 'rcd_' || i, 'rec_1', 'sandbox', 'TELEBIRR', '2026-03-01', 'MISSING_FROM_STATEMENT', 'payment', 'pat_' || i, now(), 1
     FROM generate_series(1, ${count}) i`,
  ask: async (db) => {
    const runInTransaction = createTransactionRunner(db, () => {});
    await closeResolved(runInTransaction, DAY, { at: new Date(), onProgress: () => {} });
  },
};

const SUBSCRIPTIONS = 10;
/** Claims and recordings; a recording joins its batch with itself. */
const DELIVERIES: Hot = {
  table: 'webhook_delivery',
  batch: 100,
  looksPerRow: 120,
  fill: (count) =>
    `INSERT INTO webhook_delivery (id, event_id, subscription_id, merchant_id, environment, event, status, next_attempt_at)
     SELECT 'whd_' || i, 'evt_' || i, 'whs_' || i % ${SUBSCRIPTIONS}, (SELECT id FROM merchant LIMIT 1), 'sandbox', 'webhook.test', 'PENDING', now()
     FROM generate_series(1, ${count}) i`,
  ask: async (db) => {
    const limits = { perSubscription: 50, perThrottled: 10, throttledToo: true };
    const { attempts } = await claimDue(db, {
      ...limits,
      limit: 300,
      after: '',
      inFlight: {},
      held: [],
      slow: [],
      reclaim: true,
    });
    await recordAttempts(db, attempts.map(toOutcome));
    await claimOne(db, { deliveryId: attempts[0]?.deliveryId ?? '', startedAt: new Date(), reclaim: true });
  },
};

const toOutcome = (attempt: ClaimedAttempt): AttemptOutcome => ({
  ...attempt,
  ok: false,
  httpStatus: 500,
  failure: { code: 'http_status', message: 'no' },
  startedAt: attempt.startedAt.toISOString(),
  endedAt: attempt.startedAt.toISOString(),
  durationMs: 1,
  timings: {},
  responseHeaders: {},
  responseExcerpt: '',
  answer: '',
  nextAttemptAt: null,
  reason: null,
  deadLetterId: newId('whl'),
});

let database: TestDatabase;
const asOwner = async (sql: string): Promise<void> => database.asOwner(sql);

beforeAll(async () => {
  database = await createTestDatabase();
  await buildMerchant(database.db);
  await rows(
    database.db,
    `INSERT INTO reconciliation (id, environment, channel, day, is_running, comparison_no, requested_at)
     VALUES ('rec_1', 'sandbox', 'TELEBIRR', '2026-03-01', true, 2, now())`,
  );
  await rows(
    database.db,
    `INSERT INTO webhook_subscription (id, merchant_id, environment, url, event_types, secret, secret_hint)
     SELECT 'whs_' || i, (SELECT id FROM merchant LIMIT 1), 'sandbox', 'https://hooks.example.com', '{*}', '\\x00', 'hint'
     FROM generate_series(0, ${SUBSCRIPTIONS - 1}) i`,
  );
});
afterAll(async () => database.drop());

const STATES = {
  empty: 'nothing is left of it',
  full: `${MANY} have come`,
  bloated: `${MANY} have come, and ${LIVE_OF_BLOATED} are left`,
};

async function prepare({ table, fill }: Hot, state: keyof typeof STATES): Promise<void> {
  await asOwner(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  // One live row on many pages.
  await asOwner(`TRUNCATE ${table} CASCADE; ${fill(2_000)}`);
  await asOwner(`DELETE FROM ${table} WHERE ctid <> ALL (ARRAY(SELECT ctid FROM ${table} LIMIT 1))`);
  await asOwner(`ANALYZE ${table}`);
  await asOwner(`DELETE FROM ${table}`);
  if (state === 'empty') return;
  await asOwner(fill(MANY));
  if (state === 'full') return;
  await asOwner(`DELETE FROM ${table} WHERE ctid <> ALL (ARRAY(SELECT ctid FROM ${table} LIMIT ${LIVE_OF_BLOATED}))`);
}

/** The statements on a table, each once. */
async function statementsOf({ table, fill, ask }: Hot): Promise<Statement[]> {
  await asOwner(`TRUNCATE ${table} CASCADE; ${fill(200)}`);
  const { db } = database;
  const asked = new Map<string, Statement>();
  const note = ({ sql, values }: Statement): void => {
    if (sql.includes(table) && !asked.has(sql)) asked.set(sql, { sql, values });
  };
  db.events.on('statement', note);
  await ask(db).finally(() => db.events.off('statement', note));
  return [...asked.values()];
}

/** How PostgreSQL does it, with a plan for these values or for any; what it changes is undone. */
async function explain({ sql, values }: Statement, mode: string): Promise<Explained> {
  let explained: Explained | null = null;
  await undone(database.db, async (run) => {
    await run(`SET LOCAL plan_cache_mode = ${mode}`);
    await run(`PREPARE hot AS ${sql}`);
    explained = explainedBy(await run(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE hot${argumentsOf(values)}`));
    await run('DEALLOCATE hot');
  });
  if (!explained) throw new Error('nothing was explained');
  return explained;
}

/** How many rows it may take. */
function batchOf({ sql, values }: Statement, batch: number): number {
  const ids = values.find((one) => Array.isArray(one));
  return Number(/LIMIT (\d+)/.exec(sql)?.[1] ?? (Array.isArray(ids) ? ids.length : batch));
}

function looksMax(statement: Statement, { batch, looksPerRow }: Hot): number {
  return looksPerRow === undefined ? 8 * batchOf(statement, batch) : looksPerRow * batch;
}

describe.each([OUTBOX, STARTS, IDEMPOTENCY_KEYS, DISCREPANCIES, DELIVERIES])('the statements of $table', (hot) => {
  let statements: Statement[];
  beforeAll(async () => {
    statements = await statementsOf(hot);
    expect(statements.length).toBeGreaterThan(0);
  });

  test.each(Object.entries(STATES))('on an %s table, planned when it had one row: %s', async (state) => {
    await prepare(hot, state as keyof typeof STATES);
    for (const statement of statements) {
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        const runs = [await explain(statement, mode), await explain(statement, mode), await explain(statement, mode)];
        const fastest = runs.toSorted((a, b) => a.ms - b.ms)[0]!;
        const about = `${mode}: ${statement.sql}\n${JSON.stringify(fastest.plan, null, 1)}`;
        if (rowsSeen(fastest.plan) > looksMax(statement, hot))
          throw new Error(`${rowsSeen(fastest.plan)} rows seen, ${about}`);
        if (fastest.ms > TIME_MAX_MS) throw new Error(`${fastest.ms} ms, ${about}`);
      }
    }
  });
});

/** A plan for any values is kept until the next ANALYZE: in a burst, that is a minute later at most. */
describe.each([
  { hot: OUTBOX, state: 'new' },
  { hot: OUTBOX, state: 'emptied' },
  { hot: STARTS, state: 'new' },
  { hot: STARTS, state: 'emptied' },
  { hot: IDEMPOTENCY_KEYS, state: 'new' },
  { hot: IDEMPOTENCY_KEYS, state: 'emptied' },
  { hot: DISCREPANCIES, state: 'new' },
  { hot: DELIVERIES, state: 'new' },
])('the plans of $hot.table, made while it is $state', ({ hot, state }) => {
  test('look at no more rows than they need once the table is full', async () => {
    const { table, fill } = hot;
    const statements = await statementsOf(hot);
    await asOwner(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
    await asOwner(`TRUNCATE ${table} CASCADE`);
    if (state === 'emptied') await asOwner(`${fill(2_000)}; DELETE FROM ${table}`);
    if (state === 'emptied') await asOwner(`VACUUM ANALYZE ${table}`);
    // A session of its own, for the plans it keeps.
    const session = openDatabase({ url: database.url, poolMax: 1, applicationName: 'test' });
    await undone(session, async (run) => {
      await run('SET LOCAL plan_cache_mode = force_generic_plan');
      await run('SAVEPOINT planned');
      for (const [index, { sql, values }] of statements.entries()) {
        await run(`PREPARE hot_${index} AS ${sql}`);
        await run(`EXECUTE hot_${index}${argumentsOf(values)}`);
      }
      await run('ROLLBACK TO planned');
      await asOwner(fill(MANY));
      for (const [index, statement] of statements.entries()) {
        const execute = `EXECUTE hot_${index}${argumentsOf(statement.values)}`;
        const { plan } = explainedBy(await run(`EXPLAIN (ANALYZE, FORMAT JSON) ${execute}`));
        await run('ROLLBACK TO planned');
        const about = `${statement.sql}\n${JSON.stringify(plan, null, 1)}`;
        if (rowsSeen(plan) > looksMax(statement, hot)) throw new Error(`${rowsSeen(plan)} rows seen, ${about}`);
      }
    });
    await session.destroy();
  });
});

test('the outbox is swept, and rows of each outcome are settled', async () => {
  const begins = (await statementsOf(OUTBOX)).map(({ sql }) => sql.trim().replaceAll(/\s+/g, ' ').slice(0, 45));
  expect(begins.toSorted()).toEqual([
    'DELETE FROM outbox WHERE id = ANY($1)',
    'UPDATE outbox SET lease_until = NULL WHERE id',
    'UPDATE outbox SET lease_until = NULL, availab',
    'UPDATE outbox SET lease_until = NULL, failure',
    'UPDATE outbox SET lease_until = now() + inter',
  ]);
});
