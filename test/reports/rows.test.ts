import fc from 'fast-check';

import { balanceRoutes } from '../../src/ledger/routes.ts';
import { addisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { CHANNELS, TRANSACTION_THROUGH, type Channel } from '../../src/merchants/channels/channel.ts';
import { expireDueSessions } from '../../src/payments/close-session.ts';
import { TRANSACTION_STATUSES } from '../../src/payments/states.ts';
import { transactionRoutes } from '../../src/payments/transaction-routes.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { autoDecide } from '../../src/payouts/withdrawals/review.ts';
import { withdrawalRoutes } from '../../src/payouts/withdrawals/routes.ts';
import { WITHDRAWAL_STATUSES } from '../../src/payouts/withdrawals/states.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import {
  ACCEPTED,
  buildAttempt,
  buildMerchant,
  buildSession,
  buildFixture,
  declined,
  PAID,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { REPORTS, startReports, type Reports } from '../support/reports.ts';
import { requestSettlement, linkAccount, withdraw } from '../support/settlements.ts';
import { UNKNOWN_PAYOUT, PAID_OUT, REFUSED } from '../support/withdrawals.ts';

const FIRST_DAY_MS = Date.parse('2026-02-27T20:30:00.000Z');
const DAYS = 12;
const TRANSACTIONS = 260;
const MINUTE_MS = 60_000;
const STEP_MS = (DAYS * 24 * 60 * MINUTE_MS) / TRANSACTIONS;

let database: TestDatabase;
let fixture: Fixture;
let reports: Reports;
let scope: MerchantScope;
let nowMs = FIRST_DAY_MS;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db, { clock: () => new Date(nowMs) });
  const checkPayout = createCheck(fixture, WITHDRAWAL);
  reports = await startReports(fixture, [
    ...transactionRoutes(fixture),
    ...withdrawalRoutes({ ...fixture, checkPayout }),
    ...balanceRoutes(fixture),
  ]);
  scope = await buildMerchant(database.db);
  await linkAccount({ ...fixture, clock: () => new Date(FIRST_DAY_MS - 30 * 24 * 60 * MINUTE_MS) }, scope);
  for (let number = 0; number < TRANSACTIONS; number += 1) {
    // Three at a time, so that pages end between rows of one instant.
    nowMs = FIRST_DAY_MS + Math.round((number - (number % 3)) * STEP_MS);
    await seedPayment(number);
    if (number > 20 && number % 7 === 0) await seedWithdrawal(number / 7);
    if (number > 60 && number % 60 === 0) await requestSettlement(fixture, scope);
  }
  // A payment of another merchant at the same time.
  const other = await buildMerchant(database.db);
  await buildSession(fixture, other);
}, 120_000);
afterAll(async () => {
  await expectLedgerHolds(database.db);
  await reports.close();
  await database.drop();
});

/** Every seventh is never paid, every fifth fails, every eleventh is cancelled; the last two stay pending. */
async function seedPayment(number: number): Promise<void> {
  const channel = (['TELEBIRR', 'CBE_BIRR', 'AWASH'] as const)[number % 3] ?? 'TELEBIRR';
  const amountSantim = BigInt(10_000 + ((number * 7_919) % 90_000));
  const { sessionId } = await buildSession(fixture, scope, { amountSantim });
  if (number % 7 === 3) return;
  if (number % 11 === 5) return void (await fixture.closeUnpaid(sessionId, 'CANCELLED'));
  const attemptId = await buildAttempt(fixture, { ...scope, sessionId }, { channel });
  if (number % 5 === 4) fixture.provider.returns(declined(false));
  else if (number >= TRANSACTIONS - 2) fixture.provider.returns(ACCEPTED);
  else fixture.provider.returns({ ...PAID, providerReference: `PROV-${number}`, amountSantim });
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  if (number % 20 === 0) await expireDueSessions(fixture.runInTransaction, new Date(nowMs), 500);
}

async function seedWithdrawal(number: number): Promise<void> {
  const { id, amountSantim } = await withdraw(fixture, scope, BigInt(10_00 + (number % 50)));
  await autoDecide(fixture, id, fixture.clock());
  const outcome =
    [{ ...PAID_OUT, amountSantim, providerReference: `OUT-${number}` }, REFUSED, UNKNOWN_PAYOUT][number % 3] ??
    UNKNOWN_PAYOUT;
  fixture.provider.returnsForPayouts(outcome);
  await createCheck(fixture, WITHDRAWAL)(id, { minIntervalMs: 0, notifyWorkflow: false });
}

type Listed = { total: number; ids: string[] };

/** All ids of a list, from its first page to its last. */
async function walk(path: string, query: Record<string, string>, id: string): Promise<Listed> {
  const ids: string[] = [];
  for (let page = 1; ; page += 1) {
    const text = new URLSearchParams({ ...query, limit: '100', page: String(page) }).toString();
    const { body } = await reports.get(scope, `${path}?${text}`);
    ids.push(...body.data.map((row: Record<string, string>) => row[id]));
    if (page >= body.pagination.totalPages) return { total: body.pagination.total, ids };
  }
}

const dayNumber = fc.integer({ min: -1, max: DAYS + 1 });
const range = fc.tuple(dayNumber, dayNumber).map(([one, other]) => {
  const day = (n: number): string => addisDay(new Date(FIRST_DAY_MS + n * 24 * 60 * MINUTE_MS));
  return { startDate: day(Math.min(one, other)), endDate: day(Math.max(one, other)) };
});
const anyOf = <T extends string>(values: readonly T[]) =>
  fc.option(fc.subarray([...values], { minLength: 1 }), { nil: undefined });
const channels = fc.option(fc.constantFrom<Channel[]>(...CHANNELS), { nil: undefined });

test('a report of payments has the rows of the list under the same filters in its order, and totals that are the sums of its columns', async () => {
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(range, anyOf(TRANSACTION_STATUSES), channels, async (days, statuses, channel) => {
      const status = statuses?.join(',') ?? 'ALL';
      const list = await walk(
        '/api/checkout/txns/get_all_txns',
        { ...days, status, currency: 'ETB', ...(channel && { transactionThrough: TRANSACTION_THROUGH[channel] }) },
        'transactionId',
      );
      const requested = {
        kind: 'payments',
        period: 'custom',
        format: 'JSON',
        ...days,
        status,
        ...(channel && { channel }),
      };
      const { report, file } = await reports.download(scope, requested);
      const found: Record<string, number | string | null>[] = file.body.rows;
      expect(report).toMatchObject({ status: 'READY', rowsDone: list.total, rowsTotal: list.total });
      expect(found.map(({ transactionId }) => transactionId)).toEqual(list.ids);
      expect(file.body.totals).toEqual(report.totals);
      for (const [name, total] of Object.entries<number>(report.totals)) {
        const santim = found.reduce((sum, row) => sum + Math.round(Number(row[name] ?? 0) * 100), 0);
        expect([name, santim]).toEqual([name, Math.round(total * 100)]);
      }
      seen += list.total;
    }),
    { numRuns: 25 },
  );
  expect(seen).toBeGreaterThan(200);
});

test('a report of withdrawals has the rows of the list under the same filters in its order', async () => {
  await fc.assert(
    fc.asyncProperty(range, anyOf(WITHDRAWAL_STATUSES), channels, async (days, statuses, channel) => {
      const filter = { ...days, status: statuses?.join(',') ?? 'ALL', ...(channel && { channel }) };
      const list = await walk('/api/checkout/withdrawal', filter, 'withdrawalRequestId');
      const { report, file } = await reports.download(scope, {
        kind: 'withdrawals',
        period: 'custom',
        format: 'JSON',
        ...filter,
      });
      expect(report.rowsTotal).toBe(list.total);
      expect(file.body.rows.map((row: Record<string, string>) => row['withdrawalRequestId'])).toEqual(list.ids);
    }),
    { numRuns: 10 },
  );
});

const ALL_DAYS = { period: 'custom', startDate: '2026-02-01', endDate: '2026-03-31' };

test('a report of payments in every status has exactly the net amount and fees that the ledger posted', async () => {
  const { report, file } = await reports.download(scope, { kind: 'payments', format: 'JSON', ...ALL_DAYS });
  expect(report.rowsTotal).toBe(TRANSACTIONS);
  const states = new Set<string>(file.body.rows.map((row: { status: string }) => row.status));
  expect(states).toEqual(new Set(TRANSACTION_STATUSES));
  const [booked] = await rows<{ net: bigint; fees: bigint }>(
    database.db,
    `SELECT sum(e.amount_santim) FILTER (WHERE a.kind = 'AVAILABLE')::bigint AS net,
            sum(e.amount_santim) FILTER (WHERE a.kind IN ('FEE_REVENUE', 'TAX_PAYABLE'))::bigint AS fees
     FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
     WHERE j.merchant_id = :merchantId AND j.kind = 'PAYMENT'`,
    { merchantId: scope.merchantId },
  );
  const { netAmount, fee, feeTax, receivedAmount } = report.totals;
  expect(BigInt(Math.round(netAmount * 100))).toBe(booked?.net);
  expect(BigInt(Math.round((fee + feeTax) * 100))).toBe(booked?.fees);
  expect(Math.round((receivedAmount - fee - feeTax) * 100)).toBe(Math.round(netAmount * 100));
});

test('a report of the balance opens with the closing balance of the days before, and closes with its movements added', async () => {
  const closings: number[] = [];
  let total = 0;
  for (const [startDate, endDate] of [
    ['2026-02-01', '2026-03-02'],
    ['2026-03-03', '2026-03-03'],
    ['2026-03-04', '2026-03-31'],
  ]) {
    const { report, file } = await reports.download(scope, {
      kind: 'balance',
      period: 'custom',
      format: 'JSON',
      startDate,
      endDate,
    });
    const { openingBalance, amount, closingBalance } = report.totals;
    const movements: { amount: number; balanceAfter: number }[] = file.body.rows;
    const list = await walk(
      '/api/checkout/balance/history',
      { startDate: startDate ?? '', endDate: endDate ?? '' },
      'entryId',
    );
    expect(movements.map((row) => (row as unknown as { entryId: string }).entryId)).toEqual(list.ids);
    expect(openingBalance).toBe(closings.at(-1) ?? 0);
    const santim = movements.reduce((sum, row) => sum + Math.round(row.amount * 100), 0);
    expect(santim).toBe(Math.round(amount * 100));
    expect(Math.round(openingBalance * 100) + santim).toBe(Math.round(closingBalance * 100));
    expect(movements[0]?.balanceAfter).toBe(closingBalance);
    closings.push(closingBalance);
    total += movements.length;
  }
  expect(total).toBeGreaterThan(150);
  const { body } = await reports.get(scope, '/api/checkout/balance');
  expect(closings.at(-1)).toBe(body.data.available);
});

test('a payment just before midnight in Addis Ababa is in the report of that day, one at midnight in that of the next', async () => {
  const merchant = await buildMerchant(database.db);
  const ids: string[] = [];
  for (const at of ['2026-04-10T20:59:59.999Z', '2026-04-10T21:00:00.000Z']) {
    nowMs = Date.parse(at);
    ids.push((await buildSession(fixture, merchant)).transactionId);
  }
  const rowsOf = async (date: string) =>
    (await reports.download(merchant, { kind: 'payments', period: 'day', format: 'JSON', date })).file.body.rows.map(
      (row: Record<string, string>) => [
        row['transactionId'],
        row['transactionDate'],
        row['transactionDateEthiopian'],
        row['createdAtAddis'],
        row['createdAtUtc'],
      ],
    );
  expect(await rowsOf('2026-04-10')).toEqual([
    [ids[0], '2026-04-10', '2 Miazia 2018', '2026-04-10 23:59:59', '2026-04-10 20:59:59'],
  ]);
  expect(await rowsOf('2026-04-11')).toEqual([
    [ids[1], '2026-04-11', '3 Miazia 2018', '2026-04-11 00:00:00', '2026-04-10 21:00:00'],
  ]);
});

test('the sums of a summary equal the totals of reports of the same days', async () => {
  const query = new URLSearchParams(ALL_DAYS).toString();
  const { body, status } = await reports.get(scope, `${REPORTS}/summary?${query}`);
  expect(status).toBe(200);
  for (const kind of ['payments', 'withdrawals', 'settlements']) {
    const { report } = await reports.download(scope, { kind, ...ALL_DAYS });
    const { total, groups } = body.data[kind];
    const { amount, receivedAmount, paidAmount, fee, feeTax, netAmount, totalDebit, reserved } = report.totals;
    const { refundedAmount: refunded, feeReturned, feeTaxReturned, netAfterRefunds } = report.totals;
    expect(total).toEqual({
      count: report.rowsTotal,
      requested: amount,
      gross: receivedAmount ?? paidAmount,
      fee,
      feeTax,
      net: netAmount ?? totalDebit,
      ...(kind === 'payments' && { refunded, feeReturned, feeTaxReturned, netAfterRefunds }),
      reserved,
    });
    const santim = groups.reduce((sum: number, group: { net: number }) => sum + Math.round(group.net * 100), 0);
    expect(santim).toBe(Math.round(total.net * 100));
    expect(groups.length).toBeGreaterThan(0);
  }
});
