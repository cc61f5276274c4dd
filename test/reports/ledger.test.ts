import fc from 'fast-check';

import { readBalance } from '../../src/ledger/balance.ts';
import { addisDay, DAY_MS, endOfAddisDay, startOfAddisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { WITHDRAWAL_STATUSES } from '../../src/payouts/withdrawals/states.ts';
import { SETTLEMENT_STATUSES } from '../../src/settlements/states.ts';
import { buildMerchant, buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { REPORTS, startReports, type Reports } from '../support/reports.ts';
import { linkAccount } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import {
  playPayment,
  playSettlement,
  playWithdrawal,
  PAYMENT_SCENARIOS,
  SETTLEMENT_SCENARIOS,
  WITHDRAWAL_SCENARIOS,
  type SettlementScenario,
  type WithdrawalScenario,
} from './scenarios.ts';

const DAYS = 4;
const FUNDED = 70_000_00n;

let database: TestDatabase;
let fixture: Fixture;
let reports: Reports;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db);
  reports = await startReports(fixture);
});
afterAll(async () => {
  await expectLedgerHolds(database.db);
  await reports.close();
  await database.drop();
});

const day = fc.nat(DAYS - 1);
const channel = fc.constantFrom('TELEBIRR' as const, 'CBE_BIRR' as const);
const amountSantim = fc.bigInt(10_00n, 600_00n);
const scenarioOf = <Name extends string>(scenarios: Readonly<Record<Name, unknown>>) =>
  fc.constantFrom(...(Object.keys(scenarios) as Name[]));
const withdrawal = fc.record({ scenario: scenarioOf(WITHDRAWAL_SCENARIOS), amountSantim, channel, day });
const settlement = fc.record({ scenario: scenarioOf(SETTLEMENT_SCENARIOS), amountSantim, day });
const subset = <Value extends string>(values: readonly Value[]) =>
  fc.option(fc.subarray([...values], { minLength: 1 }), { nil: undefined });

/** The filters of reports. */
const filters = fc.record({
  days: fc.tuple(day, day).map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const),
  withdrawals: fc.record({ statuses: subset(WITHDRAWAL_STATUSES), channel: fc.option(channel, { nil: undefined }) }),
  settlements: fc.record({ statuses: subset(SETTLEMENT_STATUSES) }),
});
const story = fc.record({
  withdrawals: fc.array(withdrawal, { maxLength: 8 }),
  settlements: fc.array(settlement, { maxLength: 6 }),
  filters,
});

type OnDay<Scenario> = Scenario & { day: number };

/** Creates a merchant with enough balance and a settlement fee, and plays scenarios day by day. */
async function play(withdrawals: OnDay<WithdrawalScenario>[], settlements: OnDay<SettlementScenario>[]) {
  const scope = await buildFreeMerchant(fixture);
  await rows(
    database.db,
    `INSERT INTO fee_rule (id, merchant_id, direction, basis_points, fixed_santim, tax_basis_points, valid_from, version)
     VALUES ('fee_' || CAST(:merchantId AS text), :merchantId, 'SETTLEMENT', 33, 250, 1500, '2020-01-01T00:00:00Z', 1)`,
    { merchantId: scope.merchantId },
  );
  await fund(fixture, scope, FUNDED);
  await linkAccount({ ...fixture, clock: () => new Date(fixture.clock().getTime() - 30 * DAY_MS) }, scope);
  const days: string[] = [];
  for (let number = 0; number < DAYS; number += 1) {
    days.push(addisDay(fixture.clock()));
    for (const one of withdrawals) if (one.day === number) await playWithdrawal(fixture, scope, one);
    for (const one of settlements) if (one.day === number) await playSettlement(fixture, scope, one);
    fixture.pass(DAY_MS);
  }
  return { scope, days };
}

type Requested = { days: readonly [string, string]; statuses?: string[] | undefined; channel?: string | undefined };

/** The ledger's postings of the withdrawals or settlements that were requested on these days. */
async function bookedOf(
  scope: MerchantScope,
  table: 'withdrawal' | 'settlement',
  { days, statuses, channel }: Requested,
) {
  const found = await rows<{ kind: string; santim: bigint }>(
    database.db,
    `SELECT a.kind, CAST(sum(e.amount_santim) AS bigint) AS santim
     FROM ${table === 'withdrawal' ? 'payout' : table} o
     JOIN ledger_journal j ON j.resource_type = '${table}' AND j.resource_id = o.id
     JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
     WHERE o.merchant_id = :merchantId AND j.merchant_id = :merchantId AND o.requested_at >= :from AND o.requested_at < :until
       AND (CAST(:statuses AS text[]) IS NULL OR o.status = ANY (:statuses))
       ${channel === undefined ? '' : 'AND o.channel = :channel'}
     GROUP BY a.kind`,
    {
      merchantId: scope.merchantId,
      from: startOfAddisDay(days[0]),
      until: endOfAddisDay(days[1]),
      statuses: statuses ?? null,
      channel: channel ?? null,
    },
  );
  const of = (kind: string): bigint => found.find((one) => one.kind === kind)?.santim ?? 0n;
  return {
    // All other postings leave channels and the bank untouched.
    gross: of('CHANNEL_CLEARING') + of('BANK'),
    fee: of('FEE_REVENUE'),
    feeTax: of('TAX_PAYABLE'),
    // Reserved money has left AVAILABLE as well.
    net: -of('AVAILABLE') - of('RESERVED'),
    reserved: of('RESERVED'),
  };
}

type Sums = Awaited<ReturnType<typeof bookedOf>>;
const santim = (birr: number): bigint => BigInt(Math.round(birr * 100));

function inSantim(sums: Record<keyof Sums, number>): Sums {
  const { gross, fee, feeTax, net, reserved } = sums;
  const inBirr = { gross, fee, feeTax, net, reserved };
  return Object.fromEntries(Object.entries(inBirr).map(([name, birr]) => [name, santim(birr)])) as Sums;
}

/** A report's totals, compared with the totals of its file and the sums of its columns. */
async function reported(
  scope: MerchantScope,
  kind: 'withdrawals' | 'settlements',
  { days, statuses, channel }: Requested,
) {
  const { report, file } = await reports.download(scope, {
    kind,
    period: 'custom',
    format: 'JSON',
    startDate: days[0],
    endDate: days[1],
    ...(statuses && { status: statuses.join(',') }),
    ...(channel && { channel }),
  });
  expect(file.body.totals).toEqual(report.totals);
  for (const [name, total] of Object.entries<number>(report.totals)) {
    const cells: Record<string, number | null>[] = file.body.rows;
    const sum = cells.reduce((all, row) => all + santim(row[name] ?? 0), 0n);
    expect([name, sum]).toEqual([name, santim(total)]);
  }
  const { paidAmount, fee, feeTax, totalDebit, reserved } = report.totals;
  return inSantim({ gross: paidAmount, fee, feeTax, net: totalDebit, reserved });
}

const KINDS = { withdrawals: 'withdrawal', settlements: 'settlement' } as const;

test("a report's totals of withdrawals or settlements in any status equal the ledger's postings under the same filters", async () => {
  await fc.assert(
    fc.asyncProperty(story, async (example) => {
      const { scope, days } = await play(example.withdrawals, example.settlements);
      const [from, until] = example.filters.days.map((number) => days[number] ?? '');
      for (const kind of ['withdrawals', 'settlements'] as const) {
        const requested: Requested = { days: [from ?? '', until ?? ''], ...example.filters[kind] };
        expect(await reported(scope, kind, requested)).toEqual(await bookedOf(scope, KINDS[kind], requested));
      }
    }),
    { numRuns: 20 },
  );
}, 120_000);

/** One of every scenario, so that none depends on chance. */
const ALL_WITHDRAWALS = Object.keys(WITHDRAWAL_SCENARIOS).map((name, index) => ({
  scenario: name as keyof typeof WITHDRAWAL_SCENARIOS,
  amountSantim: BigInt(100_00 + index * 37_41),
  channel: index % 3 === 0 ? ('CBE_BIRR' as const) : ('TELEBIRR' as const),
  day: index % DAYS,
}));
const ALL_SETTLEMENTS = Object.keys(SETTLEMENT_SCENARIOS).map((name, index) => ({
  scenario: name as keyof typeof SETTLEMENT_SCENARIOS,
  amountSantim: BigInt(150_00 + index * 53_89),
  day: index % DAYS,
}));

test("each group of a summary equals the ledger's postings of that status, and all groups together equal the balance", async () => {
  const { scope, days } = await play(ALL_WITHDRAWALS, ALL_SETTLEMENTS);
  const all = [days[0] ?? '', addisDay(fixture.clock())] as const;
  const query = new URLSearchParams({ period: 'custom', startDate: all[0], endDate: all[1] }).toString();
  const { body } = await reports.get(scope, `${REPORTS}/summary?${query}`);
  const statuses = { withdrawals: WITHDRAWAL_STATUSES, settlements: SETTLEMENT_STATUSES };
  for (const kind of ['withdrawals', 'settlements'] as const) {
    const { total, groups } = body.data[kind];
    expect(new Set(groups.map((group: { status: string }) => group.status))).toEqual(new Set(statuses[kind]));
    for (const group of groups) {
      const requested = { days: all, statuses: [group.status], channel: group.channel ?? undefined };
      expect([group, inSantim(group)]).toEqual([group, await bookedOf(scope, KINDS[kind], requested)]);
    }
    expect(inSantim(total)).toEqual(await bookedOf(scope, KINDS[kind], { days: all }));
  }
  const { withdrawals, settlements, payments } = body.data;
  const [out, bank] = [inSantim(withdrawals.total), inSantim(settlements.total)];
  expect(await readBalance(database.db, scope)).toEqual({
    availableSantim: santim(payments.total.net) - out.net - out.reserved - bank.net - bank.reserved,
    reservedSantim: out.reserved + bank.reserved,
    feesSantim: out.fee + out.feeTax + bank.fee + bank.feeTax,
    settledSantim: bank.gross,
  });
  expect(santim(payments.total.net)).toBe(FUNDED);
});

test('the amounts of payments that were paid once, twice or in part equal what the ledger credited, in the report and the summary', async () => {
  const scope = await buildMerchant(database.db);
  const date = addisDay(fixture.clock());
  for (const scenario of Object.keys(PAYMENT_SCENARIOS))
    await playPayment(fixture, scope, scenario as keyof typeof PAYMENT_SCENARIOS);
  const [booked] = await rows<{ net: bigint; fee: bigint; feeTax: bigint }>(
    database.db,
    `SELECT CAST(sum(e.amount_santim) FILTER (WHERE a.kind = 'AVAILABLE') AS bigint) AS net,
            CAST(sum(e.amount_santim) FILTER (WHERE a.kind = 'FEE_REVENUE') AS bigint) AS fee,
            CAST(sum(e.amount_santim) FILTER (WHERE a.kind = 'TAX_PAYABLE') AS bigint) AS fee_tax
     FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
     WHERE j.merchant_id = :merchantId`,
    { merchantId: scope.merchantId },
  );
  const { net = 0n, fee = 0n, feeTax = 0n } = booked ?? {};
  // One was paid, three were paid twice of which one was accepted, and one was paid with 80.01.
  expect(net + fee + feeTax).toBe(5n * 100_50n + 80_01n);
  const { report, file } = await reports.download(scope, { kind: 'payments', period: 'day', date, format: 'JSON' });
  const cells: Record<string, number | null>[] = file.body.rows;
  const expected = { receivedAmount: net + fee + feeTax, fee, feeTax, netAmount: net };
  for (const [name, total] of Object.entries(expected)) {
    const sum = cells.reduce((all, row) => all + santim(row[name] ?? 0), 0n);
    expect([name, sum, santim(report.totals[name])]).toEqual([name, total, total]);
  }
  const { body } = await reports.get(scope, `${REPORTS}/summary?period=day&date=${date}`);
  const { total } = body.data.payments;
  expect(santim(total.gross)).toBe(net + fee + feeTax);
  expect([santim(total.fee), santim(total.feeTax), santim(total.net)]).toEqual([fee, feeTax, net]);
});

test('a failed withdrawal has its requested amount and no charge, in the summary and the report', async () => {
  const { scope, days } = await play(
    [{ scenario: 'rejected by the provider', amountSantim: 100_00n, channel: 'TELEBIRR', day: 0 }],
    [],
  );
  const { body } = await reports.get(scope, `${REPORTS}/summary?period=day&date=${days[0]}`);
  const nothing = { gross: 0, fee: 0, feeTax: 0, net: 0, reserved: 0 };
  expect(body.data.withdrawals.groups).toEqual([
    { status: 'FAILED', channel: 'TELEBIRR', count: 1, requested: 100, ...nothing },
  ]);
  const { report, file } = await reports.download(scope, {
    kind: 'withdrawals',
    period: 'day',
    date: days[0],
    format: 'JSON',
  });
  const paid = { paidAmount: null, fee: null, feeTax: null, totalDebit: null, reserved: null };
  expect(file.body.rows).toMatchObject([{ status: 'FAILED', amount: 100, ...paid }]);
  expect(report.totals).toEqual({ amount: 100, paidAmount: 0, fee: 0, feeTax: 0, totalDebit: 0, reserved: 0 });
});
