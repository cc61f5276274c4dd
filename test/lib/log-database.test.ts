import { type Database, rows } from '../../src/lib/db.ts';
import { describeError } from '../../src/lib/log.ts';
import { SubscriptionRow } from '../../src/webhooks/subscriptions/model.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

const PHONE = '251911000001';
const add = { id: `mrc_${PHONE}`, name: 'Abebe Bikila' };
const subscription = {
  id: 'whs_taken',
  merchantId: add.id,
  environment: 'sandbox' as const,
  url: 'https://hooks.example.com/',
  eventTypes: ['*'],
  secret: Buffer.from('sealed'),
  secretHint: 'aled',
};
/** What fails, its code, and how. */
const failures: [string, string, (db: Database) => PromiseLike<unknown>][] = [
  ['a unique violation', '23505', async (db) => rows(db, 'INSERT INTO merchant (id, name) VALUES (:id, :name)', add)],
  ['a unique violation from Database', '23505', (db) => db.knex()('merchant').insert(add)],
  ['a unique violation from Objection', '23505', (db) => SubscriptionRow.query(db.knex()).insert(subscription)],
  [
    'a row without what it must have',
    '23502',
    async (db) => rows(db, 'INSERT INTO merchant (id, name) VALUES (:id, NULL)', { id: `${add.id}_2` }),
  ],
  ['a bad value', '22P02', async (db) => rows(db, 'SELECT CAST(CAST(:phone AS text) AS uuid)', { phone: PHONE })],
  [
    'a bad value with a line like a frame',
    '22P02',
    async (db) => rows(db, 'SELECT CAST(CAST(:phone AS text) AS uuid)', { phone: `x\n    at ${PHONE}` }),
  ],
];

beforeAll(async () => {
  database = await createTestDatabase();
  await database.db.knex()('merchant').insert(add);
  await SubscriptionRow.query(database.db.knex()).insert(subscription);
});
afterAll(async () => database.drop());

test.each(failures)('%s is logged by its code, without a value of the statement', async (_, code, fail) => {
  const thrown: unknown = await fail(database.db).then(
    () => null,
    (error: unknown) => error,
  );
  for (const enqueued of [describeError(thrown), describeError(new Error('not made', { cause: thrown }))['cause']]) {
    expect(enqueued).toMatchObject({ code });
    expect(JSON.stringify(enqueued)).not.toMatch(/911000001|Abebe|whs_taken|hooks\.example/);
  }
});
