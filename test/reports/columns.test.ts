import type { MerchantScope } from '../../src/lib/scope.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { autoDecide } from '../../src/payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { markCredited, markReturned, markSent } from '../../src/settlements/bank-results.ts';
import { approveSettlement } from '../../src/settlements/decide.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startReports, type Reports } from '../support/reports.ts';
import { requestSettlement, linkAccount, withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund, PAID_OUT, REVERSED } from '../support/withdrawals.ts';

const HOUR_MS = 3_600_000;
const DAY = { period: 'day', format: 'JSON', date: '2026-03-02' } as const;

let database: TestDatabase;
let fixture: Fixture;
let reports: Reports;
let scope: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  // 12:00 in Addis Ababa; each step of a test is an hour later.
  fixture = buildFixture(database.db, { start: new Date('2026-03-02T09:00:00.000Z') });
  reports = await startReports(fixture);
  scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 1_000_00n);
  await linkAccount(fixture, scope);
});
afterEach(() => reports.close());
afterAll(() => database.drop());

const rowsOf = async (kind: string) => (await reports.download(scope, { kind, ...DAY })).file.body.rows;
const anHourLater = () => fixture.pass(HOUR_MS);

test('the row of a returned settlement has each field in its own column', async () => {
  const { id, requestId } = await requestSettlement(fixture, scope);
  anHourLater();
  const by = () => ({ operatorId: 'opr_1', at: fixture.clock() });
  await fixture.runInTransaction((tx) => approveSettlement(tx, id, by()));
  await fixture.runInTransaction((tx) => markSent(tx, id, by()));
  anHourLater();
  const creditedAt = fixture.clock();
  anHourLater();
  await fixture.runInTransaction((tx) => markCredited(tx, id, { ...by(), bankReference: 'FT-1', creditedAt }));
  anHourLater();
  await fixture.runInTransaction((tx) => markReturned(tx, id, { ...by(), reason: 'Closed.', bankReference: 'FT-2' }));
  expect(await rowsOf('settlements')).toEqual([
    {
      settlementId: id,
      requestId,
      amount: 150,
      paidAmount: null,
      fee: null,
      feeTax: null,
      totalDebit: null,
      reserved: null,
      currency: 'ETB',
      bank: 'CBE',
      accountNumber: '*********6789',
      accountName: 'Abyssinia Coffee PLC',
      status: 'FAILED',
      requestDate: '2026-03-02',
      requestDateEthiopian: '23 Yekatit 2018',
      requestedAtAddis: '2026-03-02 12:00:00',
      requestedAtUtc: '2026-03-02 09:00:00',
      effectiveDate: '2026-03-03',
      expectedBy: '2026-03-05',
      sentAtAddis: '2026-03-02 13:00:00',
      sentAtUtc: '2026-03-02 10:00:00',
      creditedAtAddis: '2026-03-02 14:00:00',
      creditedAtUtc: '2026-03-02 11:00:00',
      completedAtAddis: '2026-03-02 15:00:00',
      completedAtUtc: '2026-03-02 12:00:00',
      returnedAtAddis: '2026-03-02 16:00:00',
      returnedAtUtc: '2026-03-02 13:00:00',
      bankReference: 'FT-1',
      failureCode: 'BANK_RETURNED',
    },
  ]);
});

test('the row of a reversed withdrawal has each field in its own column', async () => {
  const checkPayout = createCheck(fixture, WITHDRAWAL);
  const { id, reference: requestId } = await withdraw(fixture, scope, 100_00n);
  await autoDecide(fixture, id, fixture.clock());
  for (const outcome of [PAID_OUT, REVERSED]) {
    anHourLater();
    fixture.provider.returnsForPayouts(outcome);
    await checkPayout(id, { minIntervalMs: 0, notifyWorkflow: false });
  }
  expect(await rowsOf('withdrawals')).toEqual([
    {
      withdrawalRequestId: id,
      requestId,
      amount: 100,
      paidAmount: null,
      fee: null,
      feeTax: null,
      totalDebit: null,
      reserved: null,
      currency: 'ETB',
      channel: 'TELEBIRR',
      destination: '********0001',
      accountName: 'Abebe Bikila',
      status: 'REVERSED',
      requestDate: '2026-03-02',
      requestDateEthiopian: '23 Yekatit 2018',
      requestedAtAddis: '2026-03-02 12:00:00',
      requestedAtUtc: '2026-03-02 09:00:00',
      reason: null,
      providerReference: `OUT-${id}`,
      completedAtAddis: '2026-03-02 13:00:00',
      completedAtUtc: '2026-03-02 10:00:00',
      reversedAtAddis: '2026-03-02 14:00:00',
      reversedAtUtc: '2026-03-02 11:00:00',
      failureCode: null,
    },
  ]);
});
