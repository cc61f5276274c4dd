import { isDatabaseUnavailable, isUniqueViolation, rows } from '../../src/lib/db.ts';
import { SubscriptionRow } from '../../src/webhooks/model.ts';
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
  await SubscriptionRow.query(db).insert(subscription);
  await SubscriptionRow.query(db).findById('whs_1').patch({ failuresInARow: 3 });
  const expected = { failuresInARow: 3, secretHint: 'aled', eventTypes: ['*'] };
  expect(await rows(db, 'SELECT * FROM webhook_subscription')).toEqual([expect.objectContaining(expected)]);
  expect(await db('webhookSubscription').first()).toMatchObject(expected);
  expect(await SubscriptionRow.query(db).findById('whs_1')).toMatchObject(expected);
});

test('a unique violation is told by its constraint, from Knex and from Objection', async () => {
  const { db } = database;
  const fromKnex: unknown = await db('merchant')
    .insert(merchant)
    .catch((error: unknown) => error);
  expect([isUniqueViolation(fromKnex), isUniqueViolation(fromKnex, 'merchant_pkey')]).toEqual([true, true]);
  const fromObjection: unknown = await SubscriptionRow.query(db)
    .insert(subscription)
    .catch((error: unknown) => error);
  expect(isUniqueViolation(fromObjection, 'webhook_subscription_pkey')).toBe(true);
  expect(isUniqueViolation(fromObjection, 'merchant_pkey')).toBe(false);
});

test('a connection that the server ends says that the database is unavailable, not that we asked wrongly', async () => {
  const { db } = database;
  const wrong: unknown = await rows(db, 'SELECT 1 / 0').catch((error: unknown) => error);
  expect(isDatabaseUnavailable(wrong)).toBe(false);
  const ended: unknown = await SubscriptionRow.query(db)
    .whereRaw('pg_terminate_backend(pg_backend_pid())')
    .catch((error: unknown) => error);
  expect(isDatabaseUnavailable(ended)).toBe(true);
});
