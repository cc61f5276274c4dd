import { seedPayout } from '../../../src/demo/seed/payouts.ts';
import { rows } from '../../../src/lib/db.ts';
import { buildWorld } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { buildFreeMerchant, fund } from '../../support/withdrawals.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('seeding a withdrawal whose provider gets no call fails instead of waiting for it', async () => {
  const world = buildWorld(database.db);
  const scope = await buildFreeMerchant(world);
  await fund(world, scope, 1_000_00n);
  // Payouts of a suspended merchant are not submitted.
  await rows(database.db, `UPDATE merchant SET status = 'SUSPENDED' WHERE id = :merchantId`, scope);
  const createdAt = world.clock();
  const to = { phone: '251911000001', accountName: 'Sidama Growers Union' };
  const payout = {
    kind: 'withdrawal',
    createdAt,
    requestId: 'SUPPLIER-001',
    amountSantim: 100_00n,
    end: 'paid',
    to,
  } as const;
  const seeded = world.runInTransaction((tx) =>
    seedPayout({ ...world, scope, tx, runInTransaction: (work) => work(tx), time: { now: createdAt } }, payout),
  );
  await expect(seeded).rejects.toThrow('SUPPLIER-001 cannot be paid out: no call reached its provider.');
});
