import { isDatabaseUnavailable, isUniqueViolation } from '../../src/lib/db-errors.ts';
import { openDatabase, type Queryable, rows, type Trx } from '../../src/lib/db.ts';
import { SubscriptionRow } from '../../src/webhooks/subscriptions/model.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database.drop());

const merchant = { id: 'mrc_1', name: 'Abyssinia Coffee' };
const subscription = {
  id: 'whs_1',
  merchantId: 'mrc_1',
  environment: 'sandbox' as const,
  url: 'https://hooks.example.com/',
  eventTypes: ['*'],
  secret: Buffer.from('sealed'),
  secretHint: 'aled',
};

test('columns have the same names in raw SQL, in queries and in rows, single letters included', async () => {
  const { db } = database;
  await db.knex()('merchant').insert(merchant);
  await SubscriptionRow.query(db.knex()).insert(subscription);
  await SubscriptionRow.query(db.knex()).findById('whs_1').patch({ consecutiveFailures: 3 });
  const expected = { consecutiveFailures: 3, secretHint: 'aled', eventTypes: ['*'] };
  expect(await rows(db, 'SELECT * FROM webhook_subscription')).toEqual([expect.objectContaining(expected)]);
  expect(await db.knex()('webhookSubscription').first()).toMatchObject(expected);
  expect(await SubscriptionRow.query(db.knex()).findById('whs_1')).toMatchObject(expected);
});

test('values are bound to their names and replaced nowhere else', async () => {
  const { db } = database;
  const sql = `SELECT CAST(:word AS text) AS word, CAST(:word AS text) || '?' AS again, ':word' AS text,
    '{"a":true}'::jsonb ? 'a' AS json -- it's :nothing
    `;
  const expected = [{ word: "it's", again: "it's?", text: ':word', json: true }];
  expect(await rows(db, sql, { word: "it's" })).toEqual(expected);
  expect(await db.transaction(async (trx) => rows(trx, sql, { word: "it's" }))).toEqual(expected);
  await expect(rows(db, sql, { world: 'round' })).rejects.toThrow('The value :word is missing');
});

test('a unique violation is identified by its constraint, from Database and from Objection', async () => {
  const { db } = database;
  const fromKnex: unknown = await db
    .knex()('merchant')
    .insert(merchant)
    .catch((error: unknown) => error);
  expect([isUniqueViolation(fromKnex), isUniqueViolation(fromKnex, 'merchant_pkey')]).toEqual([true, true]);
  const fromObjection: unknown = await SubscriptionRow.query(db.knex())
    .insert(subscription)
    .catch((error: unknown) => error);
  expect(isUniqueViolation(fromObjection, 'webhook_subscription_pkey')).toBe(true);
  expect(isUniqueViolation(fromObjection, 'merchant_pkey')).toBe(false);
});

test('a statement with columns changed by a migration is prepared again; in a transaction it succeeds when that is repeated', async () => {
  const db = openDatabase({ url: database.ownerUrl, poolMax: 1, applicationName: 'test' });
  const ask = async (of: Queryable) => rows(of, 'SELECT * FROM changing');
  await rows(db, 'CREATE TEMPORARY TABLE changing (a integer)');
  await ask(db);
  await rows(db, 'ALTER TABLE changing ADD COLUMN b integer');
  expect(await ask(db)).toEqual([]);
  await rows(db, 'ALTER TABLE changing ADD COLUMN c integer');
  const inTransaction = async () => db.transaction(async (trx) => ask(trx));
  const outdated: unknown = await inTransaction().catch((error: unknown) => error);
  expect(isDatabaseUnavailable(outdated)).toBe(true);
  expect(await inTransaction()).toEqual([]);
  await db.destroy();
});

test('a transaction whose connection is lost as it begins does nothing', async () => {
  const { db } = database;
  const others = openDatabase({ url: database.url, poolMax: 1, applicationName: 'test' });
  const [other] = await rows<{ pid: number }>(others, 'SELECT pg_backend_pid() AS pid');
  const work = others.transaction(async (trx) => {
    await rows(db, 'SELECT pg_terminate_backend(:pid)', { pid: other?.pid });
    await rows(trx, `INSERT INTO merchant (id, name) VALUES ('mrc_lost', 'Lost')`);
  });
  await expect(work).rejects.toThrow();
  expect(await rows(db, `SELECT 1 FROM merchant WHERE id = 'mrc_lost'`)).toEqual([]);
  await others.destroy();
});

test('a transaction of SQL, queries and models commits or rolls back as a whole', async () => {
  const { db } = database;
  const add = (name: string) => async (trx: Trx) => {
    await rows(trx, 'INSERT INTO merchant (id, name) VALUES (:id, :name)', { id: `mrc_${name}_1`, name });
    await trx
      .knex()('merchant')
      .insert({ id: `mrc_${name}_2`, name });
    await SubscriptionRow.query(trx.knex()).insert({ ...subscription, id: `whs_${name}` });
    if (name === 'broken') throw new Error('given up');
    return trx.knex()('merchant').where({ name }).pluck('id');
  };
  expect(await db.transaction(add('whole'))).toHaveLength(2);
  await expect(db.transaction(add('broken'))).rejects.toThrow('given up');
  expect(await db.knex()('merchant').whereIn('name', ['whole', 'broken']).pluck('name')).toEqual(['whole', 'whole']);
  expect(await SubscriptionRow.query(db.knex()).findByIds(['whs_whole', 'whs_broken'])).toHaveLength(1);
});

test('a transaction aborted by PostgreSQL fails, even if its errors were ignored', async () => {
  const { db } = database;
  const work = db.transaction(async (trx) => {
    await rows(trx, `INSERT INTO merchant (id, name) VALUES ('mrc_unnoticed', 'Unnoticed')`);
    await rows(trx, 'SELECT 1 / 0').catch(() => {});
  });
  await expect(work).rejects.toThrow('rolled back');
  expect(await rows(db, `SELECT 1 FROM merchant WHERE id = 'mrc_unnoticed'`)).toEqual([]);
});

test('a transaction whose BEGIN fails runs no statement and commits nothing', async () => {
  const db = openDatabase({ url: database.url, poolMax: 1, applicationName: 'test' });
  db.pool.once('connect', (client) => {
    const query = client.query.bind(client) as (statement: unknown, ...more: unknown[]) => unknown;
    const failing = (statement: unknown, ...more: unknown[]) =>
      query(statement === 'BEGIN' ? 'BEGIN AND FAIL' : statement, ...more);
    Object.assign(client, { query: failing });
  });
  const add = `INSERT INTO merchant (id, name) VALUES ('mrc_unbegun', 'Unbegun')`;
  await expect(db.transaction(async (trx) => rows(trx, add))).rejects.toThrow('syntax error');
  expect(await rows(database.db, `SELECT 1 FROM merchant WHERE id = 'mrc_unbegun'`)).toEqual([]);
  await db.destroy();
});

test('a statement of a transaction that is over rejects and writes nothing', async () => {
  const { db } = database;
  const late = { id: 'mrc_late', name: 'Late' };
  const add = 'INSERT INTO merchant (id, name) VALUES (:id, :name)';
  const { trx } = await db.transaction(async (open) => ({ trx: open }));
  let rolledBack: Trx | undefined;
  const failing = db.transaction(async (open) => {
    rolledBack = open;
    throw new Error('given up');
  });
  await expect(failing).rejects.toThrow('given up');
  for (const over of [trx, rolledBack as Trx]) {
    await expect(rows(over, add, late)).rejects.toThrow('over');
    await expect(over.knex()('merchant').insert(late)).rejects.toThrow('over');
    await expect(SubscriptionRow.query(over.knex())).rejects.toThrow('over');
  }
  // On the same connection, which the next transaction has.
  await db.transaction(async () => expect(rows(trx, add, late)).rejects.toThrow('over'));
  expect(await db.knex()('merchant').where({ id: late.id })).toEqual([]);
});

test('a connection ended by the server is reported as an unavailable database, not as a wrong statement', async () => {
  const { db } = database;
  const wrong: unknown = await rows(db, 'SELECT 1 / 0').catch((error: unknown) => error);
  expect(isDatabaseUnavailable(wrong)).toBe(false);
  const ended: unknown = await SubscriptionRow.query(db.knex())
    .whereRaw('pg_terminate_backend(pg_backend_pid())')
    .catch((error: unknown) => error);
  expect(isDatabaseUnavailable(ended)).toBe(true);
});
