import type { Page } from 'playwright-core';

import { addisDay, addDays } from '../../src/lib/dates.ts';
import { first } from '../../src/lib/db.ts';
import { until } from '../support/until.ts';
import { screenshot, WIDTHS } from './browser.ts';
import { FAILED_ORDER, useConsole } from './console.ts';

const [NARROW, WIDE] = WIDTHS;

describe('the console of operators', () => {
  const console = useConsole();

  const fillReason = async (page: Page, reason: string): Promise<void> =>
    page.getByRole('textbox', { name: /^Reason(?! in)/ }).fill(reason);

  test('a dead letter that needs no resend is closed with a reason, and is listed as such', async () => {
    const { page, problems, close } = await console.open(`/test/deliveries?checkoutOrderNo=${FAILED_ORDER}`);
    await page.click('tbody a');
    await page.click('dialog button:text-is("Close without a resend")');
    await fillReason(page, 'They booked it by hand');
    await page.click('dialog dialog button:text-is("Close without a resend")');
    await page.waitForSelector('text=An operator decided that it needs no resend.');
    await page.waitForSelector('text=They booked it by hand');
    await page.goto(`${console.consoleUrl}/test/deliveries?status=DISMISSED`);
    await page.waitForSelector(`tbody tr:has-text("${FAILED_ORDER}") >> text=Closed without a resend`);
    await page.goto(`${console.consoleUrl}/test/deliveries?checkoutOrderNo=${FAILED_ORDER}&status=DEAD_LETTER`);
    await page.waitForSelector('text=Nothing matches these filters.');
    expect(problems).toEqual([]);
    await close();
  });

  test('the queue names the merchant of each item', async () => {
    const { page, problems, close } = await console.open('/test/queue');
    await page.waitForSelector('tbody tr:has-text("Abyssinia Coffee")');
    expect(problems).toEqual([]);
    await close();
  });

  test('a maintenance window is announced in the time of Addis Ababa, shown with who did, and cancelled', async () => {
    const { page, problems, close } = await console.open('/test/maintenance', { role: 'admin' });
    const day = addDays(addisDay(new Date()), 2);
    await page
      .locator('main div', { hasText: /^telebirrAnnounce a window$/ })
      .getByRole('button')
      .click();
    await page.waitForSelector('dialog h2:text-is("Announce a window: telebirr")');
    await page.getByLabel('Begins').fill(`${day}T02:00`);
    await page.getByLabel('Ends').fill(`${day}T04:30`);
    await fillReason(page, 'Planned work');
    await page.click('dialog button:text-is("Announce a window")');
    await page.waitForSelector('tbody tr:has-text("telebirr") >> text=Announced');
    const sql = 'SELECT starts_at, ends_at FROM channel_maintenance';
    const planned = await first<{ startsAt: Date; endsAt: Date }>(console.db, sql);
    expect(planned).toEqual({ startsAt: new Date(`${day}T02:00+03:00`), endsAt: new Date(`${day}T04:30+03:00`) });
    await page.click('tbody a');
    await page.waitForSelector('dialog >> text=The admin');
    // Another window of the channel has another title.
    await page.waitForSelector('dialog h2:has-text("telebirr from"):has-text(", 02:00")');
    await page.click('dialog button:text-is("End or cancel")');
    await page.waitForSelector('dialog dialog h2:has-text("End or cancel: telebirr from"):has-text(", 02:00")');
    await page.click('dialog dialog button:text-is("End or cancel")');
    await page.waitForSelector('tbody tr:has-text("telebirr") >> text=Cancelled');
    expect(problems).toEqual([]);
    await close();
  });

  test.each(['maintenance', 'discrepancies', 'operators', 'audit'])(
    'an address of %s whose row is not on the page says so',
    async (list) => {
      const { page, problems, close } = await console.open(`/test/${list}?open=xyz_unknown`, { role: 'admin' });
      await page.waitForSelector('dialog h2:text-is("Not on this page")');
      await page.waitForSelector('dialog >> text=Clear the filters');
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { state: 'detached' });
      expect(problems).toEqual([]);
      await close();
    },
  );

  test('an operator creates a key of their own, which is shown once, and revokes it', async () => {
    const { page, problems, close } = await console.open('/test/keys');
    await page.waitForSelector('text=You have no key.');
    await page.click('main button:text-is("New key")');
    await page.getByLabel('Name of the key').fill('Laptop');
    await page.click('dialog button:text-is("New key")');
    const secret = await page.locator('dialog pre').innerText();
    expect(secret).toMatch(/^ok_/);
    const me = await fetch(`${console.consoleUrl}/api/ops/me`, { headers: { 'x-api-key': secret } });
    expect(me.status).toBe(200);
    await page.keyboard.press('Escape');
    await page.reload();
    await page.waitForSelector('tbody tr:has-text("Laptop") >> text=valid');
    expect(await page.content()).not.toContain(secret);
    await page.click('tbody button:text-is("Revoke")');
    await fillReason(page, 'Lost');
    await page.click('dialog button:text-is("Revoke")');
    await page.waitForSelector('tbody tr:has-text("Laptop") >> text=revoked');
    expect(problems).toEqual([]);
    await close();
  });

  test("a merchant's own credentials at a provider are shown by their state, without values, to admins only", async () => {
    const { merchantId } = console.scope;
    await console.database.asOwner(`
      INSERT INTO provider_credential (id, merchant_id, channel, credentials, account, identifiers, created_by, created_at)
      VALUES ('pcr_1', '${merchantId}', 'TELEBIRR', '\\x00', '200001', '{}', 'opr_unknown', now())`);
    const { page, problems, close } = await console.open(`/live/merchants/${merchantId}`, {
      role: 'admin',
      viewport: WIDE,
    });
    const set = page.locator('main li', { hasText: '200001' });
    await set.getByText('To activate').waitFor();
    await set.getByRole('button', { name: 'Activate' }).waitFor();
    await set.getByRole('button', { name: 'Revoke' }).click();
    await fillReason(page, 'Entered by mistake');
    await page.click('dialog button:text-is("Revoke")');
    await set.getByText('Revoked').waitFor();
    expect(problems).toEqual([]);
    await close();
    const other = await console.open(`/live/merchants/${merchantId}`);
    await other.page.waitForSelector('main h2:text-is("API keys")');
    expect(await other.page.getByText('Credentials of its own account').count()).toBe(0);
    await other.close();
  });

  test('the sections of a merchant begin closed on a telephone, and open on a desk', async () => {
    const path = `/test/merchants/${console.scope.merchantId}`;
    const { page, problems, close } = await console.open(path, { viewport: NARROW });
    const fees = page.locator('main table[aria-label=Fees]');
    await fees.waitFor({ state: 'attached' });
    expect(await fees.isVisible()).toBe(false);
    await page.click('main summary:has-text("Fees")');
    await fees.waitFor();
    await page.setViewportSize(WIDE);
    await page.reload();
    await fees.waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  test('a proposal and the audit log have their changes in words', async () => {
    const { merchantId } = console.scope;
    const { page, problems, close } = await console.open(`/test/merchants/${merchantId}`, {
      role: 'admin',
      viewport: WIDE,
    });
    await page.getByRole('button', { name: 'Change: Payments, telebirr' }).first().click();
    await page.getByLabel('Rate in hundredths of a percent').fill('275');
    await fillReason(page, 'Agreed in the contract');
    await page.click('dialog button:text-is("Change")');
    await page.waitForSelector('text=Proposed: another operator has to confirm it.');
    await page.goto(`${console.consoleUrl}/test/proposals`);
    await page.click('tbody a:text-is("Fees changed")');
    await page.waitForSelector('dialog h2:text-is("Proposal: Fees changed, Abyssinia Coffee")');
    const rate = page.locator('dialog tr', { hasText: 'Payments, telebirr: Rate' });
    expect(await rate.innerText()).toMatch(/2\.5 %\s+2\.75 %/);
    await page.goto(`${console.consoleUrl}/test/audit?action=proposal.create`);
    await page.click('tbody tr:has-text("Proposed") a');
    await page.waitForSelector('dialog tr:has-text("Action") >> text=Fees changed');
    expect(problems).toEqual([]);
    await close();
  });

  test('what is about a merchant has its name in its title', async () => {
    const { page, problems, close } = await console.open('/test/merchants', { role: 'admin' });
    await page.click('tbody a');
    await page.waitForSelector('dialog h2:text-is("Merchant: Abyssinia Coffee")');
    await page.goto(`${console.consoleUrl}/live/kyc/${console.scope.merchantId}`);
    await page.waitForSelector('h1:text-is("Verification: Abyssinia Coffee")');
    await page.goto(`${console.consoleUrl}/test/bank-accounts/${console.scope.merchantId}`);
    await page.waitForSelector('h1:text-is("Bank account: Abyssinia Coffee")');
    expect(await page.title()).toMatch(/^Bank account: Abyssinia Coffee · TEST/);
    expect(problems).toEqual([]);
    await close();
  });

  test('an address that is none is explained beside its field, as in the portal, before and after it was sent', async () => {
    const path = `/test/merchants/${console.scope.merchantId}`;
    const { page, problems, close } = await console.open(path, { role: 'admin', viewport: WIDE, expected: /400/ });
    const refunds = page.locator('main a:text-is("Refunds")');
    expect(await refunds.getAttribute('href')).toBe(`/test/refunds?merchantId=${console.scope.merchantId}`);
    await page.click('main button:text-is("Invite an owner")');
    await page.getByLabel('E-mail of the owner').fill('abebe');
    await fillReason(page, 'Asked by phone');
    await page.click('dialog button:text-is("Invite an owner")');
    await page.waitForSelector('dialog p:text-is("An address such as name@shop.example.et.")');
    await page.getByLabel('E-mail of the owner').fill('abebe@shop');
    await page.click('dialog button:text-is("Invite an owner")');
    await page.waitForSelector('dialog p:has-text("This value is not accepted. An address such as")');
    expect(await page.locator('dialog').innerText()).not.toContain('got');
    expect(problems).toEqual([]);
    await close();
  });

  test('the PDF documents of an application are shown beside its decision, in frames without scripts', async () => {
    const { page, problems, close } = await console.open(`/live/kyc/${console.scope.merchantId}`, { role: 'admin' });
    const answer = await page.waitForResponse((response) => response.url().includes('/kyc/documents/'));
    expect(answer.headers()).toMatchObject({
      'content-type': 'application/pdf',
      'content-security-policy': "default-src 'none'; frame-ancestors 'self'; sandbox",
      'x-frame-options': 'SAMEORIGIN',
    });
    await page.waitForSelector('main button:text-is("Approve")');
    expect(await page.locator('main iframe').count()).toBe(3);
    // The policy of the document lets the browser's own viewer load, where it has one: the headless shell has none.
    if (await page.evaluate('navigator.pdfViewerEnabled'))
      await until('the viewer', () => page.frames().some((frame) => frame.url().startsWith('chrome-extension:')));
    await screenshot(page, 'console-kyc-documents');
    expect(problems).toEqual([]);
    await close();
  });
});
