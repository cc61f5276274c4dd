import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { pageMovements, readPeriod, type ReadMovement } from '../../src/ledger/balance.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { PdfPage } from '../../src/reports/formats/pdf-page.ts';
import { PDF_MOVEMENTS_MAX, writeStatement } from '../../src/reports/formats/pdf-statement.ts';
import { writeTable } from '../../src/reports/formats/pdf-table.ts';
import { renderPdf } from '../../src/reports/formats/pdf.ts';
import { rangeOf } from '../../src/reports/period.ts';
import { readReport } from '../../src/reports/queries.ts';
import type { Cell } from '../../src/reports/sources/columns.ts';
import { SOURCES } from '../../src/reports/sources/sources.ts';
import { readStatement, type Statement } from '../../src/reports/sources/statement.ts';
import { buildMerchant, buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { REPORTS, startReports, type Reports } from '../support/reports.ts';
import { requestSettlement, linkAccount, withdraw } from '../support/settlements.ts';
import { fund } from '../support/withdrawals.ts';

const DAYS = { period: 'day', date: '2026-03-02' } as const;
const STATEMENT = { kind: 'settlements', format: 'PDF', ...DAYS } as const;

let database: TestDatabase;
let fixture: Fixture;
let reports: Reports;
let scope: MerchantScope;

/** Two settlements: the first of 70 payments and 7 withdrawals, the second of three payments. */
beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db);
  reports = await startReports(fixture);
  scope = await buildMerchant(database.db, 'Abyssinia Coffee ቡና');
  await linkAccount(fixture, scope);
  for (let count = 0; count < 70; count += 1) {
    fixture.pass(60_000);
    await fund(fixture, scope, BigInt(1_000_00 + count * 17_31));
    if (count % 10 === 9) await withdraw(fixture, scope);
  }
  await requestSettlement(fixture, scope, { amount: 12_345_67n });
  for (let count = 0; count < 3; count += 1) await fund(fixture, scope, 250_00n);
  fixture.pass(60_000);
  await requestSettlement(fixture, scope);
}, 120_000);
afterAll(async () => {
  await reports.close();
  await database.drop();
});

async function readStatements(onRead = async () => {}): Promise<Statement[]> {
  const filter = {
    ...scope,
    range: rangeOf({ startDate: DAYS.date, endDate: DAYS.date }),
    statuses: null,
    channel: null,
  };
  const { columns, pages } = SOURCES.settlements;
  const { value: settlements } = await pages(database.db, filter, 10).next();
  return Promise.all(
    (settlements as Cell[][]).map((cells) =>
      readStatement(database.db, scope, { columns, cells, pageRows: 7, onRead }),
    ),
  );
}

async function movementsOf({ account }: Statement): Promise<ReadMovement[]> {
  const all: ReadMovement[] = [];
  for await (const movements of account?.movements ?? []) all.push(...movements);
  return all;
}

test('a statement has every movement since the settlement before it, and opening balance + movements = closing balance', async () => {
  let reads = 0;
  const [second, first] = await readStatements(async () => void (reads += 1));
  if (!first?.account || !second?.account) throw new Error('there are two settlements');
  for (const [statement, count] of [
    [first, 78],
    [second, 4],
  ] as const) {
    const movements = await movementsOf(statement);
    expect(movements).toHaveLength(count);
    const { openingSantim = 0n, closingSantim = 0n, totals = [] } = statement.account ?? {};
    expect(movements.reduce((sum, { amountSantim }) => sum + amountSantim, openingSantim)).toBe(closingSantim);
    expect(totals.reduce((sum, total) => sum + total.count, 0)).toBe(count);
    const period = await readPeriod(database.db, scope, String(statement.facts.get('settlementId')?.cell));
    if (!period) throw new Error('the settlement was booked');
    const { rows: listed } = await pageMovements(database.db, period, {
      order: 'ASC',
      page: { page: 1, limit: 100, after: null },
    });
    expect(movements.map(({ resourceId }) => resourceId)).toEqual(listed.map(({ resourceId }) => resourceId));
  }
  expect(first.account.openingSantim).toBe(0n);
  expect(second.account.openingSantim).toBe(first.account.closingSantim);
  expect(reads).toBe(Math.ceil(78 / 7) + 1);
});

/** Pages of this height that record the texts written and their positions. */
function createRecorder(height: number): { page: PdfPage; pages: { text: string; y: number }[][] } {
  const pages: { text: string; y: number }[][] = [];
  const page: PdfPage = {
    y: 0,
    turn: () => {
      pages.push([]);
      page.y = 0;
    },
    needs: (space) => {
      if (page.y + space <= height) return false;
      page.turn();
      return true;
    },
    write: (text) => void pages.at(-1)?.push({ text, y: page.y }),
    wrap: (text) => [text],
    rule: () => {},
    endLine: () => void (page.y += 13),
    band: () => {},
  };
  page.turn();
  return { page, pages };
}

test('a PDF lists each movement once between the opening and the closing balance, with headings on every page', async () => {
  const [, first] = await readStatements();
  const [, again] = await readStatements();
  if (!first || !again) throw new Error('there are two settlements');
  const movements = await movementsOf(again);
  const { page, pages } = createRecorder(500);
  for await (const _ of writeStatement(page, first)) expect(pages.length).toBeGreaterThan(0);
  expect(pages.length).toBeGreaterThan(2);
  const texts = pages.flat().map(({ text }) => text);
  const printed = texts.filter((text) => /^(txn|wd|stl)_/.test(text));
  // The first id is the settlement's own, at the top.
  expect(printed.slice(1)).toEqual(movements.map(({ resourceId }) => resourceId));
  for (const written of pages) {
    expect(written.map(({ text }) => text)).toEqual(expect.arrayContaining(['Time', 'Movement', 'Amount', 'Balance']));
    expect(Math.max(...written.map(({ y }) => y))).toBeLessThanOrEqual(500);
  }
  expect(texts.lastIndexOf('Opening balance')).toBeLessThan(texts.indexOf(movements[0]?.resourceId ?? '', 10));
  expect(texts.at(-2)).toBe('Closing balance');
});

test('unknown fields of a settlement are left out of its PDF without an empty line', async () => {
  const [second] = await readStatements();
  if (!second) throw new Error('there are two settlements');
  const returned = { heading: 'Returned at (Addis Ababa, UTC+3)', cell: '2026-03-09 12:00:00' };
  const facts = new Map([...second.facts, ['returnedAtAddis', returned] as const]);
  const { page, pages } = createRecorder(500);
  for await (const _ of writeStatement(page, { facts, account: null }));
  const heights = (pages[0] ?? []).map(({ y }) => y);
  expect(new Set(heights).size).toBe((Math.max(...heights) - 8) / 13 + 1);
  const texts = (pages[0] ?? []).map(({ text }) => text);
  expect(texts[texts.indexOf('Returned at') + 1]).toBe('2026-03-09 12:00:00');
  expect(texts).toContain('Reserved');
  expect(texts).not.toContain('Credited at');
});

test('writing a statement whose movements do not add up to its balances throws', async () => {
  const [second] = await readStatements();
  if (!second?.account) throw new Error('there are two settlements');
  const { account } = second;
  const print = async (wrong: Partial<typeof account>): Promise<void> => {
    for await (const _ of writeStatement(createRecorder(500).page, { ...second, account: { ...account, ...wrong } }));
  };
  await expect(print({ openingSantim: account.openingSantim + 1n })).rejects.toThrow('is not the sum of the movements');
  await expect(print({ movements: fewer(account.movements) })).rejects.toThrow('are missing');
});

async function* fewer<Row>(pages: AsyncIterable<Row[]>): AsyncGenerator<Row[]> {
  for await (const page of pages) yield page.slice(0, -1);
}

test('a request for PDF statements is QUEUED for its workflow, and generates a file of many pages', async () => {
  const { status, body } = await reports.request(scope, STATEMENT);
  expect([status, body.data.status]).toEqual([202, 'QUEUED']);
  expect(fixture.enqueued.map(({ workflowType }) => workflowType)).toContain('report');
  const reported: number[] = [];
  const generate = reports.generator({}, 50);
  expect(await generate(body.data.reportId, (rowsDone) => reported.push(rowsDone))).toBe('READY');
  // The second settlement has four movements, the first 78 in two pages; each is then done, and the last page is empty.
  expect(reported).toEqual([0, 1, 1, 1, 2, 2]);
  const { storageKey } = await readReport(database.db, body.data.reportId);
  const bytes = await readFile(join(reports.folder, storageKey ?? ''));
  expect(bytes.subarray(0, 8).toString()).toBe('%PDF-1.3');
  expect(bytes.subarray(-6).toString().trim()).toBe('%%EOF');
  expect(bytes.toString('latin1').match(/\/Type \/Page\b/g)).toHaveLength(3);
});

test('a PDF of more movements than the maximum is rejected with the formats that list them', async () => {
  const [second] = await readStatements();
  const { body } = await reports.request(scope, STATEMENT);
  const report = await readReport(database.db, body.data.reportId);
  if (!second?.account) throw new Error('there are two settlements');
  const { account } = second;
  const totals = [{ type: 'PAYMENT', count: PDF_MOVEMENTS_MAX + 1, amountSantim: 1n }] as const;
  const file = renderPdf({
    report: { ...report, snapshotAt: new Date() },
    merchantName: 'Abyssinia Coffee',
    sums: { count: 1, totals: {} },
    columns: [],
    pages: pagesOf([[['stl_1']]]),
    statementOf: async () => ({ ...second, account: { ...account, totals } }),
  });
  await expect(file.next()).rejects.toThrow(
    'PDF lists at most 50000 movements, and these settlements have more: request fewer days, or kind balance as CSV',
  );
});

async function* pagesOf<Page>(pages: Page[]): AsyncGenerator<Page> {
  yield* pages;
}

test('a report of days without settlements is a PDF file that states it', async () => {
  const { report, file } = await reports.download(scope, { ...STATEMENT, date: '2026-03-01' });
  expect([report.status, file.status]).toEqual(['READY', 200]);
});

test('a PDF of payments lists each with its amounts below the sums, with headings on every page', async () => {
  const filter = {
    ...scope,
    range: rangeOf({ startDate: DAYS.date, endDate: DAYS.date }),
    statuses: null,
    channel: null,
  };
  const { columns, pages: read, sum } = SOURCES.payments;
  const { body } = await reports.request(scope, { ...DAYS, kind: 'payments', format: 'PDF' });
  const report = { ...(await readReport(database.db, body.data.reportId)), snapshotAt: new Date() };
  const sums = await sum(database.db, filter);
  const { page, pages } = createRecorder(500);
  const rendering = { report, merchantName: 'Abyssinia Coffee', sums, columns, pages: read(database.db, filter, 20) };
  for await (const _ of writeTable(page, { ...rendering, statementOf: async () => Promise.reject(new Error('none')) }));
  const texts = pages.flat().map(({ text }) => text);
  const first = ['Rows', 'Amount', 'Received Amount', 'Fee', 'Fee Tax', 'Net Amount', 'Refunded Amount'];
  expect([texts.slice(0, 7), texts[7]]).toEqual([first, '73']);
  expect(texts.slice(14, 18)).toEqual(['Fee Returned', 'Fee Tax Returned', 'Net After Refunds', 'Reserved']);
  expect(texts.filter((text) => text === 'telebirr')).toHaveLength(73);
  expect(pages.length).toBeGreaterThan(2);
  for (const written of pages.slice(1)) {
    expect(written.map(({ text }) => text)).toEqual(
      expect.arrayContaining(['Created', 'Status', 'Net After', 'Refunds']),
    );
    expect(Math.max(...written.map(({ y }) => y))).toBeLessThanOrEqual(500);
  }
});

test('a PDF of refunds has what each paid beside what was requested', async () => {
  const { columns } = SOURCES.refunds;
  const { body } = await reports.request(scope, { ...DAYS, kind: 'refunds', format: 'PDF' });
  const report = { ...(await readReport(database.db, body.data.reportId)), snapshotAt: new Date() };
  const amounts: Record<string, bigint> = { amount: 40_00n, paidAmount: 36_67n, feeReturned: 91n, totalDebit: 35_63n };
  const cells = columns.map(({ key }) => amounts[key] ?? null);
  const { page, pages } = createRecorder(500);
  const rendering = { report, merchantName: 'Abyssinia Coffee', columns, sums: { count: 1, totals: amounts } };
  const statementOf = async () => Promise.reject(new Error('none'));
  for await (const _ of writeTable(page, { ...rendering, pages: pagesOf([[cells]]), statementOf }));
  const texts = pages.flat().map(({ text }) => text);
  expect(texts.slice(-4)).toEqual(['40.00', '36.67', '0.91', '35.63']);
});

test.each(['payments', 'refunds', 'withdrawals', 'balance'])(
  'a report of %s is a PDF file with a page or more',
  async (kind) => {
    const { body } = await reports.request(scope, { ...DAYS, kind, format: 'PDF' });
    const { reportId } = body.data;
    expect(await reports.generator()(reportId)).toBe('READY');
    const file = await reports.get(scope, `${REPORTS}/${reportId}/file`);
    expect(file.headers.get('content-type')).toBe('application/pdf');
    expect(file.text).toMatch(/^%PDF-.*\/Type \/Page\b/s);
  },
);
