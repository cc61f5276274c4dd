import fc from 'fast-check';

import { readBalance } from '../../src/ledger/balance.ts';
import { addisDay, DAY_MS, endOfAddisDay, startOfAddisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { createRefund } from '../../src/payouts/refunds/create.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import { resolvePayout } from '../../src/payouts/resolve.ts';
import type { RefundOutcome } from '../../src/providers/provider.ts';
import { DECLINED, returned, TAKEN } from '../payouts/refunds/fixture.ts';
import { buildAttempt, buildFixture, buildMerchant, buildSession, PAID, type Fixture } from '../support/build.ts';
import { createTestDatabase, returnFeesOnRefund, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { REPORTS, startReports, type Reports } from '../support/reports.ts';

const DAYS = 3;
let database: TestDatabase;
let fixture: Fixture;
let reports: Reports;

beforeAll(async () => {
  database = await createTestDatabase();
  await returnFeesOnRefund(database);
  fixture = buildFixture(database.db);
  reports = await startReports(fixture);
});
afterAll(async () => {
  await expectLedgerHolds(database.db);
  await reports.close();
  await database.drop();
});

/** The replies about a refund of this amount, and the paid amount that operators then find, if they must. */
const SCENARIOS = {
  'not sent': () => ({ replies: [] }),
  taken: () => ({ replies: [TAKEN] }),
  paid: (santim: bigint) => ({ replies: [returned(santim)] }),
  declined: () => ({ replies: [DECLINED] }),
  'paid less': (santim: bigint) => ({ replies: [returned(santim - 3_33n)], paidSantim: santim - 3_33n }),
  'paid more': (santim: bigint) => ({ replies: [returned(santim + 3_33n)], paidSantim: santim + 3_33n }),
  'paid after it had failed': (santim: bigint) => ({ replies: [DECLINED, returned(santim)], paidSantim: santim }),
} satisfies Record<string, (santim: bigint) => { replies: RefundOutcome[]; paidSantim?: bigint }>;

type Refund = { scenario: keyof typeof SCENARIOS; percent: bigint; returnFee: boolean; daysLater: number };
type Payment = { amountSantim: bigint; day: number; refunds: Refund[] };

const refund: fc.Arbitrary<Refund> = fc.record({
  scenario: fc.constantFrom(...(Object.keys(SCENARIOS) as Refund['scenario'][])),
  percent: fc.bigInt(10n, 45n),
  returnFee: fc.boolean(),
  daysLater: fc.nat(1),
});
const day = fc.nat(DAYS - 1);
const payment: fc.Arbitrary<Payment> = fc.record({
  amountSantim: fc.bigInt(100_00n, 900_00n),
  day,
  refunds: fc.array(refund, { maxLength: 2 }),
});
const story = fc.record({
  payments: fc.array(payment, { minLength: 1, maxLength: 5 }),
  days: fc.tuple(day, day).map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const),
});

let made = 0;

async function pay(scope: MerchantScope, amountSantim: bigint): Promise<string> {
  const { sessionId, transactionId } = await buildSession(fixture, scope, { amountSantim });
  fixture.provider.returns({ ...PAID, amountSantim });
  made += 1;
  const attemptId = await buildAttempt(fixture, { ...scope, sessionId });
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  return transactionId;
}

type DueRefund = { transactionId: string; paid: bigint; wanted: Refund; day: number };

async function playRefund(scope: MerchantScope, { transactionId, paid, wanted }: DueRefund): Promise<void> {
  made += 1;
  const amountSantim = (paid * wanted.percent) / 100n;
  const { returnFee, scenario } = wanted;
  const request = { transactionId, reference: `R-${made}`, amountSantim, returnFee, requestedBy: 'key_test' };
  const { row } = await fixture.runInTransaction((tx) => createRefund({ ...fixture, tx }, scope, request));
  const { replies, paidSantim } = { paidSantim: undefined, ...SCENARIOS[scenario](amountSantim) };
  for (const reply of replies) {
    fixture.provider.returnsForRefunds(reply);
    await createCheck(fixture, REFUND)(row.id, { minIntervalMs: 0, proof: true, notifyWorkflow: false });
  }
  if (paidSantim === undefined) return;
  const found = { outcome: 'COMPLETED', providerReference: `BACK-${row.id}`, reason: 'Their receipt.' } as const;
  const by = { operatorId: 'opr_1', at: fixture.clock(), paidSantim };
  await fixture.runInTransaction((tx) => resolvePayout(tx, REFUND, { id: row.id, ...found, ...by }));
}

/** Plays payments and refunds day by day. */
async function play(payments: readonly Payment[]) {
  const scope = await buildMerchant(database.db);
  const days: string[] = [];
  const due: DueRefund[] = [];
  for (let number = 0; number <= DAYS; number += 1) {
    days.push(addisDay(fixture.clock()));
    for (const one of payments.filter((each) => each.day === number)) {
      const transactionId = await pay(scope, one.amountSantim);
      for (const wanted of one.refunds)
        due.push({ transactionId, paid: one.amountSantim, wanted, day: number + wanted.daysLater });
    }
    for (const one of due.filter((each) => each.day === number)) await playRefund(scope, one);
    fixture.pass(DAY_MS);
  }
  return { scope, days };
}

/** What the ledger has posted of payments of these days, and of their refunds on any day. */
async function bookedOf({ merchantId }: MerchantScope, [from, until]: readonly [string, string]) {
  const found = await rows<{ kind: string; santim: bigint }>(
    database.db,
    `SELECT a.kind, CAST(sum(e.amount_santim) AS bigint) AS santim
     FROM transaction t
     JOIN ledger_journal j ON j.resource_id = t.id OR j.resource_id IN (SELECT f.id FROM payout f WHERE f.transaction_id = t.id)
     JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
     WHERE t.merchant_id = :merchantId AND t.created_at >= :from AND t.created_at < :until GROUP BY a.kind`,
    { merchantId, from: startOfAddisDay(from), until: endOfAddisDay(until) },
  );
  const of = (kind: string): bigint => found.find((one) => one.kind === kind)?.santim ?? 0n;
  return {
    kept: -of('CHANNEL_CLEARING'),
    fee: of('FEE_REVENUE'),
    feeTax: of('TAX_PAYABLE'),
    netAfterRefunds: of('AVAILABLE') + of('RESERVED'),
    reserved: of('RESERVED'),
    // Overpaid refunds.
    excess: -of('SUSPENSE'),
  };
}

const santim = (birr: number): bigint => BigInt(Math.round(birr * 100));

/** A report's totals, compared with the sums of its columns and with the summary of the same days. */
async function reported(scope: MerchantScope, [startDate, endDate]: readonly [string, string]) {
  const period = { period: 'custom', startDate, endDate };
  const { report, file } = await reports.download(scope, { kind: 'payments', format: 'JSON', ...period });
  const totals = Object.entries<number>(report.totals).map(([name, birr]) => [name, santim(birr)] as const);
  for (const [name, total] of totals) {
    const cells: Record<string, number | null>[] = file.body.rows;
    expect([name, cells.reduce((sum, row) => sum + santim(row[name] ?? 0), 0n)]).toEqual([name, total]);
  }
  const of = Object.fromEntries(totals) as Record<string, bigint>;
  const summary = (await reports.get(scope, `${REPORTS}/summary?${new URLSearchParams(period)}`)).body.data.payments;
  const { requested, gross, net, refunded, ...same } = summary.total;
  const names = { amount: requested, receivedAmount: gross, netAmount: net, refundedAmount: refunded };
  for (const [name, birr] of Object.entries<number>({ ...same, ...names }))
    if (name !== 'count') expect([name, santim(birr)]).toEqual([name, of[name]]);
  const series = await reports.get(scope, `${REPORTS}/series?startDate=${startDate}&endDate=${endDate}`);
  expect(series.body.data.total).toEqual(summary.total);
  return of as Record<
    'receivedAmount' | 'fee' | 'feeTax' | 'netAmount' | 'netAfterRefunds' | 'reserved' | 'refundedAmount',
    bigint
  > &
    Record<'feeReturned' | 'feeTaxReturned', bigint>;
}

async function expectTied(scope: MerchantScope, days: readonly [string, string]) {
  const totals = await reported(scope, days);
  const booked = await bookedOf(scope, days);
  expect({
    kept: totals.receivedAmount - totals.refundedAmount,
    fee: totals.fee - totals.feeReturned,
    feeTax: totals.feeTax - totals.feeTaxReturned,
    netAfterRefunds: totals.netAfterRefunds,
    reserved: totals.reserved,
    excess:
      totals.netAfterRefunds - (totals.netAmount - totals.refundedAmount + totals.feeReturned + totals.feeTaxReturned),
  }).toEqual(booked);
  return totals;
}

test('rows, totals and sums of payments with refunds in any state equal what the ledger has posted of both', async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ payments, days: [first, last] }) => {
      const { scope, days } = await play(payments);
      await expectTied(scope, [days[first] ?? '', days[last] ?? '']);
    }),
    { numRuns: 15 },
  );
}, 120_000);

test('payments less their refunds, paid and pending, are the balance', async () => {
  const refunds = Object.keys(SCENARIOS).map((scenario, index) => ({
    scenario: scenario as Refund['scenario'],
    percent: 20n,
    returnFee: index % 2 === 0,
    daysLater: index % 2,
  }));
  const payments = refunds.map((one, index) => ({ amountSantim: 333_33n, day: index % DAYS, refunds: [one] }));
  const { scope, days } = await play(payments);
  const totals = await expectTied(scope, [days[0] ?? '', addisDay(fixture.clock())]);
  const { feesSantim, ...balance } = await readBalance(database.db, scope);
  expect(balance).toMatchObject({
    availableSantim: totals.netAfterRefunds - totals.reserved,
    reservedSantim: totals.reserved,
  });
  expect(feesSantim).toBe(totals.fee + totals.feeTax - totals.feeReturned - totals.feeTaxReturned);
  expect(totals.refundedAmount).toBeGreaterThan(0n);
  const all = { period: 'custom', startDate: days[0] ?? '', endDate: addisDay(fixture.clock()) } as const;
  const { report, file } = await reports.download(scope, { kind: 'refunds', format: 'JSON', ...all });
  const of = Object.entries<number>(report.totals).map(([name, birr]) => [name, santim(birr)] as const);
  expect(Object.fromEntries(of)).toMatchObject({
    paidAmount: totals.refundedAmount,
    feeReturned: totals.feeReturned,
    feeTaxReturned: totals.feeTaxReturned,
    totalDebit: totals.netAmount - totals.netAfterRefunds,
    reserved: totals.reserved,
  });
  for (const [name, total] of of) {
    const cells: Record<string, number | null>[] = file.body.rows;
    expect([name, cells.reduce((sum, row) => sum + santim(row[name] ?? 0), 0n)]).toEqual([name, total]);
  }
  const summary = await reports.get(scope, `${REPORTS}/summary?${new URLSearchParams(all)}`);
  const { amount: requested, paidAmount: gross, totalDebit: net, ...same } = report.totals;
  expect(summary.body.data.refunds.total).toMatchObject({
    ...same,
    requested,
    gross,
    net,
    count: file.body.rows.length,
  });
});

test('the row of a refund has each field in its own column, and a status selects some', async () => {
  const scope = await buildMerchant(database.db);
  const transactionId = await pay(scope, 200_00n);
  const wanted = { percent: 20n, returnFee: true, daysLater: 0 };
  for (const scenario of ['paid less', 'declined'] as const)
    await playRefund(scope, { transactionId, paid: 200_00n, day: 0, wanted: { ...wanted, scenario } });
  const date = addisDay(fixture.clock());
  const request = { kind: 'refunds', period: 'day', date, format: 'JSON' } as const;
  const { file } = await reports.download(scope, { ...request, status: 'SUCCESS' });
  const [time] = fixture.clock().toISOString().replace('T', ' ').split('.');
  expect(file.body.rows).toEqual([
    {
      refundId: expect.stringMatching(/^rfd_/),
      reference: expect.stringMatching(/^R-/),
      transactionId,
      amount: 40,
      paidAmount: 36.67,
      feeReturned: 0.91,
      feeTaxReturned: 0.13,
      totalDebit: 35.63,
      reserved: null,
      currency: 'ETB',
      channel: 'TELEBIRR',
      status: 'SUCCESS',
      requestDate: date,
      requestDateEthiopian: expect.any(String),
      requestedAtAddis: expect.stringContaining(date),
      requestedAtUtc: time,
      reason: null,
      providerReference: `BACK-${file.body.rows[0].refundId}`,
      completedAtAddis: expect.stringContaining(date),
      completedAtUtc: time,
      failureCode: null,
    },
  ]);
  const failed = (await reports.download(scope, { ...request, status: 'FAILED' })).file.body.rows;
  expect(failed).toMatchObject([{ amount: 40, totalDebit: null, feeReturned: null, failureCode: 'DECLINED' }]);
});

test('a payment without refunds has none in its row, and its net is left', async () => {
  const scope = await buildMerchant(database.db);
  await pay(scope, 100_00n);
  const date = addisDay(fixture.clock());
  const { file } = await reports.download(scope, { kind: 'payments', period: 'day', date, format: 'JSON' });
  const none = { refundedAmount: null, feeReturned: null, feeTaxReturned: null, reserved: null };
  expect(file.body.rows).toMatchObject([{ ...none, netAmount: 97.12, netAfterRefunds: 97.12 }]);
});
