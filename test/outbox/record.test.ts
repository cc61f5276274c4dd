import { isUniqueViolation } from '../../src/lib/db-errors.ts';
import { rows } from '../../src/lib/db.ts';
import { createTransactionRunner, dryRun, type OutboxRow } from '../../src/outbox/record.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database.drop());

const INSERT = 'INSERT INTO merchant (id, name) VALUES (:id, :name)';
const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test('a deferred write exists once its transaction has committed, and its outbox rows are dispatched then', async () => {
  const { db } = database;
  const dispatched: OutboxRow[] = [];
  const runInTransaction = createTransactionRunner(db, (messages) => void dispatched.push(...messages));
  await runInTransaction(async ({ writeDeferred, enqueue }) => {
    await writeDeferred(INSERT, { id: 'mrc_1', name: 'Written' });
    await enqueue([{ kind: 'start', workflowType: 'payment', workflowId: 'payment-1' }]);
    expect(dispatched).toEqual([]);
  });
  expect(await db.knex()('merchant').where({ id: 'mrc_1' })).toHaveLength(1);
  expect(dispatched).toMatchObject([{ workflowId: 'payment-1' }]);
  expect(await db.knex()('outbox').pluck('id')).toEqual(dispatched.map(({ id }) => id));
});

test('a deferred write that fails makes its transaction fail with that error, whatever follows it', async () => {
  const { db } = database;
  const dispatched: OutboxRow[] = [];
  const runInTransaction = createTransactionRunner(db, (messages) => void dispatched.push(...messages));
  await db.knex()('merchant').insert({ id: 'mrc_taken', name: 'First' });
  const last = runInTransaction(async ({ writeDeferred, enqueued }) => {
    enqueued([{ id: 'obx_1', kind: 'start', workflowType: 'payment', workflowId: 'payment-2' }]);
    await writeDeferred(INSERT, { id: 'mrc_taken', name: 'Last' });
  });
  expect(isUniqueViolation(await failureOf(last), 'merchant_pkey')).toBe(true);
  const between = runInTransaction(async ({ trx, writeDeferred }) => {
    await writeDeferred(INSERT, { id: 'mrc_taken', name: 'Between' });
    await rows(trx, INSERT, { id: 'mrc_other', name: 'Other' });
  });
  expect(isUniqueViolation(await failureOf(between), 'merchant_pkey')).toBe(true);
  expect(await db.knex()('merchant').whereIn('id', ['mrc_taken', 'mrc_other']).pluck('name')).toEqual(['First']);
  expect(dispatched).toEqual([]);
});

test('a deferred write that fails can replace its error by one that reads the database after the rollback', async () => {
  const { db } = database;
  await db.knex()('merchant').insert({ id: 'mrc_there', name: 'There' });
  const explain = async (error: unknown) => {
    const [found] = await rows<{ name: string }>(db, `SELECT name FROM merchant WHERE id = 'mrc_there'`);
    return new Error(`${isUniqueViolation(error)}: ${found?.name}`);
  };
  const tx = createTransactionRunner(db, () => {})(async ({ trx, writeDeferred }) => {
    await writeDeferred(INSERT, { id: 'mrc_there', name: 'Again' }, explain);
    await writeDeferred(INSERT, { id: 'mrc_after', name: 'After' });
    await rows(trx, INSERT, { id: 'mrc_last', name: 'Last' });
  });
  await expect(tx).rejects.toThrow('true: There');
  expect(await db.knex()('merchant').whereIn('id', ['mrc_after', 'mrc_last'])).toEqual([]);
});

test('of two transactions in a deadlock, the one that PostgreSQL aborts is run again', async () => {
  const { db } = database;
  const ids = ['mrc_left', 'mrc_right'];
  await db
    .knex()('merchant')
    .insert(ids.map((id) => ({ id, name: 'Before' })));
  let tries = 0;
  let meet = (): void => {};
  const met = new Promise<void>((resolve) => (meet = resolve));
  const rename = (name: string, order: string[]) =>
    createTransactionRunner(db, () => {})(async ({ trx }) => {
      await rows(trx, 'SET LOCAL lock_timeout = 20000');
      await rows(trx, 'UPDATE merchant SET name = :name WHERE id = :id', { name, id: order[0] ?? '' });
      tries += 1;
      // Both must hold their first row before either requests the other's.
      if (tries === 2) meet();
      await met;
      await rows(trx, 'UPDATE merchant SET name = :name WHERE id = :id', { name, id: order[1] ?? '' });
    });
  await Promise.all([rename('One', ids), rename('Other', ids.toReversed())]);
  // The second try may take its row before the waiting transaction wakes up, which is a deadlock again.
  expect(tries).toBeGreaterThanOrEqual(3);
  const [left, right] = await db.knex()('merchant').whereIn('id', ids).pluck('name');
  expect(left).toBe(right);
}, 20_000);

test('a transaction that could not be serialised is run again', async () => {
  const { db } = database;
  await db.knex()('merchant').insert({ id: 'mrc_moved', name: 'Before' });
  let tries = 0;
  await createTransactionRunner(db, () => {})(async ({ trx }) => {
    tries += 1;
    await rows(trx, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await rows(trx, `SELECT FROM merchant WHERE id = 'mrc_moved'`);
    const rename = `UPDATE merchant SET name = :name WHERE id = 'mrc_moved'`;
    if (tries === 1) await rows(db, rename, { name: 'Other' });
    await rows(trx, rename, { name: 'Own' });
  });
  expect(tries).toBe(2);
  expect(await db.knex()('merchant').where({ id: 'mrc_moved' }).pluck('name')).toEqual(['Own']);
});

test.each([
  ['40001', 3],
  ['40P01', 3],
  ['23505', 1],
])('an error with the code %s that remains ends a transaction after tries: %i', async (code, most) => {
  let tries = 0;
  const work = createTransactionRunner(database.db, () => {})(async ({ trx }) => {
    tries += 1;
    await rows(trx, `DO $$ BEGIN RAISE SQLSTATE '${code}'; END $$`);
  });
  await expect(work).rejects.toMatchObject({ code });
  expect(tries).toBe(most);
});

test('a dry run returns its result, leaves no row, and announces nothing to the dispatchers', async () => {
  const { db } = database;
  const dispatched: unknown[] = [];
  const runInTransaction = createTransactionRunner(db, (...announced) => void dispatched.push(announced));
  const seen = await runInTransaction(async (tx) => {
    const found = await dryRun(tx, async ({ trx, writeDeferred, enqueue, enqueued, triggerDispatcher }) => {
      await writeDeferred(INSERT, { id: 'mrc_dry', name: 'Tried' });
      await enqueue([{ kind: 'start', workflowType: 'payment', workflowId: 'payment-dry' }]);
      enqueued([{ id: 'obx_dry', kind: 'start', workflowType: 'payment', workflowId: 'payment-dry' }]);
      triggerDispatcher();
      return rows(trx, `SELECT name FROM merchant WHERE id = 'mrc_dry'`);
    });
    await tx.writeDeferred(INSERT, { id: 'mrc_kept', name: 'Kept' });
    return found;
  });
  expect(seen).toEqual([{ name: 'Tried' }]);
  expect(await db.knex()('merchant').whereIn('id', ['mrc_dry', 'mrc_kept']).pluck('id')).toEqual(['mrc_kept']);
  expect(await db.knex()('outbox').where({ workflowId: 'payment-dry' })).toEqual([]);
  expect(dispatched).toEqual([]);
});
