import { readFile } from 'node:fs/promises';

import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';

import { readBalance } from '../../src/ledger/balance.ts';
import { rows } from '../../src/lib/db.ts';
import { toBirr } from '../../src/lib/money.ts';
import { setSecondPersonFrom } from '../../src/merchants/operations.ts';
import { declinePayout } from '../../src/payouts/confirm.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { withdraw } from '../support/settlements.ts';
import { until } from '../support/until.ts';
import { inspectScreen, usePortal } from './portal.ts';

const portal = usePortal({ payments: 40 });
const PATH = '/test/withdrawals/batch';

const HEADING = 'Reference,Amount,Channel,Phone,Bank code,Account number,Account name,Reason';
const lineOf = (reference: string, amount: string, phone = '0911000001'): string =>
  `${reference},${amount},TELEBIRR,${phone},,,Abebe Bikila,Salary`;
const choose = (page: Page, lines: readonly string[], name = 'november.csv'): Promise<void> =>
  page.locator('input[type=file]').setInputFiles({
    name,
    mimeType: 'text/csv',
    buffer: Buffer.from([HEADING, ...lines].join('\r\n')),
  });
const requested = async (prefix: string): Promise<string[]> => {
  const sql = `SELECT reference AS request_id FROM payout WHERE starts_with(reference, :prefix) ORDER BY reference`;
  return (await rows<{ requestId: string }>(portal.db, sql, { prefix })).map(({ requestId }) => requestId);
};
const available = async (): Promise<number> => toBirr((await readBalance(portal.db, portal.scope)).availableSantim);
const request = async (page: Page, count: number): Promise<void> => {
  await page.click(`main >> button:text-matches("^Request ${count} withdrawals?$")`);
  await page.locator('dialog button[type=submit]').dblclick();
};
const row = (page: Page, reference: string) => page.locator('tbody tr', { hasText: reference });

test('a person of finance corrects a file, requests its lines once, and saves what became of them', async () => {
  const { page, problems, close } = await portal.open('/test/withdrawals', { role: 'finance' });
  const before = await available();
  await page.click('main >> text=From a file');
  await page.waitForURL('**/withdrawals/batch');
  const [template] = await Promise.all([page.waitForEvent('download'), page.click('button:text-is("Template")')]);
  expect(await readFile(await template.path(), 'utf8')).toContain(HEADING);

  await choose(page, [
    lineOf('A-1', '10.14'),
    lineOf('A-2', '"10,14"'),
    lineOf('A-3', '12', '0111'),
    lineOf('A-1', '13'),
    lineOf('A-5', '80000'),
    lineOf('A-6', '10.14'),
  ]);
  await row(page, 'A-2').getByText('Amount: An amount in birr above 0').waitFor();
  await row(page, 'A-3').getByText('Phone: An Ethiopian mobile number').waitFor();
  await row(page, '13.00').getByText('Reference: An earlier line has the same reference.').waitFor();
  await row(page, 'A-5').getByText('Amount: At most 75,000.').waitFor();
  await row(page, 'A-6').getByText('Same amount and beneficiary as line 2').waitFor();
  await page.waitForSelector('text=4 lines have a problem, so nothing is requested: correct the file');
  expect(await page.locator('main dl', { hasText: 'With a problem' }).innerText()).toMatch(
    /With a problem\s+4\s+Ready\s+2\s+Available/,
  );
  await page.waitForSelector('main >> button:text-is("Request 2 withdrawals")');
  expect(await page.locator('main >> button:has-text("Request")').isDisabled()).toBe(true);
  await page.getByLabel('Only lines with a problem (5)').check();
  expect(await page.locator('tbody tr').count()).toBe(5);
  expect(await requested('A-')).toEqual([]);

  await choose(page, [lineOf('A-1', '10.14'), lineOf('A-2', '20.14'), lineOf('A-3', '30.14')]);
  await page.waitForSelector('text=77.67 ETB');
  await request(page, 3);
  await page.waitForSelector('text=All lines were processed.');
  await row(page, 'A-3').getByText('Under review').waitFor();
  expect(await requested('A-')).toEqual(['A-1', 'A-2', 'A-3']);
  expect(await available()).toBeCloseTo(before - 77.67);
  const summary = page.locator('main dl', { hasText: 'Requested already' });
  await summary.waitFor();
  expect(await summary.innerText()).toMatch(/Requested already\s+3\s+Under review\s+3\s+Available/);

  const [results] = await Promise.all([page.waitForEvent('download'), page.click('text=Save the results')]);
  expect(results.suggestedFilename()).toBe('results-november.csv');
  const saved: Record<string, string>[] = parse(await readFile(await results.path()), { columns: true, bom: true });
  expect(saved.map((one) => [one['Line'], one['Reference'], one['Status'], one['Stage'], one['Total debit']])).toEqual([
    ['2', 'A-1', 'PENDING', 'UNDER_REVIEW', '15.89'],
    ['3', 'A-2', 'PENDING', 'UNDER_REVIEW', '25.89'],
    ['4', 'A-3', 'PENDING', 'UNDER_REVIEW', '35.89'],
  ]);
  expect(saved[0]?.['Withdrawal id']).toMatch(/^wd_/);
  expect(problems).toEqual([]);
  await close();
}, 90_000);

test('the lines follow their withdrawals until all of them have ended, and are not read again after that', async () => {
  const { fixture, scope } = portal;
  const { page, close } = await portal.open(PATH, { role: 'finance' });
  let reads = 0;
  page.on('request', (one) => (reads += Number(one.url().endsWith('/withdrawal/quotes'))));
  await choose(page, [lineOf('E-1', '11.14')]);
  await request(page, 1);
  await row(page, 'E-1').getByText('Under review').waitFor();
  await rows(
    portal.db,
    `UPDATE payout SET status = 'CANCELLED', stage = 'COMPLETED', completed_at = now() WHERE reference = 'E-1'`,
  );
  // Another withdrawal is the change that the page hears of.
  await withdraw(fixture, scope);
  await row(page, 'E-1').getByText('Cancelled').waitFor();
  const before = reads;
  await withdraw(fixture, scope);
  await page.waitForTimeout(3_000);
  expect(reads).toBe(before);
  await close();
}, 60_000);

test('the results say in the language of the page what became of a line', async () => {
  const { page, close } = await portal.open(PATH, { role: 'finance', language: 'am' });
  const saveResults = async (): Promise<string[]> => {
    const button = page.locator('main button', { hasText: 'ውጤቱን ያስቀምጡ' });
    const [results] = await Promise.all([page.waitForEvent('download'), button.click()]);
    const saved: Record<string, string>[] = parse(await readFile(await results.path()), { columns: true, bom: true });
    return saved.map((one) => one['Message'] ?? '');
  };
  await choose(page, [lineOf('F-1', '12.14')]);
  await page.locator('main button', { hasText: 'ይጠይቁ' }).click();
  await page.locator('dialog button[type=submit]').click();
  await row(page, 'F-1').getByText('በምርመራ ላይ').waitFor();
  const failed = { code: 'INSUFFICIENT_FUNDS', message: 'Too little.', providerCode: '7', retryable: false };
  await rows(
    portal.db,
    `UPDATE payout SET status = 'FAILED', stage = 'COMPLETED', completed_at = now(), failure = :failure WHERE reference = 'F-1'`,
    { failure: JSON.stringify(failed) },
  );
  await choose(page, [lineOf('F-1', '12.14'), lineOf('F-2', 'ten'), lineOf('F-3', '80000')]);
  await row(page, 'F-3').waitFor();
  const messages = await saveResults();
  expect(messages[1]).toMatch(/^Amount: /);
  for (const [index, message] of messages.entries()) {
    const shown = (await row(page, `F-${index + 1}`).innerText()).replaceAll(/\s+/g, ' ');
    expect(shown.replaceAll(' በእንግሊዝኛ', '')).toContain(message);
    // But for the heading of the file's own column.
    expect(message.replaceAll('Amount: ', '')).not.toMatch(/[A-Za-z]{3}/);
  }
  await close();
}, 60_000);

test('lines are requested once by two tabs at once, after lost answers, and after the page was left in the middle', async () => {
  const lines = Array.from({ length: 12 }, (_, index) => lineOf(`B-${10 + index}`, `${1 + index}.14`));
  const tabs = [
    await portal.open(PATH, { role: 'finance', expected: /ERR_FAILED/ }),
    await portal.open(PATH, { role: 'finance', expected: /ERR_FAILED/ }),
  ] as const;
  let lost = 0;
  await tabs[0].page.route('**/api/checkout/withdrawal', async (route) => {
    lost += 1;
    if (lost > 2) return route.fallback();
    // The API has requested it, and the page does not learn of it.
    await route.fetch();
    return route.abort();
  });
  await Promise.all(tabs.map(({ page }) => choose(page, lines)));
  await Promise.all(tabs.map(({ page }) => request(page, 12)));
  await Promise.all(tabs.map(({ page }) => page.waitForSelector('text=All lines were processed.')));
  expect(lost).toBeGreaterThan(2);
  expect(await requested('B-')).toHaveLength(12);

  const more = [...lines, ...Array.from({ length: 60 }, (_, index) => lineOf(`C-${10 + index}`, `${1 + index}.14`))];
  const { page } = tabs[1];
  await choose(page, more);
  await request(page, 60);
  await page.getByText(/^\d+ of 60 lines. Keep this page open.$/).waitFor();
  expect(await page.locator('input[type=file]').count()).toBe(0);
  const asked: string[] = [];
  page.once('dialog', (question) => {
    asked.push(question.message());
    void question.dismiss();
  });
  await page.click('button[aria-label="Menu"]');
  await page.click('#sidebar a:has-text("Balance")');
  await until('the question', () => asked.length === 1);
  expect(asked[0]).toMatch(/^Leave this page\?/);
  expect(page.url()).toContain(PATH);
  page.once('dialog', (question) => question.accept());
  await page.reload();
  const done = (await requested('C-')).length;
  expect(done).toBeLessThan(60);
  await choose(page, more);
  await page.locator('main >> button:has-text("Request")').waitFor();
  await page.locator('main >> button:has-text("Request")').click();
  await page.locator('dialog button[type=submit]').click();
  await page.waitForSelector('text=All lines were processed.', { timeout: 60_000 });
  expect(await requested('C-')).toHaveLength(60);
  for (const tab of tabs) {
    expect(tab.problems).toEqual([]);
    await tab.close();
  }
}, 120_000);

test('a viewer sees what a file would cost, and whom to ask', async () => {
  const { page, close } = await portal.open(PATH, { role: 'viewer' });
  await choose(page, [lineOf('D-1', '10')]);
  await page.waitForSelector('text=15.75 ETB');
  await page.waitForSelector('text=Ask somebody with the role owner or finance');
  await choose(page, [], 'empty.csv');
  await page.waitForSelector('text=The file has no line below its heading.');
  await close();
}, 60_000);

test.each(['en', 'am'] as const)(
  'the screen has no fault of accessibility, in %s',
  async (language) => {
    const tab = await portal.open(PATH, { role: 'finance', language });
    await choose(tab.page, [lineOf('E-1', '10'), lineOf('E-2', 'ten'), lineOf('E-3', '80000')]);
    await tab.page.locator('tbody tr').nth(2).waitFor();
    expect(await inspectScreen(tab, `portal-batch-${language}`)).toEqual([]);
    expect(tab.problems).toEqual([]);
    await tab.close();
  },
  90_000,
);

test('withdrawals that wait for a second person are confirmed together, and one that was decided meanwhile is named', async () => {
  const { fixture, scope, db } = portal;
  await db.transaction((trx) => setSecondPersonFrom(trx, scope.merchantId, 10_00n));
  const waiting = [];
  for (let count = 0; count < 3; count += 1) waiting.push(await withdraw(fixture, scope, 11_00n));
  await db.transaction((trx) => setSecondPersonFrom(trx, scope.merchantId, null));
  const tab = await portal.open('/test/withdrawals', { role: 'finance', expected: /status of 409/ });
  const { page, problems, close } = tab;
  await page.click('button:text-is("Confirm 3 withdrawals")');
  await page.waitForSelector('dialog >> text=3 withdrawals of 33.00 ETB in all are sent');
  expect(await inspectScreen(tab, 'confirm-all')).toEqual([]);
  const [first] = waiting;
  const decision = { scope, idOrReference: first?.id ?? '', reason: 'Not ours', at: new Date() };
  await fixture.runInTransaction((tx) => declinePayout(tx, WITHDRAWAL, decision));
  await page.locator('dialog button:text-is("Confirm 3 withdrawals")').dblclick();
  await page.waitForSelector('dialog >> text=2 of 3 are confirmed.');
  await page.waitForSelector(`dialog tr:has-text("${first?.reference}") >> text=This withdrawal is CANCELLED`);
  await page.click('dialog button:text-is("Close")');
  await page.locator('tbody tr', { hasText: 'To be confirmed' }).first().waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
  await close();
});
