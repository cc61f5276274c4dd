import { search } from '../../src/backoffice/search.ts';
import { rows, type Database } from '../../src/lib/db.ts';
import type { Page } from '../../src/lib/pagination.ts';
import { listAllTransactions } from '../../src/payments/operator-queries.ts';
import { listDeliveries } from '../../src/webhooks/delivery/queries.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { argumentsOf, undone } from '../support/explain.ts';

/** 200 days of rows. With 200,000 of them the plans are the same. */
const ROWS = 20_000;
const BIG = ['transaction', 'payment_attempt', 'webhook_delivery', 'webhook_event', 'webhook_dead_letter'];

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const at = "now() - interval '200 days' * i / " + ROWS;
  await database.asOwner(`
    INSERT INTO merchant (id, name) SELECT 'mrc_' || i, 'Merchant ' || i FROM generate_series(0, 99) i;
    INSERT INTO webhook_subscription (id, merchant_id, environment, url, event_types, secret, secret_hint)
      SELECT 'whs_' || i, 'mrc_' || i, 'sandbox', 'https://shop-' || i || '.example.et/hooks', '{*}', '\\x00', 'hint'
      FROM generate_series(0, 99) i;
    INSERT INTO transaction (id, merchant_id, environment, session_id, checkout_order_no, type, amount_santim, currency,
                             status, channel, customer_phone, hold_reason, created_at)
      SELECT 'txn_' || i, 'mrc_' || i % 100, 'sandbox', 'cs_' || i, 'ORD-' || i, 'API', 100, 'ETB', 'PENDING', 'TELEBIRR',
             CASE WHEN i % 2 = 0 THEN '2519' || i END, CASE WHEN i % 1000 = 0 THEN 'WRONG_AMOUNT' END, ${at}
      FROM generate_series(1, ${ROWS}) i;
    INSERT INTO checkout_session (id, merchant_id, environment, transaction_id, status, channels, client_token_hash, expires_at)
      SELECT 'cs_' || i, 'mrc_' || i % 100, 'sandbox', 'txn_' || i, 'FAILED', '{TELEBIRR}', '\\x00', now()
      FROM generate_series(1, ${ROWS}) i;
    INSERT INTO payment_attempt (id, merchant_id, environment, session_id, transaction_id, channel, phone, amount_santim,
                                 currency, status, callback_secret, created_at)
      SELECT 'pat_' || i, 'mrc_' || i % 100, 'sandbox', 'cs_' || i, 'txn_' || i, 'TELEBIRR', '2519' || i, 100, 'ETB',
             'DECLINED', 'secret-' || i, ${at} FROM generate_series(1, ${ROWS}) i;
    INSERT INTO webhook_event (id, merchant_id, environment, event, api_version, resource_type, resource_id, payload, created_at)
      SELECT 'evt_' || i, 'mrc_' || i % 100, 'sandbox', 'checkout.failed', 'v1.0', 'transaction', 'txn_' || i,
             convert_to('{"data":{"checkoutOrderNo":"ORD-' || i || '"}}', 'UTF8'), ${at} FROM generate_series(1, ${ROWS}) i;
    INSERT INTO webhook_delivery (id, merchant_id, environment, event_id, subscription_id, event, status, created_at)
      SELECT 'whd_' || i, 'mrc_' || i % 100, 'sandbox', 'evt_' || i, 'whs_' || i % 100, 'checkout.failed',
             CASE WHEN i % 500 = 0 THEN 'FAILED' ELSE 'DELIVERED' END, ${at} FROM generate_series(1, ${ROWS}) i;
    INSERT INTO webhook_dead_letter (id, merchant_id, environment, delivery_id, reason, opened_at, closed_at)
      SELECT 'whl_' || i, 'mrc_' || i % 100, 'sandbox', 'whd_' || i, 'exhausted', now(),
             CASE WHEN i % 500 <> 0 THEN now() END FROM generate_series(1, ${ROWS}, 5) i;
    ANALYZE`);
}, 300_000);
afterAll(() => database.drop());

type Node = { 'Node Type': string; 'Relation Name'?: string; Plans?: Node[] };
const scanned = (node: Node): string[] => [
  ...(node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? ''] : []),
  ...(node.Plans ?? []).flatMap(scanned),
];

/** The big tables that the statements of some work read as a whole. */
async function scannedBy(work: (db: Database) => Promise<unknown>): Promise<string[]> {
  const { db } = database;
  const statements: { sql: string; values: readonly unknown[] }[] = [];
  const note = (one: { sql: string; values: readonly unknown[] }): void => void statements.push(one);
  db.events.on('statement', note);
  await work(db).finally(() => db.events.off('statement', note));
  const found: string[] = [];
  await undone(db, async (run) => {
    for (const { sql, values } of statements) {
      await run(`PREPARE asked AS ${sql}`);
      const [[[{ Plan: plan }]]] = (await run(`EXPLAIN (FORMAT JSON) EXECUTE asked${argumentsOf(values)}`)) as [
        [[{ Plan: Node }]],
      ];
      found.push(...scanned(plan).filter((table) => BIG.includes(table)));
      await run('DEALLOCATE asked');
    }
  });
  expect(statements.length).toBeGreaterThan(0);
  return found;
}

const page: Page = { page: 1, limit: 20, after: null };
const DAY_MS = 86_400_000;
const range = { from: new Date(Date.now() - 20 * DAY_MS), until: new Date() };
const none = { range, resourceIds: null };

test.each<[string, Parameters<typeof listDeliveries>[1]]>([
  ['days', none],
  ['merchant', { ...none, merchantId: 'mrc_7', environment: 'sandbox' }],
  ["receiver's host", { ...none, receiverHost: 'shop-7.example.et' }],
  ['order number', { range: null, resourceIds: ['txn_77'] }],
  ['state FAILED', { ...none, status: ['FAILED'] }],
  ['state DEAD_LETTER', { ...none, status: ['DEAD_LETTER'] }],
  ['event type', { ...none, event: 'checkout.failed' }],
])("operators' list of deliveries by %s reads no big table as a whole", async (_, filter) => {
  expect(await scannedBy((db) => listDeliveries(db, filter, page))).toEqual([]);
});

test.each<[string, Parameters<typeof listAllTransactions>[1]]>([
  ['days', { range }],
  ['merchant', { range, merchantId: 'mrc_7', environment: 'sandbox' }],
  ['order number', { range: null, checkoutOrderNo: 'ORD-77' }],
  ['held money', { range, held: true }],
  ['late payment', { range, late: true }],
  ['status and channel', { range, status: ['FAILED', 'PENDING'], channel: 'TELEBIRR' }],
])("operators' list of transactions by %s reads no big table as a whole", async (_, filter) => {
  expect(await scannedBy((db) => listAllTransactions(db, filter, page))).toEqual([]);
});

const id = (prefix: string): string => `${prefix}_${'0'.repeat(26)}`;
test.each(['ORD-77', '251977', '0911000077', 'shop-7.example.et', 'Merchant 7'])(
  "operators' search for %s reads no big table as a whole",
  async (text) => {
    expect(await scannedBy((db) => search(db, text))).toEqual([]);
  },
);

test.each(['mrc', 'txn', 'cs', 'pat', 'evt', 'whs', 'whd', 'wha', 'whl', 'wd', 'stl', 'rcp'])(
  "operators' search for an id %s_… reads no big table as a whole",
  async (prefix) => {
    expect(await scannedBy((db) => search(db, id(prefix)))).toEqual([]);
  },
);

test('the tables of this test are as big as it says', async () => {
  const counted = await rows<{ count: number }>(database.db, 'SELECT count(*)::int AS count FROM webhook_delivery');
  expect(counted).toEqual([{ count: ROWS }]);
});
