import type { Page } from 'playwright-core';

import { addisDay } from '../../src/lib/dates.ts';
import { first } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { markSent } from '../../src/settlements/bank-results.ts';
import { approveSettlement } from '../../src/settlements/decide.ts';
import { readSettlement } from '../../src/settlements/queries.ts';
import { codeOf } from '../portal/console.ts';
import { PASSWORD } from '../portal/portal.ts';
import { runResendBatches } from '../support/resend-jobs.ts';
import { requestSettlement } from '../support/settlements.ts';
import { openTab } from './browser.ts';
import { buildFailedDelivery, buildUnknownRefund, FAILED_ORDER, OTHER_FAILED_ORDER, useConsole } from './console.ts';

describe('the console of operators', () => {
  const console = useConsole();

  const fillReason = async (page: Page, reason: string): Promise<void> =>
    page.getByRole('textbox', { name: 'Reason' }).fill(reason);

  test('a failed delivery is found by its order number and resent with at most three clicks', async () => {
    const { page, problems, close, operator } = await console.open('/test/overview');
    await page.waitForSelector('dd:text-is("0 secs")');
    let clicks = 0;
    const click = async (selector: string): Promise<void> => {
      clicks += 1;
      await page.click(selector);
    };
    await click('[type=search]');
    await page.keyboard.type(FAILED_ORDER);
    await page.keyboard.press('Enter');
    await page.locator('main tr', { hasText: 'Delivery' }).getByText('Failed', { exact: true }).first().waitFor();
    await click('main button:text-is("Resend")');
    await page.keyboard.type('Their server is back');
    await click('dialog button:text-is("Resend")');
    await page.waitForSelector('text=Resent: the new attempt appears in the log.');
    expect(clicks).toBeLessThanOrEqual(3);
    const resent = await first(
      console.db,
      `SELECT d.status, d.resend_reason, a.operator_id, a.reason FROM webhook_delivery d
       JOIN operator_audit a ON a.resource_id = d.id WHERE d.id = :deliveryId`,
      console,
    );
    const reason = 'Their server is back';
    expect(resent).toEqual({ status: 'PENDING', resendReason: reason, operatorId: operator.operatorId, reason });
    expect(problems).toEqual([]);
    await close();
  });

  test('all deliveries that match a filter are counted, resent with a reason, and their progress is shown', async () => {
    const path = `/test/deliveries?checkoutOrderNo=${OTHER_FAILED_ORDER}`;
    const { page, problems, close } = await console.open(path);
    const button = page.locator('main button:text-is("Resend all that match")');
    expect(await button.isDisabled()).toBe(true);
    await page.waitForSelector('text=Filter by one of the states Dead letter, Failed or Skipped first.');
    await page.goto(`${console.consoleUrl}${path}&status=DEAD_LETTER`);
    await button.click();
    await page.waitForSelector('text=Deliveries that match: 1');
    await fillReason(page, 'The receiver is back');
    await page.click('dialog button:text-is("Resend them")');
    await page.waitForSelector('text=Running');
    const { db, runInTransaction } = console.fixture;
    await runResendBatches({ db, runInTransaction, clock: () => new Date(Date.now() + 60_000) }, 20);
    await page.waitForSelector('dd:text-is("1") >> nth=1');
    await page.click('dialog button:text-is("Stop")');
    await page.waitForSelector('text=Stopped');
    expect(problems).toEqual([]);
    await close();
  });

  test('a list is narrowed to a merchant by a part of the name', async () => {
    const { page, problems, close } = await console.open('/test/deliveries');
    await page.click('main button:has-text("Merchant")');
    const field = page.getByLabel('Part of the name, or the id');
    await field.fill('no such name');
    await page.waitForSelector('text=No merchant has this name or id.');
    await field.fill('abyss');
    await page.click('button:text-is("Abyssinia Coffee")');
    await page.waitForSelector('main button:has-text("Merchant"):has-text("Abyssinia Coffee")');
    expect(new URL(page.url()).searchParams.get('merchantId')).toBe(console.scope.merchantId);
    await page.waitForSelector(`tbody tr:has-text("${FAILED_ORDER}")`);
    expect(problems).toEqual([]);
    await close();
  });

  test('a role has only its own commands, and reads whom to ask for the others', async () => {
    const { page, problems, close } = await console.open('/live/queue?kind=KYC', {
      expected: /status of 403/,
    });
    await page.click('tbody a');
    const approve = page.locator('dialog button:text-is("Approve")');
    await approve.waitFor();
    expect(await approve.isDisabled()).toBe(true);
    await page.waitForSelector('text=Ask somebody with the role admin');
    await page.goto(`${console.consoleUrl}/test/queue?kind=SETTLEMENT_APPROVAL`);
    await page.click('tbody a');
    await page.waitForSelector('text=Ask somebody with the role finance');
    await page.goto(`${console.consoleUrl}/test/operators`);
    expect(await page.locator('main button:text-is("New operator")').isDisabled()).toBe(true);
    expect(problems).toEqual([]);
    await close();
  });

  test('an operator signs in with a code, approves an application from the queue, and signs out', async () => {
    const { consoleUrl, scope } = console;
    const known = await console.open('/live/queue', { role: 'admin' });
    const { email, secret } = known.operator;
    await known.close();
    const { page, problems, close } = await openTab(console.browser, { origins: [consoleUrl] });
    await page.goto(`${consoleUrl}/live/queue`);
    await page.waitForURL('**/sign-in?**');
    await page.fill('[name=email]', email);
    await page.fill('[name=password]', PASSWORD);
    await page.press('[name=password]', 'Enter');
    await page.fill('[name=code]', codeOf(secret, 1));
    await page.press('[name=code]', 'Enter');
    await page.waitForURL(`${consoleUrl}/live/queue`);
    await page.click('text=Application to decide');
    await page.waitForSelector('text=What the merchant declares');
    await page.waitForSelector('text=Abyssinia Coffee Trading PLC');
    await page.click('dialog button:text-is("Approve")');
    await page.getByRole('textbox', { name: 'Tier' }).fill('nothing');
    await page.click('dialog dialog button:text-is("Approve")');
    await page.waitForSelector('text=A whole number.');
    await page.getByRole('textbox', { name: 'Tier' }).fill('1');
    await fillReason(page, 'The documents agree');
    await page.click('dialog dialog button:text-is("Approve")');
    await page.waitForSelector('text=Nothing waits for an operator.');
    const decided = await first(
      console.db,
      `SELECT status, tier FROM kyc_application WHERE merchant_id = :merchantId AND environment = 'live'`,
      scope,
    );
    expect(decided).toEqual({ status: 'APPROVED', tier: 1 });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.click('text=Sign out');
    await page.waitForURL('**/sign-in');
    expect(problems.filter((problem) => !problem.includes('status of 401'))).toEqual([]);
    await close();
  });

  test('finance approves a settlement, and its history names who did', async () => {
    const { page, problems, close } = await console.open('/test/settlements', { role: 'finance' });
    await page.click('tbody a');
    await page.click('dialog button:text-is("Approve")');
    await page.click('dialog dialog button:text-is("Approve")');
    await page.waitForSelector('dialog button:text-is("Mark as sent")');
    await page.waitForSelector('text=Decisions of operators');
    await page.waitForSelector('text=The finance');
    expect(problems).toEqual([]);
    await close();
  });

  test('finance records what a refund came to in its own words, and its audit row leads to it', async () => {
    const { refundId, transactionId } = await buildUnknownRefund(console, 'R-JOURNEY');
    const { page, problems, close } = await console.open('/test/refunds?stage=UNKNOWN', { role: 'finance' });
    await page.locator('tbody tr', { hasText: 'R-JOURNEY' }).getByText('40.00').waitFor();
    await page.goto(`${console.consoleUrl}/test/refunds/${refundId}`);
    await page.locator('dd', { hasText: 'CBE Birr' }).waitFor();
    await page.locator('dd', { hasText: 'no usable answer' }).waitFor();
    expect(await page.locator(`main a[href$="/transactions/${transactionId}"]`).count()).toBe(1);
    await page.click('main button:text-is("Record the outcome")');
    const outcome = page.locator('dialog select');
    expect((await outcome.locator('option').allTextContents()).filter((one) => one.includes(':'))).toEqual([
      'Refunded: the payer has the money',
      'Not refunded: the payer has none of it',
    ]);
    await outcome.selectOption('FAILED');
    await page.getByRole('textbox', { name: 'Reference of the provider' }).fill('CASE-1');
    await fillReason(page, 'Never made');
    await page.click('dialog button:text-is("Record the outcome")');
    await page.waitForSelector('text=Decisions of operators');
    const codes = /Santim|refundId|awaitsConfirmation|\b(?:FAILED|COMPLETED|UNKNOWN)\b/;
    expect(await page.locator('main').innerText()).not.toMatch(codes);
    await page.goto(`${console.consoleUrl}/test/audit?resourceId=${refundId}`);
    await page.click('tbody a');
    const drawer = page.locator('dialog');
    await drawer.locator(`a[href$="/refunds/${refundId}"]`).waitFor();
    expect(await drawer.innerText()).not.toMatch(codes);
    expect(problems).toEqual([]);
    await close();
  });

  test('the lines of a bank file are previewed, with what is wrong, and booked once', async () => {
    const { page, problems, close } = await console.open('/test/settlements', { role: 'finance' });
    const { id } = await requestSettlement(console.fixture, console.scope, { amount: 4_000n });
    const operator = { operatorId: 'opr_1', at: new Date() };
    await console.fixture.runInTransaction((tx) => approveSettlement(tx, id, operator));
    await console.fixture.runInTransaction((tx) => markSent(tx, id, { ...operator, operatorId: 'opr_2' }));
    const [heading, day] = ['settlementId,result,bankReference,date,reason', addisDay(new Date())];
    const lines = [heading, `${id},credited,FT-77,${day},`, `${newId('stl')},failed,,,Closed`].join('\n');
    await page.click(`button:has-text("Bank's file")`);
    await page.setInputFiles('input[type=file]', {
      name: 'bank.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(lines),
    });
    await page.waitForSelector('dialog >> text=1 will be booked, 0 were booked before, 1 are wrong.');
    await page.waitForSelector('dialog tbody tr:has-text("3") >> text=Settlement not found');
    await page.getByRole('button', { name: 'Book these lines' }).dblclick();
    await page.waitForSelector('dialog >> text=1 are booked, 0 were booked before, 1 are wrong.');
    expect((await readSettlement(console.db, id)).status).toBe('COMPLETED');
    expect(problems).toEqual([]);
    await close();
  });

  test('addresses without an environment, and what is of the other one, lead to the right page', async () => {
    const { page, close } = await console.open('/test/overview');
    await page.goto(`${console.consoleUrl}/deliveries/${console.deliveryId}`);
    await page.waitForURL(`**/test/deliveries/${console.deliveryId}`);
    await page.goto(`${console.consoleUrl}/live/deliveries/${console.deliveryId}`);
    await page.click('text=open it there');
    await page.waitForURL(`**/test/deliveries/${console.deliveryId}`);
    await page.goto(`${console.consoleUrl}/test/events/${console.eventId}`);
    await page.waitForSelector('text=Attempt 1');
    await close();
  });

  test('the rows of a list stay in place while changes arrive, until the operator shows the new ones', async () => {
    const { page, problems, close } = await console.open('/test/deliveries');
    page.setDefaultTimeout(40_000);
    const firstRow = async (): Promise<string> => page.locator('tbody tr').first().innerText();
    const before = await firstRow();
    await buildFailedDelivery(console, 'ABY-02961');
    await page.click('button:has-text("1 new")', { trial: true });
    expect(await firstRow()).toBe(before);
    await page.click('button:has-text("1 new")');
    await page.waitForSelector('tbody tr:first-child:has-text("ABY-02961")');
    expect(problems).toEqual([]);
    await close();
  }, 60_000);
});
