import { payoutItems } from '../../../src/demo/seed/payouts.ts';
import { rows } from '../../../src/lib/db.ts';
import { buildFixture } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { buildFreeMerchant, fund } from '../../support/withdrawals.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('seeding a withdrawal whose provider gets no call fails instead of waiting for it', async () => {
  const fixture = buildFixture(database.db);
  const scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 20_000_00n);
  // Payouts of a suspended merchant are not submitted.
  await rows(database.db, `UPDATE merchant SET status = 'SUSPENDED' WHERE id = :merchantId`, scope);
  const [item] = payoutItems({ days: 90, payments: 3_000, until: fixture.clock() });
  const seeded = fixture.runInTransaction((tx) => {
    const runInTransaction = async <T>(work: (own: typeof tx) => Promise<T>): Promise<T> => work(tx);
    return item?.seed({ ...fixture, scope, tx, runInTransaction, advanceTo: () => {} }) ?? Promise.resolve();
  });
  await expect(seeded).rejects.toThrow('SUPPLIER-001 cannot be paid out: no call reached its provider.');
});
