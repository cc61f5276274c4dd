import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { parse } from 'csv-parse/sync';
import type JsQr from 'jsqr';
import { PNG } from 'pngjs';

import { first } from '../../src/lib/db.ts';
import { buildSession } from '../support/build.ts';
import { WIDTHS } from './browser.ts';
import { usePortal } from './portal.ts';

const jsQR = createRequire(import.meta.url)('jsqr') as typeof JsQr.default;

describe('journeys through the portal', () => {
  const portal = usePortal({ payments: 30 });

  test('a person filters, opens a transaction with keys, and saves a file that equals the screen', async () => {
    const { page, problems, close } = await portal.open('/test/transactions');
    // A narrow list does not show its header.
    await page.locator('thead th').first().waitFor({ state: 'attached' });
    const columns = await page.locator('thead th').allInnerTexts();
    expect(columns).toEqual([
      'Checkout Order No',
      'Amount',
      'Currency',
      'Transaction Through',
      'Transaction Date',
      'Type',
      'Status',
      'Created at',
    ]);
    await page.click('button:has-text("Next")');
    await page.waitForURL('**page=2**');
    await page.goto(`${portal.url}/test/transactions?page=9`);
    await page.getByText('There are fewer pages than that.').waitFor();
    await page.click('button:has-text("Show the last page")');
    await page.waitForURL('**page=2');
    await page.locator('tbody tr').nth(9).waitFor();
    await page.click('button:has-text("Status")');
    await page.click('label:has-text("Success")');
    await page.keyboard.press('Escape');
    await page.waitForURL('**/transactions?status=SUCCESS');
    await page.locator('tbody tr').nth(19).waitFor({ state: 'detached' });
    const foot = await page.locator('tfoot').innerText();
    const total = Number(/of (\d+)/.exec(await page.locator('nav[aria-label=Pages] [role=status]').innerText())?.[1]);
    expect(total).toBeGreaterThan(5);
    expect(await page.locator('tbody tr').count()).toBe(total);

    const [download] = await Promise.all([page.waitForEvent('download'), page.click('button:has-text("Export")')]);
    const text = await readFile(await download.path(), 'utf8');
    const listed: Record<string, string>[] = parse(text, { columns: true, bom: true });
    expect(listed).toHaveLength(total);
    const sum = listed.reduce((birr, row) => birr + Number(row['Amount'] ?? row['Amount (ETB)']), 0);
    expect(foot).toContain(new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2 }).format(sum));

    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const orderNo = await page.locator('tbody tr').first().locator('a').innerText();
    await page.waitForSelector(`dialog h2:text-is("${orderNo}")`);
    await page.waitForSelector('dialog >> text=Paid');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(problems).toEqual([]);
    await close();
  });

  test('after a panel that was moved on with j, Esc leads back to the row that it showed last', async () => {
    const { page, problems, close } = await portal.open('/test/transactions', { viewport: WIDTHS[1] });
    const links = page.locator('tbody tr a');
    const [first = '', second = ''] = await links
      .first()
      .waitFor()
      .then(() => links.allInnerTexts());
    await links.first().click();
    await page.waitForSelector(`dialog h2:text-is("${first}")`);
    await page.keyboard.press('j');
    await page.waitForSelector(`dialog h2:text-is("${second}")`);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(await page.evaluate('document.activeElement.innerText')).toBe(second);
    expect(problems).toEqual([]);
    await close();
  });

  test('a developer subscribes, rotates the secret, and turns the subscription off and on', async () => {
    const { page, problems, close } = await portal.open('/test/webhooks');
    await page.click('button:has-text("New subscription")');
    await page.fill('dialog input[type=url]', 'http://127.0.0.1:9/hook');
    await page.click('dialog button:has-text("Create")');
    const secret = await page.locator('dialog pre').innerText();
    expect(secret).toMatch(/^whsec_/);
    await page.click('button:has-text("I have stored it")');
    await page.click('button:has-text("Rotate secret")');
    await page.click('dialog label:has-text("7 days")');
    await page.click('dialog button:has-text("Rotate secret")');
    await page.waitForSelector('dialog >> text=Your new secret');
    const rotated = await page.locator('dialog pre').innerText();
    expect(rotated).not.toBe(secret);
    await page.click('button:has-text("I have stored it")');
    await page.waitForSelector('text=The previous secret also signs until');

    const isActive = async () =>
      (await first<{ active: boolean }>(portal.db, 'SELECT active FROM webhook_subscription'))?.active;
    await page.click('label:has-text("Active")');
    await page.click('dialog button:has-text("Turn off")');
    await page.waitForSelector('text=Inactive');
    expect(await isActive()).toBe(false);
    await page.click('label:has-text("Active")');
    await page.waitForSelector('text=Not tried yet');
    expect(await isActive()).toBe(true);
    expect(problems).toEqual([]);
    await close();
  });

  test('a new payment has a link, and a QR code that opens it', async () => {
    const { page, problems, close } = await portal.open('/test/transactions', {
      role: 'owner',
      expected: /status of 400/,
    });
    await page.waitForSelector('button:has-text("New payment")');
    await page.keyboard.press('n');
    await page.fill('dialog input[type=tel]', '12');
    await page.click('dialog button:has-text("Create")');
    await page.waitForSelector('dialog >> text=An amount in birr');
    await page.waitForSelector('dialog p:text("An Ethiopian mobile number")');
    await page.fill('dialog input[type=tel]', '');
    await page.fill('dialog input[inputmode=decimal]', '120.50');
    await page.click('dialog button:has-text("Create")');
    const link = await page.locator('dialog pre').innerText();
    expect(link).toMatch(/[/]checkout[/]cs_/);
    const { data, width, height } = PNG.sync.read(await page.locator('dialog svg[role=img]').screenshot());
    expect(jsQR(new Uint8ClampedArray(data), width, height)?.data).toBe(link);
    await page.click('dialog >> text=Its transaction');
    await page.waitForSelector('main >> text=120.50 ETB');
    expect(await page.locator('main pre').innerText()).toBe(link);
    expect(problems).toEqual([]);
    await close();
  });

  test('a payment that waits for its customer is approved by an owner in test, once for a double click', async () => {
    const { page, problems, close } = await portal.open('/test/transactions', { role: 'owner' });
    const { sessionId, transactionId, clientToken } = await buildSession(portal.fixture, portal.scope);
    await fetch(`${portal.apiUrl}/api/checkout/sessions/${sessionId}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-client-token': clientToken },
      body: JSON.stringify({ channel: 'CBE_BIRR', phone: '0911000004' }),
    });
    await page.goto(`${portal.url}/test/transactions/${transactionId}`);
    await page.getByRole('button', { name: 'Approve now' }).dblclick();
    await page.waitForSelector('main >> text=Success');
    await page.getByRole('button', { name: 'Approve now' }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await close();
  });

  test('a panel that is moved on with j never shows the payment page of the transaction before', async () => {
    const { page, close } = await portal.open('/test/transactions?search=WAITS-', {
      role: 'owner',
      viewport: WIDTHS[1],
    });
    for (const checkoutOrderNo of ['WAITS-1', 'WAITS-2']) {
      await page.evaluate(
        (body) => {
          const headers = { 'content-type': 'application/json', 'x-meskot-environment': 'sandbox' };
          return fetch('/api/checkout/sessions', { method: 'POST', headers, body });
        },
        JSON.stringify({ checkoutOrderNo, amount: 10, currency: 'ETB' }),
      );
    }
    await page.reload();
    await page.click('tbody a:text-is("WAITS-2")');
    const before = await page.locator('dialog pre').innerText();
    await page.route('**/api/checkout/sessions/*', () => {});
    await page.keyboard.press('j');
    await page.waitForSelector('dialog h2:text-is("WAITS-1")');
    await page.waitForSelector('dialog >> text=Session created');
    expect(await page.locator('dialog').innerText()).not.toContain(before);
    await close();
  });

  test('the signature helper names the mistake', async () => {
    const { page, problems, close } = await portal.open('/test/events/signature');
    await page.fill('textarea', '{"event":"payment.succeeded"}');
    await page.fill('label:has-text("X-Service-Signature") >> xpath=.. >> input', `sha256=${'a'.repeat(64)}`);
    await page.fill('label:has-text("Secret") >> xpath=.. >> input', 'whsec_other');
    await page.click('button:has-text("Check")');
    await page.waitForSelector('text=The secret does not belong to this delivery');
    expect(problems).toEqual([]);
    await close();
  });
});
