import pg from 'pg';

import { deleteOldIdempotencyKeys } from '../src/http/idempotency.ts';
import { type Database, inTransaction, rows } from '../src/lib/db.ts';
import { UnavailableError } from '../src/lib/errors.ts';
import { newId } from '../src/lib/ids.ts';
import { createLogger } from '../src/lib/log.ts';
import { createTransactionRunner, type OutboxRow } from '../src/outbox/record.ts';
import { createRelay } from '../src/outbox/relay.ts';
import { closeResolved } from '../src/reconciliation/discrepancies.ts';
import type { AttemptOutcome } from '../src/webhooks/delivery/attempt.ts';
import { claimDue, claimOne, type ClaimedAttempt } from '../src/webhooks/delivery/claim.ts';
import { recordAttempts } from '../src/webhooks/delivery/record-attempt.ts';
import { buildMerchant } from './support/build.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';

/**
 * The statements of queues, on tables as in a burst: PostgreSQL has gathered its statistics on one live row among 2,000
 * dead ones, and now there are many live rows, or many more dead ones. No statement may read more rows than it needs.
 */
type Statement = { sql: string; bindings: unknown[] };
type Hot = {
  table: string;
  /** SQL that inserts this many rows. */
  fill: (count: number) => string;
  /** Runs all statements of the table. */
  run: (db: Database) => Promise<unknown>;
  /** The batch size of statements without a limit of their own. */
  batch: number;
  /** The maximum reads per row of this batch; by default 8 per row of the statement's own limit. */
  readsPerRow?: number;
};

const MANY = 20_000;
const LIVE_OF_BLOATED = 300;
/** Includes the delays of a busy machine. */
const TIME_MAX_MS = 100;

const OUTBOX: Hot = {
  table: 'outbox',
  batch: 32,
  fill: (count) =>
    `INSERT INTO outbox (id, kind, workflow_type, workflow_id, priority, available_at, created_at)
     SELECT 'obx_' || i, 'start', 'payment', 'payment-' || i, i % 4, now() - interval '90 seconds', now() - interval '90 seconds'
     FROM generate_series(1, ${count}) i`,
  run: async (db) => {
    // Rows of each outcome: sent, rejected, without a reply, not tried.
    const send = async ({ id }: OutboxRow): Promise<void> => {
      if (id.endsWith('2')) throw new Error('rejected');
      if (id.endsWith('4')) throw new UnavailableError('no reply');
    };
    let checks = 0;
    const reachable = (): boolean => (checks += 1) < 30;
    const relay = createRelay({ db, send, reachable, log: createLogger('silent', 'test') });
    relay.trigger();
    await relay.stop();
    await relay.dropSkippedVisibility();
  },
};

const IDEMPOTENCY_KEYS: Hot = {
  table: 'idempotency_key',
  batch: 10_000,
  fill: (count) =>
    `INSERT INTO idempotency_key (merchant_id, environment, route, key, request_hash, status_code, response_body, created_at)
     SELECT (SELECT id FROM merchant LIMIT 1), 'sandbox', 'POST /', 'key-' || i, '\\x00', 200, '\\x00', now() - interval '25 hours'
     FROM generate_series(1, ${count}) i`,
  run: deleteOldIdempotencyKeys,
};

const DAY = { reconciliationId: 'rec_1', comparisonNo: 2 };
const DIFFERENCES: Hot = {
  table: 'reconciliation_discrepancy',
  batch: 500,
  fill: (count) =>
    `INSERT INTO reconciliation_discrepancy (id, reconciliation_id, environment, channel, day, kind, type, order_id, detected_at, comparison_no)
     SELECT 'rcd_' || i, 'rec_1', 'sandbox', 'TELEBIRR', '2026-03-01', 'MISSING_FROM_STATEMENT', 'payment', 'pat_' || i, now(), 1
     FROM generate_series(1, ${count}) i`,
  run: async (db) => {
    const runInTransaction = createTransactionRunner(db, () => {});
    await closeResolved(runInTransaction, DAY, { at: new Date(), onProgress: () => {} });
  },
};

const SUBSCRIPTIONS = 10;
/** Claims and recordings; a recording joins its batch with itself. */
const DELIVERIES: Hot = {
  table: 'webhook_delivery',
  batch: 100,
  readsPerRow: 120,
  fill: (count) =>
    `INSERT INTO webhook_delivery (id, event_id, subscription_id, merchant_id, environment, event, status, next_attempt_at)
     SELECT 'whd_' || i, 'evt_' || i, 'whs_' || i % ${SUBSCRIPTIONS}, (SELECT id FROM merchant LIMIT 1), 'sandbox', 'webhook.test', 'PENDING', now()
     FROM generate_series(1, ${count}) i`,
  run: async (db) => {
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

/** The distinct statements on a table. */
async function statementsOf({ table, fill, run }: Hot): Promise<Statement[]> {
  await asOwner(`TRUNCATE ${table} CASCADE; ${fill(200)}`);
  const { db } = database;
  const statements = new Map<string, Statement>();
  const collect = (_response: unknown, { sql, bindings }: Statement): void => {
    if (sql.includes(table) && !statements.has(sql)) statements.set(sql, { sql, bindings });
  };
  db.on('query-response', collect);
  await run(db).finally(() => db.removeListener('query-response', collect));
  return [...statements.values()];
}

type Node = Record<string, unknown> & { Plans?: Node[] };
type Explained = { plan: Node; ms: number };

/** The plan for these values or a generic one, with its time; changes are rolled back. */
async function explain({ sql, bindings }: Statement, mode: string): Promise<Explained> {
  const undone = new Error('undone');
  let explained: Explained | null = null;
  await inTransaction(database.db, async (trx) => {
    await trx.raw(`SET LOCAL plan_cache_mode = ${mode}`);
    await trx.raw(`PREPARE hot AS ${sql.replaceAll('?', String.raw`\?`)}`);
    const values = bindings.map((value) => pg.escapeLiteral(literal(value))).join(', ');
    const execute = `EXECUTE hot${bindings.length > 0 ? `(${values})` : ''}`;
    const { rows: result } = await trx.raw(`EXPLAIN (ANALYZE, FORMAT JSON) ${execute}`);
    await trx.raw('DEALLOCATE hot');
    const [{ Plan: plan, 'Execution Time': ms }] = result[0]['QUERY PLAN'];
    explained = { plan, ms };
    throw undone;
  }).catch((error: unknown) => {
    if (error !== undone) throw error;
  });
  if (!explained) throw new Error('nothing was explained');
  return explained;
}

/** The row limit of a statement. */
function batchOf({ sql, bindings }: Statement, batch: number): number {
  const ids = bindings.find((one) => Array.isArray(one));
  return Number(/LIMIT (\d+)/.exec(sql)?.[1] ?? (Array.isArray(ids) ? ids.length : batch));
}

function readsMax(statement: Statement, { batch, readsPerRow }: Hot): number {
  return readsPerRow === undefined ? 8 * batchOf(statement, batch) : readsPerRow * batch;
}

function literal(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? `{${value.map((one) => JSON.stringify(one)).join(',')}}` : String(value);
}

/** The sum of the rows read by the nodes of a plan, per loop. */
function rowsRead(node: Node): number {
  const each = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Join Filter'].map((name) =>
    Number(node[name] ?? 0),
  );
  const own = each.reduce((sum, count) => sum + count, 0) * Number(node['Actual Loops'] ?? 1);
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), own);
}

describe.each([OUTBOX, IDEMPOTENCY_KEYS, DIFFERENCES, DELIVERIES])('the statements of $table', (hot) => {
  let statements: Statement[];
  beforeAll(async () => {
    statements = await statementsOf(hot);
    expect(statements.length).toBeGreaterThan(0);
  });

  test.each(Object.entries(STATES))('read few rows of an %s table, planned when it had one row: %s', async (state) => {
    await prepare(hot, state as keyof typeof STATES);
    for (const statement of statements) {
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        const runs = [await explain(statement, mode), await explain(statement, mode), await explain(statement, mode)];
        const fastest = runs.toSorted((a, b) => a.ms - b.ms)[0]!;
        const about = `${mode}: ${statement.sql}\n${JSON.stringify(fastest.plan, null, 1)}`;
        if (rowsRead(fastest.plan) > readsMax(statement, hot))
          throw new Error(`${rowsRead(fastest.plan)} rows read, ${about}`);
        if (fastest.ms > TIME_MAX_MS) throw new Error(`${fastest.ms} ms, ${about}`);
      }
    }
  });
});

test('the statements of the outbox include the sweep and the updates of each outcome', async () => {
  const begins = (await statementsOf(OUTBOX)).map(({ sql }) => sql.replaceAll(/\s+/g, ' ').slice(0, 45));
  expect(begins.toSorted()).toEqual([
    'DELETE FROM outbox WHERE id = ANY (ARRAY( SEL',
    'DELETE FROM outbox WHERE id = ANY($1)',
    'UPDATE outbox SET lease_until = NULL WHERE id',
    'UPDATE outbox SET lease_until = NULL, availab',
    'UPDATE outbox SET lease_until = NULL, failure',
    'UPDATE outbox SET lease_until = now() + inter',
  ]);
});
