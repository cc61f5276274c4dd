import fc from 'fast-check';

import { readBalance } from '../../src/ledger/balance.ts';
import { addisDay, DAY_MS, endOfAddisDay, startOfAddisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { SETTLEMENT_STATUSES } from '../../src/settlements/states.ts';
import { WITHDRAWAL_STATUSES } from '../../src/withdrawals/states.ts';
import { buildMerchant, buildWorld, type World } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { REPORTS, startReports, type Reports } from '../support/reports.ts';
import { linkAccount } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import {
  livePayment,
  liveSettlement,
  liveWithdrawal,
  PAYMENT_LIVES,
  SETTLEMENT_LIVES,
  WITHDRAWAL_LIVES,
  type SettlementLife,
  type WithdrawalLife,
} from './lives.ts';

const DAYS = 4;
const FUNDED = 70_000_00n;

let database: TestDatabase;
let world: World;
let reports: Reports;

beforeAll(async () => {
  database = await createTestDatabase();
  world = buildWorld(database.db);
  reports = await startReports(world);
});
afterAll(async () => {
  await expectLedgerHolds(database.db);
  await reports.close();
  await database.drop();
});

const day = fc.nat(DAYS - 1);
const channel = fc.constantFrom('TELEBIRR' as const, 'CBE_BIRR' as const);
const amountSantim = fc.bigInt(10_00n, 600_00n);
const kindOfLife = <Name extends string>(lives: Readonly<Record<Name, unknown>>) =>
  fc.constantFrom(...(Object.keys(lives) as Name[]));
const withdrawal = fc.record({ life: kindOfLife(WITHDRAWAL_LIVES), amountSantim, channel, day });
const settlement = fc.record({ life: kindOfLife(SETTLEMENT_LIVES), amountSantim, day });
const subset = <Value extends string>(values: readonly Value[]) =>
  fc.option(fc.subarray([...values], { minLength: 1 }), { nil: undefined });

/** What is asked for of the days: the reports' filters. */
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

type OnDay<Life> = Life & { day: number };

/** A merchant with enough money, whose settlements cost something too, and what became of its money out. */
async function play(withdrawals: OnDay<WithdrawalLife>[], settlements: OnDay<SettlementLife>[]) {
  const scope = await buildFreeMerchant(world);
  await rows(
    database.db,
    `INSERT INTO fee_rule (id, merchant_id, direction, basis_points, fixed_santim, tax_basis_points, valid_from, version)
     VALUES ('fee_' || CAST(:merchantId AS text), :merchantId, 'SETTLEMENT', 33, 250, 1500, '2020-01-01T00:00:00Z', 1)`,
    { merchantId: scope.merchantId },
  );
  await fund(world, scope, FUNDED);
  await linkAccount({ ...world, clock: () => new Date(world.clock().getTime() - 30 * DAY_MS) }, scope);
  const days: string[] = [];
  for (let number = 0; number < DAYS; number += 1) {
    days.push(addisDay(world.clock()));
    for (const one of withdrawals) if (one.day === number) await liveWithdrawal(world, scope, one);
    for (const one of settlements) if (one.day === number) await liveSettlement(world, scope, one);
    world.pass(DAY_MS);
  }
  return { scope, days };
}

type Asked = { days: readonly [string, string]; statuses?: string[] | undefined; channel?: string | undefined };

/** What the ledger's own entries say of the withdrawals or settlements that were asked for on these days. */
async function bookedOf(scope: MerchantScope, table: 'withdrawal' | 'settlement', { days, statuses, channel }: Asked) {
  const found = await rows<{ kind: string; santim: bigint }>(
    database.db,
    `SELECT a.kind, CAST(sum(e.amount_santim) AS bigint) AS santim
     FROM ${table} o
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
    // Nothing else leaves over a channel or the bank.
    gross: of('CHANNEL_CLEARING') + of('BANK'),
    fee: of('FEE_REVENUE'),
    feeTax: of('TAX_PAYABLE'),
    // What is set aside has left what is available, too.
    net: -of('AVAILABLE') - of('RESERVED'),
    reserved: of('RESERVED'),
  };
}

type Sums = Awaited<ReturnType<typeof bookedOf>>;
const santim = (birr: number): bigint => BigInt(Math.round(birr * 100));

function inSantim(shown: Record<keyof Sums, number>): Sums {
  const { gross, fee, feeTax, net, reserved } = shown;
  const inBirr = { gross, fee, feeTax, net, reserved };
  return Object.fromEntries(Object.entries(inBirr).map(([name, birr]) => [name, santim(birr)])) as Sums;
}

/** A report's totals, checked against what its file says and what its columns add up to. */
async function reported(scope: MerchantScope, kind: 'withdrawals' | 'settlements', { days, statuses, channel }: Asked) {
  const { report, file } = await reports.fetched(scope, {
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

test("whatever became of withdrawals and settlements, a report's totals are the ledger's under the same filters", async () => {
  await fc.assert(
    fc.asyncProperty(story, async (enqueued) => {
      const { scope, days } = await play(enqueued.withdrawals, enqueued.settlements);
      const [from, until] = enqueued.filters.days.map((number) => days[number] ?? '');
      for (const kind of ['withdrawals', 'settlements'] as const) {
        const asked: Asked = { days: [from ?? '', until ?? ''], ...enqueued.filters[kind] };
        expect(await reported(scope, kind, asked)).toEqual(await bookedOf(scope, KINDS[kind], asked));
      }
    }),
    { numRuns: 20 },
  );
}, 120_000);

/** One of every kind, so that none is left to chance. */
const ALL_WITHDRAWALS = Object.keys(WITHDRAWAL_LIVES).map((name, index) => ({
  life: name as keyof typeof WITHDRAWAL_LIVES,
  amountSantim: BigInt(100_00 + index * 37_41),
  channel: index % 3 === 0 ? ('CBE_BIRR' as const) : ('TELEBIRR' as const),
  day: index % DAYS,
}));
const ALL_SETTLEMENTS = Object.keys(SETTLEMENT_LIVES).map((name, index) => ({
  life: name as keyof typeof SETTLEMENT_LIVES,
  amountSantim: BigInt(150_00 + index * 53_89),
  day: index % DAYS,
}));

test('with one of every kind, each group of a summary is what the ledger booked of that status, and all of it is the balance', async () => {
  const { scope, days } = await play(ALL_WITHDRAWALS, ALL_SETTLEMENTS);
  const all = [days[0] ?? '', addisDay(world.clock())] as const;
  const query = new URLSearchParams({ period: 'custom', startDate: all[0], endDate: all[1] }).toString();
  const { body } = await reports.get(scope, `${REPORTS}/summary?${query}`);
  const statuses = { withdrawals: WITHDRAWAL_STATUSES, settlements: SETTLEMENT_STATUSES };
  for (const kind of ['withdrawals', 'settlements'] as const) {
    const { total, groups } = body.data[kind];
    expect(new Set(groups.map((group: { status: string }) => group.status))).toEqual(new Set(statuses[kind]));
    for (const group of groups) {
      const asked = { days: all, statuses: [group.status], channel: group.channel ?? undefined };
      expect([group, inSantim(group)]).toEqual([group, await bookedOf(scope, KINDS[kind], asked)]);
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

test('whatever came for payments, once or twice, reports and the summary say what the ledger gave the merchant', async () => {
  const scope = await buildMerchant(database.db);
  const date = addisDay(world.clock());
  for (const life of Object.keys(PAYMENT_LIVES)) await livePayment(world, scope, life as keyof typeof PAYMENT_LIVES);
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
  // One was paid, three twice of which one was accepted, and of one 80.01 were.
  expect(net + fee + feeTax).toBe(5n * 100_50n + 80_01n);
  const { report, file } = await reports.fetched(scope, { kind: 'payments', period: 'day', date, format: 'JSON' });
  const cells: Record<string, number | null>[] = file.body.rows;
  const wanted = { receivedAmount: net + fee + feeTax, fee, feeTax, netAmount: net };
  for (const [name, total] of Object.entries(wanted)) {
    const sum = cells.reduce((all, row) => all + santim(row[name] ?? 0), 0n);
    expect([name, sum, santim(report.totals[name])]).toEqual([name, total, total]);
  }
  const { body } = await reports.get(scope, `${REPORTS}/summary?period=day&date=${date}`);
  const { total } = body.data.payments;
  expect(santim(total.gross)).toBe(net + fee + feeTax);
  expect([santim(total.fee), santim(total.feeTax), santim(total.net)]).toEqual([fee, feeTax, net]);
});

test('a withdrawal that failed was asked for, and nothing was charged for it', async () => {
  const { scope, days } = await play([{ life: 'refused', amountSantim: 100_00n, channel: 'TELEBIRR', day: 0 }], []);
  const { body } = await reports.get(scope, `${REPORTS}/summary?period=day&date=${days[0]}`);
  const nothing = { gross: 0, fee: 0, feeTax: 0, net: 0, reserved: 0 };
  expect(body.data.withdrawals.groups).toEqual([
    { status: 'FAILED', channel: 'TELEBIRR', count: 1, requested: 100, ...nothing },
  ]);
  const { report, file } = await reports.fetched(scope, {
    kind: 'withdrawals',
    period: 'day',
    date: days[0],
    format: 'JSON',
  });
  const paid = { paidAmount: null, fee: null, feeTax: null, totalDebit: null, reserved: null };
  expect(file.body.rows).toMatchObject([{ status: 'FAILED', amount: 100, ...paid }]);
  expect(report.totals).toEqual({ amount: 100, paidAmount: 0, fee: 0, feeTax: 0, totalDebit: 0, reserved: 0 });
});
