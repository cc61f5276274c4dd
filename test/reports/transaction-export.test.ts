import { parse } from 'csv-parse/sync';
import fc from 'fast-check';

import { addDays } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { TRANSACTION_THROUGH } from '../../src/merchants/channels/channel.ts';
import { TRANSACTION_STATUSES } from '../../src/payments/states.ts';
import { transactionRoutes } from '../../src/payments/transaction-routes.ts';
import { transactionReportRoutes } from '../../src/reports/transaction-routes.ts';
import {
  buildAttempt,
  buildFixture,
  buildMerchant,
  buildSession,
  declined,
  PAID,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertUnpaid, startReports, type Reports } from '../support/reports.ts';

const TRANSACTIONS = 120;
const STEP_MS = 4 * 3_600_000;
const LIST = '/api/checkout/txns/get_all_txns';
const ALL = { startDate: '2026-03-01', endDate: '2026-03-31', status: 'ALL', currency: 'ETB' };

let database: TestDatabase;
let fixture: Fixture;
let reports: Reports;
let scope: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db);
  reports = await startReports(fixture, [...transactionRoutes(fixture), ...transactionReportRoutes(fixture)]);
  scope = await buildMerchant(database.db);
  for (let number = 0; number < TRANSACTIONS; number += 1) {
    // Pairs of one instant, and few amounts, so that the order of equal ones counts.
    if (number % 2 === 0) fixture.pass(STEP_MS);
    await seedPayment(number);
  }
  await buildSession(fixture, await buildMerchant(database.db));
}, 120_000);
afterAll(async () => {
  await reports.close();
  await database.drop();
});

/** Every fourth is not paid, every fifth fails; some are held, some paid after a decline. */
async function seedPayment(number: number): Promise<void> {
  const amountSantim = BigInt(10_000 + (number % 9) * 5_025);
  const { sessionId } = await buildSession(fixture, scope, {
    amountSantim,
    checkoutOrderNo: `=CMD-${number}`.slice(number % 2),
    type: number % 3 === 0 ? 'QRCODE' : 'API',
    ...(number % 4 === 1 && { customerName: 'Abebe Bikila', customerPhone: '251911223344' }),
  });
  if (number % 4 === 0) return void (number % 8 === 0 && (await fixture.closeUnpaid(sessionId, 'CANCELLED')));
  const channel = (['TELEBIRR', 'CBE_BIRR', 'AWASH'] as const)[number % 3] ?? 'TELEBIRR';
  const attemptId = await buildAttempt(fixture, { ...scope, sessionId }, { channel });
  const paid = { ...PAID, amountSantim };
  if (number % 10 === 9) fixture.provider.returns({ ...paid, amountSantim: 1n });
  else if (number % 10 === 7) fixture.provider.returns(declined(false), paid);
  else fixture.provider.returns(number % 5 === 3 ? declined(false) : paid);
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  if (number % 10 === 7) await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
}

const get = (path: string, query: Record<string, string>, of = scope) =>
  reports.get(of, `${path}?${new URLSearchParams(query).toString()}`);

async function listAll(query: Record<string, string>, byCursor: boolean) {
  const found: Record<string, string | number>[] = [];
  for (let [page, cursor] = [1, '']; ; page += 1) {
    const part = byCursor && cursor !== '' ? { cursor } : { page: String(page) };
    const { body } = await get(LIST, { ...query, limit: '37', ...part });
    found.push(...body.data);
    cursor = body.pagination.nextCursor;
    if (page >= body.pagination.totalPages) return { total: body.pagination.total, found };
  }
}

const csvRows = (text: string): Record<string, string>[] => parse(text, { bom: true, columns: true });
const some = <T extends string>(values: readonly T[]) =>
  fc.oneof(fc.constant('ALL'), fc.subarray([...values], { minLength: 1 }).map(String));
const optional = <T>(values: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 4 }, { arbitrary: values, weight: 1 });
const day = fc.integer({ min: 1, max: 28 }).map((number) => `2026-03-${String(number).padStart(2, '0')}`);
const flag = fc.constantFrom('true', 'false');
const filters = fc.record({
  days: fc.tuple(day, day).map(([one, other]) => (one < other ? [one, other] : [other, one])),
  status: some(TRANSACTION_STATUSES),
  transactionThrough: optional(some(Object.values(TRANSACTION_THROUGH))),
  type: optional(fc.constantFrom('API', 'QRCODE')),
  held: optional(flag),
  late: optional(flag),
  search: optional(fc.constantFrom('CMD-1', 'abebe', '0911 22', '251911223344', '%')),
  minAmount: optional(fc.constantFrom('100', '200.5')),
  maxAmount: optional(fc.constantFrom('300', '502.01')),
  sort: optional(fc.constantFrom('createdAt', '-createdAt', 'amount', '-amount')),
  byCursor: fc.boolean(),
});

/** The filter of the list as the body of a report. */
const reportBody = ({ currency: _currency, held, late, minAmount, maxAmount, ...same }: Record<string, string>) => ({
  kind: 'payments',
  period: 'custom',
  ...same,
  ...(held && { held: held === 'true' }),
  ...(late && { late: late === 'true' }),
  ...(minAmount && { minAmount: Number(minAmount) }),
  ...(maxAmount && { maxAmount: Number(maxAmount) }),
});

test('for any filter and sort, pages, cursor, CSV and report have the same rows, whose number and sums are those of the summary', async () => {
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(filters, async ({ days, byCursor, sort, ...narrowing }) => {
      const [startDate = '', endDate = ''] = days;
      const given = Object.entries({ ...ALL, startDate, endDate, ...narrowing }).filter(([, value]) => value);
      const query = Object.fromEntries(given) as Record<string, string>;
      const sorted = sort ? { ...query, sort } : query;
      const { total, found } = await listAll(sorted, byCursor);
      expect(found).toHaveLength(total);

      const file = await get('/api/checkout/txns/export', sorted);
      const lines = csvRows(file.text);
      expect(lines.map((line) => line['Transaction ID'])).toEqual(found.map((row) => row['transactionId']));

      const { report, file: reported } = await reports.download(scope, reportBody(query));
      const idsOf = (rows: Record<string, string>[]) => rows.map((row) => String(row['Transaction ID'])).toSorted();
      expect(idsOf(csvRows(reported.text))).toEqual(idsOf(lines));
      expect([report.filters.type, report.filters.search]).toEqual([narrowing.type, narrowing.search]);

      const { data } = (await get('/api/checkout/txns/summary', query)).body;
      expect(data.total.count).toBe(total);
      const sumOf = (column: string) => lines.reduce((sum, line) => sum + Math.round(Number(line[column]) * 100), 0);
      const columns = {
        requested: 'Amount',
        gross: 'Received Amount',
        fee: 'Fee',
        feeTax: 'Fee Tax',
        net: 'Net Amount',
        netAfterRefunds: 'Net After Refunds',
      };
      for (const [name, column] of Object.entries(columns)) {
        expect([name, Math.round(data.total[name] * 100)]).toEqual([name, sumOf(column)]);
      }
      for (const group of data.groups) {
        const through = group.channel ? TRANSACTION_THROUGH[group.channel as 'TELEBIRR'] : null;
        const same = found.filter((row) => row['status'] === group.status && row['transactionThrough'] === through);
        expect(group.count).toBe(same.length);
      }
      seen += total;
    }),
    { numRuns: 60, seed: 20_260_301 },
  );
  expect(seen).toBeGreaterThan(200);
}, 120_000);

const SERIES = '/api/checkout/reports/series';
const series = fc.record({
  days: fc.tuple(day, day),
  interval: fc.constantFrom('day', 'week', 'month', 'ethiopianMonth'),
  by: fc.constantFrom('status', 'channel', 'failureReason'),
});

test('for any days, interval and key, the intervals of a series cover the days once and add up to the sums of the list', async () => {
  const santim = (sums: Record<string, number>) => {
    const { count, requested, gross, fee, feeTax, net } = sums;
    return [count, requested, gross, fee, feeTax, net].map((value) => Math.round(Number(value) * 100));
  };
  const sum = (all: Record<string, number>[]) =>
    all.map(santim).reduce((one, other) => one.map((value, at) => value + (other[at] ?? 0)), [0, 0, 0, 0, 0, 0]);
  await fc.assert(
    fc.asyncProperty(series, async ({ days, ...wanted }) => {
      const [startDate = '', endDate = ''] = days.toSorted();
      const { data } = (await get(SERIES, { startDate, endDate, ...wanted })).body;
      const { data: summary } = (await get('/api/checkout/txns/summary', { ...ALL, startDate, endDate })).body;
      const parts: Record<string, string>[] = data.series;
      expect([parts[0]?.['startDate'], parts.at(-1)?.['endDate']]).toEqual([startDate, endDate]);
      for (const [at, part] of parts.slice(1).entries())
        expect(part['startDate']).toBe(addDays(parts[at]?.['endDate'] ?? '', 1));
      expect(sum(data.series.map((one: { total: Record<string, number> }) => one.total))).toEqual(santim(data.total));
      for (const one of [data, ...data.series]) expect(sum(one.groups)).toEqual(santim(one.total));
      expect(santim(data.total)).toEqual(santim(summary.total));
    }),
    { numRuns: 30, seed: 20_260_301 },
  );
}, 60_000);

test('a series by failure has the code of each failed payment, and Pagumen is a part of Nehase', async () => {
  const query = { ...ALL, by: 'failureReason', interval: 'ethiopianMonth' };
  const { status: _, currency: __, ...days } = query;
  const { data } = (await get(SERIES, { ...days, startDate: '2026-03-01', endDate: '2026-09-20' })).body;
  expect(data.groups.map(({ key }: { key: string }) => key)).toEqual(['DECLINED', null]);
  const last = data.series.at(-2);
  expect([last.startDateEthiopian, last.endDateEthiopian]).toEqual(['1 Nehase 2018', '5 Pagumen 2018']);
  expect(data.series.at(-1)).toMatchObject({ startDate: '2026-09-11', total: { count: 0 }, groups: [] });
  const { body } = await get(SERIES, { startDate: '2025-01-01', endDate: '2026-03-01' });
  expect([body.statusCode, body.error.code]).toEqual([400, 'DATE_RANGE_TOO_WIDE']);
});

test('held, late, several channels and a name narrow the list to transactions that have them', async () => {
  const find = async (query: Record<string, string>) => (await listAll({ ...ALL, ...query }, false)).found;
  const [held, late, named] = [
    await find({ held: 'true' }),
    await find({ late: 'true' }),
    await find({ search: 'BIKILA' }),
  ];
  expect([held.length > 0, held.every((row) => row['held'] === 'WRONG_AMOUNT')]).toEqual([true, true]);
  expect([late.length > 0, late.every((row) => row['status'] === 'SUCCESS')]).toEqual([true, true]);
  expect([named.length > 0, named.every((row) => row['customerName'] === 'Abebe Bikila')]).toEqual([true, true]);
  const through = new Set(
    (await find({ transactionThrough: 'telebirr,awashbirr' })).map((row) => row['transactionThrough']),
  );
  expect(through).toEqual(new Set(['telebirr', 'awashbirr']));
  const amounts = (await find({ sort: 'amount' })).map((row) => Number(row['amount']));
  expect(amounts).toEqual(amounts.toSorted((one, other) => one - other));
});

test('the CSV is a download without a digest, whose cells are no formulas and whose last columns are the filter', async () => {
  const { headers, text } = await get('/api/checkout/txns/export', { ...ALL, status: 'SUCCESS,FAILED', held: 'false' });
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(headers.get('content-disposition')).toBe(
    'attachment; filename="transactions-sandbox-2026-03-01-to-2026-03-31.csv"',
  );
  expect([headers.get('etag'), headers.get('cache-control')]).toEqual([null, 'no-store']);
  expect(text).not.toMatch(/[",]=CMD/);
  expect(csvRows(text)[0]?.['Report Filters']).toBe(
    '2026-03-01 to 2026-03-31 Africa/Addis_Ababa; status SUCCESS FAILED; currency ETB; held false; sort -createdAt',
  );
});

test('more than 10,000 transactions are not exported, and the error names the report', async () => {
  const large = await buildMerchant(database.db);
  await insertUnpaid(database.db, large, { count: 10_000, at: new Date('2026-03-05T09:00:00.000Z') });
  const full = await get('/api/checkout/txns/export', ALL, large);
  expect(csvRows(full.text)).toHaveLength(10_000);
  await insertUnpaid(database.db, large, { count: 1, at: new Date('2026-03-05T09:00:00.000Z') });
  const { status, body } = await get('/api/checkout/txns/export', ALL, large);
  expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(body.message).toContain('more than 10000 transactions');
  expect(body.message).toContain('POST /api/checkout/reports');
}, 60_000);

test('another merchant, and the same in the other environment, export and sum up none of the transactions', async () => {
  const other = await buildMerchant(database.db);
  for (const one of [other, { ...scope, environment: 'live' as const }]) {
    expect(csvRows((await get('/api/checkout/txns/export', ALL, one)).text)).toEqual([]);
    expect((await get('/api/checkout/txns/summary', ALL, one)).body.data).toMatchObject({
      total: { count: 0 },
      groups: [],
    });
  }
});

test.each([
  [{ sort: 'status' }, 'sort'],
  [{ held: 'yes' }, 'held'],
  [{ transactionThrough: 'telebirr,visa' }, 'transactionThrough'],
])('%j is rejected by the list, the file and, but for the sort, the sums', async (wrong, field) => {
  for (const path of [LIST, '/api/checkout/txns/export', '/api/checkout/txns/summary']) {
    const { status, body } = await get(path, { ...ALL, ...wrong });
    expect([path, status]).toEqual([path, 400]);
    expect(body.error.details[0].field).toBe(field);
  }
});

test('a cursor of a list by time is rejected in a list by amount, and the reverse', async () => {
  const cursorOf = async (sort: string) => (await get(LIST, { ...ALL, sort, limit: '3' })).body.pagination.nextCursor;
  for (const [sort, cursor] of [
    ['amount', await cursorOf('-createdAt')],
    ['createdAt', await cursorOf('-amount')],
  ]) {
    const { status, body } = await get(LIST, { ...ALL, sort: sort ?? '', cursor });
    expect([status, body.message]).toEqual([
      400,
      'cursor must be the nextCursor of an earlier response with the same sort, got one of another',
    ]);
  }
});

test('the sums and a page of the file take one statement each', async () => {
  const statements: string[] = [];
  const count = ({ sql }: { sql: string }) => void statements.push(sql);
  database.db.events.on('statement', count);
  await get('/api/checkout/txns/summary', ALL);
  expect(statements).toHaveLength(1);
  await get('/api/checkout/txns/export', ALL);
  database.db.events.off('statement', count);
  // Counting, then a page.
  expect(statements).toHaveLength(3);
  expect(await rows(database.db, 'SELECT FROM transaction')).not.toHaveLength(0);
});
