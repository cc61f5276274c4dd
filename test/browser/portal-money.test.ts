import { readFile } from 'node:fs/promises';

import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';

import { readBalance } from '../../src/ledger/balance.ts';
import { rows } from '../../src/lib/db.ts';
import { toBirr } from '../../src/lib/money.ts';
import { setSecondPersonFrom } from '../../src/merchants/operations.ts';
import { confirmTwoFactor } from '../portal/portal.ts';
import { linkAccount } from '../support/settlements.ts';
import { screenshot, visit, WIDTHS } from './browser.ts';
import { inspectScreen, usePortal } from './portal.ts';

const SCREENS = {
  overview: '/test/overview',
  balance: '/test/balance',
  withdrawals: '/test/withdrawals',
  settlements: '/test/settlements',
  reports: '/test/reports',
  'reports-ethiopian': '/test/reports?kind=withdrawals&calendar=ethiopian&period=quarter',
};

const portal = usePortal({ payments: 40 });

beforeAll(async () => {
  await linkAccount(portal.fixture, portal.scope);
}, 180_000);

const birr = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2 });
const number = (text: string): number => Number(text.replaceAll(/[^\d.-]/g, ''));
const available = async (): Promise<number> => toBirr((await readBalance(portal.db, portal.scope)).availableSantim);
/** The card of a number of the balance. */
const card = (page: Page, name: string) => page.locator('main li', { has: page.locator(`span:text-is("${name}")`) });

test('a person of finance sees the fee before a withdrawal is requested, and what is wrong beside its field, finds it in the list, and cancels it', async () => {
  const { page, problems, close } = await portal.open('/test/withdrawals', {
    role: 'finance',
    expected: /status of 400/,
  });
  const before = await available();
  await page.click('button:has-text("New withdrawal")');
  await page.waitForSelector('dialog >> text=Left today');
  await page.fill('dialog input[inputmode=decimal]', '100');
  await page.waitForSelector('dialog >> text=105.75 ETB');
  // The form is longer than the window, and its button is in sight.
  await page.setViewportSize(WIDTHS[1]);
  expect(
    await page.evaluate(
      `(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)(document.querySelector('dialog'))`,
    ),
  ).toBe(true);
  const { y = 0, height = 0 } = (await page.locator('dialog button[type=submit]').boundingBox()) ?? {};
  expect(y + height).toBeLessThan(WIDTHS[1].height);
  expect(y).toBeGreaterThan(WIDTHS[1].height / 2);
  await screenshot(page, 'new-withdrawal-foot');
  await page.click('dialog button:has-text("Request withdrawal")');
  expect(await page.getByText('Fill this in.').count()).toBe(2);
  await page.getByLabel('Name of the holder').fill('Abebe Bikila');
  await page.fill('dialog input[type=tel]', '12');
  await page.click('dialog button:has-text("Request withdrawal")');
  await page.waitForSelector('p:text("An Ethiopian mobile number")');
  await page.fill('dialog input[type=tel]', '0911000001');
  await page.click('dialog button:has-text("Request withdrawal")');
  const row = page.locator('tbody tr', { hasText: 'Abebe Bikila' });
  await row.getByText('Under review').waitFor();
  expect(await available()).toBeCloseTo(before - 105.75);

  await row.locator('a').click();
  await page.click('dialog >> button:has-text("Cancel the withdrawal")');
  await page.locator('dialog').last().locator('button:has-text("Cancel the withdrawal")').click();
  await row.getByText('Cancelled').waitFor();
  expect(await available()).toBe(before);
  expect(problems).toEqual([]);
  await close();
}, 60_000);

test('an owner sets from which amount on a second person confirms, and confirms one that finance has requested', async () => {
  const owner = await portal.open('/test/withdrawals', { role: 'owner' });
  await confirmTwoFactor(portal.db, owner.email);
  await owner.page.waitForSelector('text=Withdrawals and refunds need no second person.');
  await owner.page.click('main >> button:text-is("Change")');
  await owner.page.fill('dialog input[inputmode=decimal]', '120');
  await owner.page.click('dialog >> button:text-is("Save")');
  await owner.page.waitForSelector('text=From 120.00 ETB on, a second person confirms');
  const { page, close } = await portal.open('/test/withdrawals', { role: 'finance' });
  expect(await page.locator('main >> button:text-is("Change")').isDisabled()).toBe(true);
  await page.click('button:has-text("New withdrawal")');
  await page.fill('dialog input[inputmode=decimal]', '120.14');
  await page.waitForSelector('dialog >> text=Another person has to confirm this withdrawal');
  await page.fill('dialog input[type=tel]', '0911000001');
  await page.getByLabel('Name of the holder').fill('Abebe Bikila');
  await page.click('dialog button:has-text("Request withdrawal")');
  await page.locator('tbody tr', { hasText: '120.14' }).getByText('To be confirmed').waitFor();
  await close();

  await owner.page.reload();
  const row = owner.page.locator('tbody tr', { hasText: '120.14' });
  await row.locator('a').click();
  await owner.page.click('dialog >> button:text-is("Confirm the withdrawal")');
  expect(await inspectScreen(owner, 'second-person')).toEqual([]);
  await owner.page.locator('dialog').last().locator('button:text-is("Confirm the withdrawal")').click();
  await row.getByText('Under review').waitFor();
  await owner.page.waitForSelector('dialog >> text=Confirmed by a second person');
  await owner.page.click('dialog >> button:has-text("Cancel the withdrawal")');
  await owner.page.locator('dialog').last().locator('button:has-text("Cancel the withdrawal")').click();
  await row.getByText('Cancelled').waitFor();
  // The other tests sign in as this owner without a code.
  await rows(portal.db, 'UPDATE user_account SET totp_enabled_at = NULL WHERE email = :email', { email: owner.email });
  await portal.db.transaction((trx) => setSecondPersonFrom(trx, portal.scope.merchantId, null));
  expect(owner.problems).toEqual([]);
  await owner.close();
}, 90_000);

test('an amount that a withdrawal cannot have is explained before it is requested', async () => {
  const { page, close } = await portal.open('/test/withdrawals', { role: 'finance' });
  await page.click('button:has-text("New withdrawal")');
  await page.fill('dialog input[inputmode=decimal]', '80000');
  await page.waitForSelector('dialog >> text=must be at most 75000.00 ETB');
  for (const typed of ['1.005', '100,50', '1,0000']) {
    await page.fill('dialog input[inputmode=decimal]', '1,000.50');
    await page.waitForSelector('dialog >> text=1,000.50 ETB');
    await page.fill('dialog input[inputmode=decimal]', typed);
    await page.waitForSelector('dialog >> text=An amount in birr');
  }
  await close();
}, 60_000);

test('the expected days of a settlement stand on the page before anything is typed, and are those of the request', async () => {
  const { page, problems, close } = await portal.open('/test/settlements', { role: 'owner' });
  const expected = await page.locator('main dd strong', { hasText: ' to ' }).innerText();
  const before = await available();
  await page.click('button:has-text("New settlement")');
  await page.click('dialog label:has-text("An amount")');
  await page.fill('dialog input[inputmode=decimal]', '150.14');
  await page.waitForSelector('dialog >> text=150.14 ETB');
  await page.click('dialog button:has-text("Request settlement")');
  const row = page.locator('tbody tr', { hasText: '150.14' });
  await row.getByText('Waits for approval').waitFor();
  await row.locator('a').click();
  await page.getByText('Closing balance').waitFor();
  expect(await page.locator('dialog dd strong').innerText()).toBe(expected);
  expect(await page.locator('dialog dl').last().innerText()).toContain(birr.format(before - 150.14));
  await page.click('dialog >> button:has-text("Cancel the settlement")');
  await page.locator('dialog').last().locator('button:has-text("Cancel the settlement")').click();
  await row.getByText('Cancelled').waitFor();
  expect(problems).toEqual([]);
  await close();
}, 60_000);

test('what is wrong with a new settlement or payment stands beside its field, and nowhere else', async () => {
  const { page, close } = await portal.open('/test/settlements', { role: 'owner' });
  await page.click('button:has-text("New settlement")');
  await page.getByLabel('Your reference').fill('');
  await page.click('dialog button:has-text("Request settlement")');
  await page.locator('dialog').getByText('1 to 64 letters').waitFor();
  expect(await page.locator('dialog [role=alert]').count()).toBe(0);
  await page.goto(`${portal.url}/test/transactions`);
  await page.click('button:text-is("New payment")');
  await page.getByLabel('Amount').fill('abc');
  await page.getByLabel('Phone of the customer').fill('12');
  await page.click('dialog button:text-is("Create")');
  await page.locator('dialog').getByText('An amount in birr: 100 or 99.50').waitFor();
  await page.locator('dialog').getByText('An Ethiopian mobile number').waitFor();
  expect(await page.locator('dialog [role=alert]').count()).toBe(0);
  await close();
}, 60_000);

test('each number of the balance opens the entries that it is the sum of', async () => {
  const { page, close } = await portal.open('/test/balance', { role: 'viewer' });
  const link = card(page, 'Available').locator('a');
  expect(number(await link.innerText())).toBe(await available());
  await link.click();
  await page.waitForURL('**/balance?account=available&allDays=true');
  await page.waitForSelector('tfoot dd');
  const [before, sum, after] = await page.locator('tfoot dd').allInnerTexts();
  expect([before, sum, after].map((text) => number(text ?? ''))).toEqual([0, await available(), await available()]);
  const newest = page.locator('table[aria-label="Entries of the available balance"] tbody tr').first();
  expect(number(await newest.locator('td').nth(2).innerText())).toBe(await available());
  const fees = card(page, 'Fees').locator('a');
  const charged = number(await fees.innerText());
  await fees.click();
  await page.waitForSelector('section[aria-label="Entries of the fees"] tfoot dd');
  const sums = await page.locator('tfoot dd').allInnerTexts();
  expect(sums.map((text) => number(text))).toEqual([0, charged, charged]);
  expect(charged).toBeGreaterThan(0);
  await card(page, 'Net settlements').locator('a').click();
  await page.waitForSelector('section[aria-label="Entries of the net settlements"]');
  await card(page, 'Reserved').locator('a').click();
  await page.waitForSelector('table[aria-label="Entries of the reserved balance"]');
  await page.click('tbody a:has-text("wd_")');
  await page.waitForSelector('dialog >> text=Abebe Bikila');
  await page.click('dialog >> text=Entries of the balance');
  await page.waitForSelector('text=/Entries of wd_.* only/');
  await page.locator('tbody tr').nth(1).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(2);
  await close();
}, 60_000);

test('a report has the rows that its sums on the page are of, and stays in the history', async () => {
  const { page, problems, close } = await portal.open('/test/reports?status=SUCCESS', { role: 'finance' });
  const foot = page.locator('tfoot');
  await foot.waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('button:has-text("Save as CSV")')]);
  const listed: Record<string, string>[] = parse(await readFile(await download.path(), 'utf8'), {
    columns: true,
    bom: true,
  });
  const sum = listed.reduce((total, row) => total + Math.round(Number(row['Amount']) * 100), 0) / 100;
  expect(await foot.innerText()).toContain(birr.format(sum));
  expect(number(await foot.locator('dd').first().innerText())).toBe(listed.length);
  const first = page.locator('table[aria-label=History] tbody tr').first();
  await first.getByText('Ready').waitFor();
  const [again] = await Promise.all([
    page.waitForEvent('download'),
    first.locator('button:has-text("Download")').click(),
  ]);
  expect(await readFile(await again.path())).toEqual(await readFile(await download.path()));
  await page.getByLabel('Calendar').selectOption('ethiopian');
  await page.waitForURL('**calendar=ethiopian**');
  expect(await page.locator('main strong').first().innerText()).toMatch(/20(18|19)|1[0-9] /);
  expect(problems).toEqual([]);
  await page.route('**/reports/*/file', (route) => route.abort());
  await page.click('button:has-text("Save as XLSX")');
  await page.waitForSelector('text=The server cannot be reached');
  await close();
}, 60_000);

test('on a narrow screen the numbers of a row have the headers of their columns', async () => {
  const { page, close } = await portal.open('/test/withdrawals', { role: 'finance', viewport: WIDTHS[0] });
  // The list is in sight first.
  await page.locator('tbody a[data-row]').first().waitFor();
  expect(await page.locator('details', { hasText: 'Limits' }).getAttribute('open')).toBeNull();
  await page.click('summary >> text=Limits');
  await page.waitForSelector('td[data-label="Left today"]');
  const label = `getComputedStyle(document.querySelector('td[data-label="Left today"]'), '::before').content`;
  expect(await page.evaluate(label)).toBe('"Left today"');
  expect(await page.locator('th:text-is("Amount (ETB)")').count()).toBe(1);
  expect(await page.locator('td[data-label="Amount (ETB)"]').count()).toBe(0);
  await close();
});

test('people see and use what their role has, and read whom to ask for the rest', async () => {
  const viewer = await portal.open('/test/withdrawals', { role: 'viewer' });
  expect(await viewer.page.locator('button:has-text("New withdrawal")').isDisabled()).toBe(true);
  await viewer.page.waitForSelector('text=Ask somebody with the role owner or finance');
  await viewer.close();
  const developer = await portal.open('/test/overview');
  await developer.page.waitForSelector('text=Success by channel');
  const entries = await developer.page.locator('#sidebar a').allInnerTexts();
  expect(entries).toEqual(expect.arrayContaining(['Overview', 'Transaction', 'Reports']));
  expect(entries).not.toContain('Balance');
  expect(developer.problems).toEqual([]);
  await developer.close();
}, 60_000);

test.each(['en', 'am'] as const)(
  'the screens of money have no fault of accessibility and no error, in %s',
  async (language) => {
    const tab = await portal.open('/test/overview', { language, role: 'owner' });
    const found: string[] = [];
    for (const [name, path] of Object.entries(SCREENS)) {
      await visit(tab.page, path);
      found.push(...(await inspectScreen(tab, `portal-${name}-${language}`)));
    }
    expect(found).toEqual([]);
    expect(tab.problems).toEqual([]);
    await tab.close();
  },
  240_000,
);
