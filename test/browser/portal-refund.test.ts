import { readFile } from 'node:fs/promises';

import { parse } from 'csv-parse/sync';

import { readBalance } from '../../src/ledger/balance.ts';
import { toBirr } from '../../src/lib/money.ts';
import { setSecondPersonFrom } from '../../src/merchants/operations.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { createRefund } from '../../src/payouts/refunds/create.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import { DECLINED, returned } from '../payouts/refunds/fixture.ts';
import { confirmTwoFactor } from '../portal/portal.ts';
import { buildAttempt, buildSession, PAID } from '../support/build.ts';
import { returnFeesOnRefund } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { until } from '../support/until.ts';
import { buildLive } from '../support/withdrawals.ts';
import { WIDTHS } from './browser.ts';
import { inspectScreen, usePortal } from './portal.ts';

const portal = usePortal({ payments: 8 });

const available = async (): Promise<number> => toBirr((await readBalance(portal.db, portal.scope)).availableSantim);

async function transactionOf(checkoutOrderNo: string): Promise<string> {
  const row = await portal.db.knex()('transaction').where({ checkoutOrderNo }).first('id');
  return row.id;
}

beforeAll(() => returnFeesOnRefund(portal.database));

/** The provider reports the outcome of the only pending refund. */
async function report(outcome: typeof DECLINED): Promise<void> {
  const { id } = await portal.db.knex()('payout').where({ kind: 'refund', status: 'PENDING' }).first('id');
  portal.fixture.provider.returnsForRefunds(outcome);
  await createCheck(portal.fixture, REFUND)(id, { minIntervalMs: 0, notifyWorkflow: false });
}

test.each(WIDTHS)(
  'an admin refunds a payment in parts on its page ($width pixels wide)',
  async (viewport) => {
    const { width } = viewport;
    // 150.25 and 200.50 ETB.
    const id = await transactionOf(viewport === WIDTHS[0] ? 'ORDER-1' : 'ORDER-2');
    const tab = await portal.open(`/test/transactions/${id}`, { role: 'admin', viewport, expected: /status of 422/ });
    const { page, problems, close } = tab;
    const before = await available();
    await page.click('button:text-is("Refund")');
    const dialog = page.locator('dialog').last();
    const amount = dialog.locator('input[inputmode=decimal]');
    expect(Number(await amount.inputValue())).toBeGreaterThan(150);
    await amount.fill('900');
    await dialog.locator('button:text-is("Refund")').click();
    await dialog.getByText(width === WIDTHS[0].width ? 'At most 1' : 'At most 2').waitFor();
    await amount.fill('40');
    await dialog.getByLabel('Reason').fill('A broken cup');
    await dialog.getByLabel('Take the fee of the payment back').check();
    await dialog.getByText('The customer gets 40.00 ETB back over telebirr').waitFor();
    expect(await inspectScreen(tab, `refund-dialog-${width}`)).toEqual([]);
    await dialog.locator('button:text-is("Refund")').dblclick();
    await page.locator('li', { hasText: '40.00 ETB' }).getByText('A broken cup').waitFor();
    // 2.5 % of 40 birr and 15 % tax on it come back.
    expect(await available()).toBeCloseTo(before - 38.85);
    await report(returned(40_00n));
    // It appears without a reload.
    await page.locator('li', { hasText: '40.00 ETB' }).getByText('Refunded', { exact: true }).first().waitFor();
    await page.getByText('Event payment.succeeded').waitFor();
    await page.getByText('Event refund.succeeded').waitFor();
    expect(await inspectScreen(tab, `refunds-${width}`)).toEqual([]);

    await page.click('button:text-is("Refund")');
    await dialog.locator('button:text-is("Refund")').click();
    await page.waitForSelector('button[type=submit]:text-is("Refund")', { state: 'detached' });
    await page.locator('ul > li', { hasText: 'A broken cup' }).locator('xpath=../li[2]').waitFor();
    expect(await page.locator('button:text-is("Refund")').isDisabled()).toBe(true);
    await page.waitForSelector('text=The whole payment is refunded or being refunded.', { state: 'attached' });
    await report(DECLINED);
    expect(await available()).toBeCloseTo(before - 38.85);
    await page.getByText('The provider declined the refund.').first().waitFor();
    expect(await inspectScreen(tab, `refund-failed-${width}`)).toEqual([]);
    expect(problems).toEqual([]);
    await close();
    await expectLedgerHolds(portal.db);
  },
  90_000,
);

test.each(WIDTHS)(
  'the sums of transactions, of reports and on the overview have what was refunded ($width pixels wide)',
  async (viewport) => {
    const shown = [
      ['transactions', 'Net after refunds'],
      ['reports?period=month', 'Fee and tax returned'],
      ['overview', '80.00 ETB of it refunded'],
    ] as const;
    for (const [path, words] of shown) {
      const tab = await portal.open(`/test/${path}`, { role: 'owner', viewport });
      await tab.page.getByText(words).locator('visible=true').first().waitFor();
      expect(await inspectScreen(tab, `refunded-${path.slice(0, 8)}-${viewport.width}`)).toEqual([]);
      expect(tab.problems).toEqual([]);
      await tab.close();
    }
  },
  60_000,
);

test.each(WIDTHS)(
  'the refunds of all payments are listed by status, and open their payment ($width pixels wide)',
  async (viewport) => {
    const tab = await portal.open('/test/overview', { role: 'owner', viewport });
    const { page, problems, close } = tab;
    await page.goto(`${portal.url}/test/refunds?status=FAILED,SUCCESS`);
    await page.locator('tbody tr').nth(3).waitFor();
    expect(await inspectScreen(tab, `refunds-list-${viewport.width}`)).toEqual([]);
    await page.goto(`${portal.url}/test/refunds?status=SUCCESS&channel=TELEBIRR`);
    await page.waitForSelector('text=1–2');
    expect(await page.locator('tbody tr').count()).toBe(2);
    await page.locator('tbody tr a').first().click();
    await page.locator('[role=dialog], dialog, aside').getByText('A broken cup').first().waitFor();
    const { id } = await portal.db.knex()('payout').where({ kind: 'refund', status: 'FAILED' }).first('id');
    await page.goto(`${portal.url}/test/refunds?search=none&open=${id}`);
    await page.getByText('The provider declined the refund.').first().waitFor();
    expect(problems).toEqual([]);
    await close();
  },
  60_000,
);

test('sent again after a lost answer, it is the same refund, and says so', async () => {
  const id = await transactionOf('ORDER-7');
  const tab = await portal.open(`/test/transactions/${id}`, { role: 'admin', expected: /ERR_FAILED|status of 409/ });
  const { page, problems, close } = tab;
  const dialog = page.locator('dialog').last();
  const open = () => page.click('button:text-is("Refund")');
  const send = () => dialog.locator('button:text-is("Refund")').click();
  const refunds = () => portal.db.knex()('payout').where({ transactionId: id }).select('amountSantim', 'status');
  // The request arrives, its answers and what is read afterwards do not.
  let isCut = true;
  await page.route(/\/api\//, async (route) => {
    if (!isCut) return route.continue();
    if (route.request().method() === 'POST') await route.fetch();
    return route.abort();
  });
  await open();
  await dialog.getByLabel('Amount').fill('40');
  await send();
  await dialog.locator('[role=alert]').first().waitFor({ timeout: 30_000 });
  await page.keyboard.press('Escape');
  expect(await refunds()).toHaveLength(1);
  await open();
  expect(await dialog.getByLabel('Amount').inputValue()).toBe('40');
  isCut = false;
  await dialog.getByLabel('Amount').fill('50');
  await send();
  await dialog.getByText(/A refund of 40.00 ETB was requested under the reference R-/).waitFor();
  expect(await inspectScreen(tab, 'refund-requested-before')).toEqual([]);
  await dialog.getByText('Close', { exact: true }).click();
  expect(await refunds()).toEqual([{ amountSantim: 40_00n, status: 'PENDING' }]);
  // A further one has another reference.
  await open();
  await dialog.getByLabel('Amount').fill('10');
  await send();
  await page.locator('li', { hasText: '10.00 ETB' }).getByText('About to be sent').waitFor();
  expect(await refunds()).toHaveLength(2);
  expect(problems).toEqual([]);
  await close();
}, 90_000);

test('sent again after a lost request and a reload, a refund has the same reference', async () => {
  const id = await transactionOf('ORDER-6');
  const tab = await portal.open(`/test/transactions/${id}`, { role: 'admin', expected: /ERR_FAILED/ });
  const { page, problems, close } = tab;
  const dialog = page.locator('dialog').last();
  const references: string[] = [];
  let isCut = true;
  await page.route(/\/refunds$/, async (route) => {
    references.push(route.request().postDataJSON().reference);
    return isCut ? route.abort() : route.continue();
  });
  await page.click('button:text-is("Refund")');
  await dialog.getByLabel('Amount').fill('40');
  await dialog.locator('button:text-is("Refund")').click();
  await dialog.locator('[role=alert]').first().waitFor({ timeout: 30_000 });
  isCut = false;
  await page.reload();
  await page.click('button:text-is("Refund")');
  expect(await dialog.getByLabel('Amount').inputValue()).toBe('40');
  await dialog.locator('button:text-is("Refund")').click();
  await page.locator('li', { hasText: '40.00 ETB' }).getByText('About to be sent').waitFor();
  await dialog.waitFor({ state: 'detached' });
  expect(new Set(references).size).toBe(1);
  // After its answer a further one has another reference.
  await page.reload();
  await page.click('button:text-is("Refund")');
  expect(await dialog.getByLabel('Amount').inputValue()).not.toBe('40');
  await dialog.locator('button:text-is("Refund")').click();
  await page.waitForSelector('button[type=submit]:text-is("Refund")', { state: 'detached' });
  expect(new Set(references).size).toBe(2);
  expect(problems).toEqual([]);
  await close();
}, 90_000);

test('from the set amount on another person confirms a refund; who may not refund reads why', async () => {
  await portal.db.transaction((trx) => setSecondPersonFrom(trx, portal.scope.merchantId, 50_00n));
  const transactionId = await transactionOf('ORDER-3');
  const path = `/test/transactions/${transactionId}`;
  const admin = await portal.open(path, { role: 'admin' });
  await admin.page.click('button:text-is("Refund")');
  const dialog = admin.page.locator('dialog').last();
  await dialog.getByText('Another person has to confirm this refund').waitFor();
  await dialog.locator('button:text-is("Refund")').click();
  await admin.page.getByText('To be confirmed').first().waitFor();

  const owner = await portal.open('/test/overview', { role: 'owner', language: 'am' });
  await owner.page.click('li:has-text("ማረጋገጫ የሚጠብቁ ተመላሽ ክፍያዎች") a');
  await owner.page.click('tbody tr:has-text("250.75") a');
  await owner.page.click('button:text-is("ተመላሽ ክፍያውን ያረጋግጡ")');
  expect(await inspectScreen(owner, 'refund-confirm-amharic')).toEqual([]);
  await owner.page.locator('dialog').last().locator('button:text-is("ተመላሽ ክፍያውን ያረጋግጡ")').click();
  await owner.page.waitForSelector('button:text-is("ተመላሽ ክፍያውን ያረጋግጡ")', { state: 'detached' });
  await until('the focus on a heading', () => owner.page.evaluate<boolean>('document.activeElement.matches("h1, h2")'));
  expect(await portal.db.knex()('payout').where({ transactionId }).first('stage')).toEqual({ stage: 'CREATED' });

  const developer = await portal.open(`/test/transactions/${await transactionOf('ORDER-6')}`);
  const button = developer.page.locator('button:text-is("Refund")');
  await button.waitFor();
  expect(await button.isDisabled()).toBe(true);
  expect([admin, owner, developer].flatMap(({ problems }) => problems)).toEqual([]);
  for (const { close } of [admin, owner, developer]) await close();
}, 90_000);

test.each(['en', 'am'] as const)(
  'the report of refunds has sums of the rows of its file, in %s',
  async (language) => {
    const tab = await portal.open('/test/reports?kind=refunds', { role: 'owner', language });
    const { page, problems, close } = tab;
    await page.locator('tfoot').waitFor();
    expect(await inspectScreen(tab, `report-of-refunds-${language}`)).toEqual([]);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('button:has-text("CSV")')]);
    const listed: Record<string, string>[] = parse(await readFile(await download.path(), 'utf8'), {
      columns: true,
      bom: true,
    });
    const shown = await page.locator('tfoot dd').allInnerTexts();
    const [count, ...sums] = shown.map((text) => Number(text.replaceAll(/[^\d.]/g, '')));
    expect(count).toBe(listed.length);
    for (const [index, name] of ['Amount', 'Paid Amount', 'Fee Returned', 'Total Debit'].entries()) {
      const names = name === 'Fee Returned' ? [name, 'Fee Tax Returned'] : [name];
      const cells = listed.flatMap((row) => names.map((one) => Math.round(Number(row[one]) * 100)));
      const total = cells.reduce((sum, santim) => sum + santim, 0);
      expect([name, total > 0, sums[index]]).toEqual([name, true, total / 100]);
    }
    expect(problems).toEqual([]);
    await close();
  },
  60_000,
);

test('in live who has requested a refund or a withdrawal reads why another person has to confirm it', async () => {
  await portal.db.transaction((trx) => setSecondPersonFrom(trx, portal.scope.merchantId, 50_00n));
  const live = await buildLive(portal.db, portal.scope);
  const { fixture } = portal;
  const { sessionId, transactionId } = await buildSession(fixture, live, { amountSantim: 500_00n });
  const attemptId = await buildAttempt(fixture, { ...live, sessionId });
  fixture.provider.returns({ ...PAID, amountSantim: 500_00n });
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  const owner = await portal.open('/test/overview', { role: 'owner' });
  await confirmTwoFactor(portal.db, owner.email);
  const { id: requestedBy } = await portal.db.knex()('user_account').where({ email: owner.email }).first('id');
  const wanted = { transactionId, reference: 'LIVE-1', amountSantim: 60_00n, returnFee: false, requestedBy };
  await fixture.runInTransaction((tx) => createRefund({ ...fixture, tx }, live, wanted));
  const destination = { kind: 'phone', phone: '251911000001', accountName: 'Abebe Bikila' } as const;
  const payout = { requestId: 'LIVE-2', amountSantim: 100_00n, channel: 'TELEBIRR', destination, requestedBy } as const;
  const { row } = await fixture.runInTransaction((tx) => createWithdrawal({ ...fixture, tx }, live, payout));

  const shown = [
    [`transactions/${transactionId}`, 'Confirm the refund'],
    [`withdrawals?open=${row.id}`, 'Confirm the withdrawal'],
  ] as const;
  for (const [path, label] of shown) {
    await owner.page.goto(`${portal.url}/live/${path}`);
    const button = owner.page.locator(`button:text-is("${label}")`);
    await owner.page
      .getByText('You have requested it: another person has to confirm it.')
      .first()
      .waitFor({ state: 'attached' });
    expect(await button.isDisabled()).toBe(true);
    expect(await inspectScreen(owner, `own-${path.slice(0, 8)}`)).toEqual([]);
  }
  expect(owner.problems).toEqual([]);
  await owner.close();
  await expectLedgerHolds(portal.db);
}, 90_000);
