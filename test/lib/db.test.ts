import {
  isDatabaseUnavailable,
  isUniqueViolation,
  openDatabase,
  type Queryable,
  rows,
  type Trx,
} from '../../src/lib/db.ts';
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
  await db('merchant').insert(merchant);
  await SubscriptionRow.query(db.knex()).insert(subscription);
  await SubscriptionRow.query(db.knex()).findById('whs_1').patch({ consecutiveFailures: 3 });
  const expected = { consecutiveFailures: 3, secretHint: 'aled', eventTypes: ['*'] };
  expect(await rows(db, 'SELECT * FROM webhook_subscription')).toEqual([expect.objectContaining(expected)]);
  expect(await db('webhookSubscription').first()).toMatchObject(expected);
  expect(await SubscriptionRow.query(db.knex()).findById('whs_1')).toMatchObject(expected);
});

test('values stand where their names stand, and nowhere else', async () => {
  const { db } = database;
  const sql = `SELECT CAST(:word AS text) AS word, CAST(:word AS text) || '?' AS again, ':word' AS text,
    '{"a":true}'::jsonb ? 'a' AS json -- it's :nothing
    `;
  const expected = [{ word: "it's", again: "it's?", text: ':word', json: true }];
  expect(await rows(db, sql, { word: "it's" })).toEqual(expected);
  expect(await db.transaction(async (trx) => rows(trx, sql, { word: "it's" }))).toEqual(expected);
  await expect(rows(db, sql, { world: 'round' })).rejects.toThrow('The value :word is missing');
});

test('a unique violation is told by its constraint, from Database and from Objection', async () => {
  const { db } = database;
  const fromKnex: unknown = await db('merchant')
    .insert(merchant)
    .catch((error: unknown) => error);
  expect([isUniqueViolation(fromKnex), isUniqueViolation(fromKnex, 'merchant_pkey')]).toEqual([true, true]);
  const fromObjection: unknown = await SubscriptionRow.query(db.knex())
    .insert(subscription)
    .catch((error: unknown) => error);
  expect(isUniqueViolation(fromObjection, 'webhook_subscription_pkey')).toBe(true);
  expect(isUniqueViolation(fromObjection, 'merchant_pkey')).toBe(false);
});

test('a statement whose columns a migration changes is asked anew, and in a transaction once it is repeated', async () => {
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

test('a transaction takes SQL, queries and models, and all of it stands or none', async () => {
  const { db } = database;
  const add = (name: string) => async (trx: Trx) => {
    await rows(trx, 'INSERT INTO merchant (id, name) VALUES (:id, :name)', { id: `mrc_${name}_1`, name });
    await trx('merchant').insert({ id: `mrc_${name}_2`, name });
    await SubscriptionRow.query(trx.knex()).insert({ ...subscription, id: `whs_${name}` });
    if (name === 'broken') throw new Error('given up');
    return trx('merchant').where({ name }).pluck('id');
  };
  expect(await db.transaction(add('whole'))).toHaveLength(2);
  await expect(db.transaction(add('broken'))).rejects.toThrow('given up');
  expect(await db('merchant').whereIn('name', ['whole', 'broken']).pluck('name')).toEqual(['whole', 'whole']);
  expect(await SubscriptionRow.query(db.knex()).findByIds(['whs_whole', 'whs_broken'])).toHaveLength(1);
});

test('a transaction that PostgreSQL has given up is no success, even if nobody noticed', async () => {
  const { db } = database;
  const work = db.transaction(async (trx) => {
    await rows(trx, `INSERT INTO merchant (id, name) VALUES ('mrc_unnoticed', 'Unnoticed')`);
    await rows(trx, 'SELECT 1 / 0').catch(() => {});
  });
  await expect(work).rejects.toThrow('rolled back');
  expect(await rows(db, `SELECT 1 FROM merchant WHERE id = 'mrc_unnoticed'`)).toEqual([]);
});

test('a transaction that is over takes nothing more', async () => {
  const { db } = database;
  const over = await db.transaction(async (trx) => ({ trx }));
  await expect(rows(over.trx, 'SELECT 1')).rejects.toThrow('over');
  await expect(SubscriptionRow.query(over.trx.knex())).rejects.toThrow('over');
});

test('a connection that the server ends says that the database is unavailable, not that we asked wrongly', async () => {
  const { db } = database;
  const wrong: unknown = await rows(db, 'SELECT 1 / 0').catch((error: unknown) => error);
  expect(isDatabaseUnavailable(wrong)).toBe(false);
  const ended: unknown = await SubscriptionRow.query(db.knex())
    .whereRaw('pg_terminate_backend(pg_backend_pid())')
    .catch((error: unknown) => error);
  expect(isDatabaseUnavailable(ended)).toBe(true);
});
