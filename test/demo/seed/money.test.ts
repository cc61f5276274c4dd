import { seedPayout } from '../../../src/demo/seed/money.ts';
import { rows } from '../../../src/lib/db.ts';
import { buildWorld } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { buildFreeMerchant, fund } from '../../support/withdrawals.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('a payout of the past that is not sent stops the seed, instead of being waited for', async () => {
  const world = buildWorld(database.db);
  const scope = await buildFreeMerchant(world);
  await fund(world, scope, 1_000_00n);
  // Nothing is sent for a merchant that is suspended.
  await rows(database.db, `UPDATE merchant SET status = 'SUSPENDED' WHERE id = :merchantId`, scope);
  const createdAt = world.clock();
  const to = { phone: '251911000001', accountName: 'Sidama Growers Union' };
  const move = {
    move: 'withdraw',
    createdAt,
    requestId: 'SUPPLIER-001',
    amountSantim: 100_00n,
    end: 'paid',
    to,
  } as const;
  const made = world.runInTransaction((tx) =>
    seedPayout({ ...world, scope, tx, runInTransaction: (work) => work(tx), time: { now: createdAt } }, move),
  );
  await expect(made).rejects.toThrow('SUPPLIER-001 cannot be paid out: its provider was not asked');
});
