import { createHash } from 'node:crypto';

import type { Owner } from '../../src/lib/owner.ts';
import { buildMerchant, buildWorld, type World } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startReports } from '../support/reports.ts';
import { fund } from '../support/withdrawals.ts';

let database: TestDatabase;
let world: World;
let reports: Awaited<ReturnType<typeof startReports>>;
let owner: Owner;

beforeAll(async () => {
  database = await createTestDatabase();
  world = buildWorld(database.db, { clock: () => new Date('2026-03-02T09:00:00.000Z') });
  reports = await startReports(world);
});
beforeEach(async () => {
  owner = await buildMerchant(database.db);
});
afterAll(async () => {
  await expectLedgerHolds(database.db);
  await reports.close();
  await database.drop();
});

const TODAY = { period: 'day', date: '2026-03-02' };

test('a small report of payments is READY in the answer, and its file has what was promised', async () => {
  await fund(world, owner, 100_50n);
  const { report, file } = await reports.fetched(owner, { kind: 'payments', ...TODAY });
  expect(report).toMatchObject({ status: 'READY', rowsDone: 1, rowsTotal: 1 });
  expect(file.status).toBe(200);
  expect(createHash('sha256').update(`\uFEFF${file.text}`).digest('hex')).toBe(report.sha256);
});
