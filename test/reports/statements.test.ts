import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { listPeriod, readPeriod } from '../../src/ledger/statement.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { PdfPage } from '../../src/reports/formats/pdf-layout.ts';
import { printStatement } from '../../src/reports/formats/pdf-statement.ts';
import { PDF_MOVEMENTS_MAX, renderPdf } from '../../src/reports/formats/pdf.ts';
import { readReport } from '../../src/reports/model.ts';
import { rangeOf } from '../../src/reports/period.ts';
import { SOURCES } from '../../src/reports/sources/sources.ts';
import { readStatement, type Statement, type StatementMovement } from '../../src/reports/sources/statement.ts';
import { buildMerchant, buildWorld, type World } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startReports, type Reports } from '../support/reports.ts';
import { ask, linkAccount, withdraw } from '../support/settlements.ts';
import { fund } from '../support/withdrawals.ts';

const DAYS = { period: 'day', date: '2026-03-02' } as const;
const STATEMENT = { kind: 'settlements', format: 'PDF', ...DAYS } as const;

let database: TestDatabase;
let world: World;
let reports: Reports;
let scope: MerchantScope;

/** Two settlements: the first of 70 payments and 7 withdrawals, the second of three payments. */
beforeAll(async () => {
  database = await createTestDatabase();
  world = buildWorld(database.db);
  reports = await startReports(world);
  scope = await buildMerchant(database.db, 'Abyssinia Coffee ቡና');
  await linkAccount(world, scope);
  for (let count = 0; count < 70; count += 1) {
    world.pass(60_000);
    await fund(world, scope, BigInt(1_000_00 + count * 17_31));
    if (count % 10 === 9) await withdraw(world, scope);
  }
  await ask(world, scope, { amount: 12_345_67n });
  for (let count = 0; count < 3; count += 1) await fund(world, scope, 250_00n);
  world.pass(60_000);
  await ask(world, scope);
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
  const { columns, page } = SOURCES.settlements;
  const { rows: settlements } = await page(database.db, filter, { after: null, limit: 10 });
  return Promise.all(
    settlements.map((cells) => readStatement(database.db, scope, { columns, cells, pageRows: 7, onRead })),
  );
}

async function movementsOf({ account }: Statement): Promise<StatementMovement[]> {
  const all: StatementMovement[] = [];
  for await (const movements of account?.movements ?? []) all.push(...movements);
  return all;
}

test('a statement has every movement since the settlement before it: opening and all of them make closing', async () => {
  let reads = 0;
  const [second, first] = await readStatements(async () => void (reads += 1));
  if (!first?.account || !second?.account) throw new Error('two were made');
  for (const [statement, wanted] of [
    [first, 78],
    [second, 4],
  ] as const) {
    const movements = await movementsOf(statement);
    expect(movements).toHaveLength(wanted);
    const { openingSantim = 0n, closingSantim = 0n, totals = [] } = statement.account ?? {};
    expect(movements.reduce((sum, { amountSantim }) => sum + amountSantim, openingSantim)).toBe(closingSantim);
    expect(totals.reduce((sum, { count }) => sum + count, 0)).toBe(wanted);
    const period = await readPeriod(database.db, scope, String(statement.facts.get('settlementId')?.cell));
    if (!period) throw new Error('it was booked');
    const { rows: listed } = await listPeriod(database.db, period, { page: 1, limit: 100, after: null });
    expect(movements.map(({ resourceId }) => resourceId)).toEqual(listed.map(({ resourceId }) => resourceId));
  }
  expect(first.account.openingSantim).toBe(0n);
  expect(second.account.openingSantim).toBe(first.account.closingSantim);
  expect(reads).toBe(Math.ceil(78 / 7) + 1);
});

/** A paper of this height that remembers what was written where. */
function recordingPaper(height: number): { paper: PdfPage; pages: { text: string; y: number }[][] } {
  const pages: { text: string; y: number }[][] = [];
  const paper: PdfPage = {
    y: 0,
    turn: () => {
      pages.push([]);
      paper.y = 0;
    },
    needs: (wanted) => {
      if (paper.y + wanted <= height) return false;
      paper.turn();
      return true;
    },
    write: (text) => void pages.at(-1)?.push({ text, y: paper.y }),
    inLines: (text) => [text],
    rule: () => {},
    band: () => {},
  };
  paper.turn();
  return { paper, pages };
}

test('each movement is printed once, under headings on every page, between the opening and the closing balance', async () => {
  const [, first] = await readStatements();
  const [, again] = await readStatements();
  if (!first || !again) throw new Error('two were made');
  const movements = await movementsOf(again);
  const { paper, pages } = recordingPaper(500);
  for await (const _ of printStatement(paper, first)) expect(pages.length).toBeGreaterThan(0);
  expect(pages.length).toBeGreaterThan(2);
  const texts = pages.flat().map(({ text }) => text);
  const printed = texts.filter((text) => /^(txn|wd|stl)_/.test(text));
  // The settlement is named at the top as well.
  expect(printed.slice(1)).toEqual(movements.map(({ resourceId }) => resourceId));
  for (const page of pages) {
    expect(page.map(({ text }) => text)).toEqual(expect.arrayContaining(['Time', 'Movement', 'Amount', 'Balance']));
    expect(Math.max(...page.map(({ y }) => y))).toBeLessThanOrEqual(500);
  }
  expect(texts.lastIndexOf('Opening balance')).toBeLessThan(texts.indexOf(movements[0]?.resourceId ?? '', 10));
  expect(texts.at(-2)).toBe('Closing balance');
});

test('what is not known of a settlement leaves no hole in what is', async () => {
  const [second] = await readStatements();
  if (!second) throw new Error('two were made');
  const returned = { heading: 'Returned at (Addis Ababa, UTC+3)', cell: '2026-03-09 12:00:00' };
  const facts = new Map([...second.facts, ['returnedAtAddis', returned] as const]);
  const { paper, pages } = recordingPaper(500);
  for await (const _ of printStatement(paper, { facts, account: null }));
  const heights = (pages[0] ?? []).map(({ y }) => y);
  expect(new Set(heights).size).toBe((Math.max(...heights) - 8) / 13 + 1);
  const texts = (pages[0] ?? []).map(({ text }) => text);
  expect(texts[texts.indexOf('Returned at') + 1]).toBe('2026-03-09 12:00:00');
  expect(texts).toContain('Reserved');
  expect(texts).not.toContain('Credited at');
});

test('a statement that does not tie out is never printed', async () => {
  const [second] = await readStatements();
  if (!second?.account) throw new Error('two were made');
  const { account } = second;
  const print = async (wrong: Partial<typeof account>): Promise<void> => {
    for await (const _ of printStatement(recordingPaper(500).paper, { ...second, account: { ...account, ...wrong } }));
  };
  await expect(print({ openingSantim: account.openingSantim + 1n })).rejects.toThrow('leaves another balance');
  await expect(print({ movements: fewer(account.movements) })).rejects.toThrow('are missing');
});

async function* fewer<Row>(pages: AsyncIterable<Row[]>): AsyncGenerator<Row[]> {
  for await (const page of pages) yield page.slice(0, -1);
}

test('statements become a PDF file of many pages, made by a workflow', async () => {
  const { status, body } = await reports.ask(scope, STATEMENT);
  expect([status, body.data.status]).toEqual([202, 'QUEUED']);
  expect(world.enqueued.map(({ workflowType }) => workflowType)).toContain('report');
  const heard: number[] = [];
  const make = reports.makeWith({}, 50);
  expect(await make(body.data.reportId, (rowsDone) => heard.push(rowsDone))).toBe('READY');
  // The second has four movements, the first 78 in two pages; then both are there.
  expect(heard).toEqual([0, 1, 1, 2]);
  const { storageKey } = await readReport(database.db, body.data.reportId);
  const bytes = await readFile(join(reports.folder, storageKey ?? ''));
  expect(bytes.subarray(0, 8).toString()).toBe('%PDF-1.3');
  expect(bytes.subarray(-6).toString().trim()).toBe('%%EOF');
  expect(bytes.toString('latin1').match(/\/Type \/Page\b/g)).toHaveLength(3);
});

test('more movements than a PDF lists are refused, with where they are listed instead', async () => {
  const [second] = await readStatements();
  const { body } = await reports.ask(scope, STATEMENT);
  const report = await readReport(database.db, body.data.reportId);
  if (!second?.account) throw new Error('two were made');
  const { account } = second;
  const totals = [{ type: 'PAYMENT', count: PDF_MOVEMENTS_MAX + 1, amountSantim: 1n }] as const;
  const file = renderPdf({
    report,
    merchantName: 'Abyssinia Coffee',
    snapshotAt: new Date(),
    sums: { count: 1, totals: {} },
    columns: [],
    pages: pagesOf([[['stl_1']]]),
    statementOf: async () => ({ ...second, account: { ...account, totals } }),
  });
  await expect(file.next()).rejects.toThrow(
    'PDF lists at most 50000 movements, and these settlements have more: ask for fewer days, or for kind balance as CSV',
  );
});

async function* pagesOf<Page>(pages: Page[]): AsyncGenerator<Page> {
  yield* pages;
}

test('no settlements are a file that says so', async () => {
  const { report, file } = await reports.fetched(scope, { ...STATEMENT, date: '2026-03-01' });
  expect([report.status, file.status]).toEqual(['READY', 200]);
});
