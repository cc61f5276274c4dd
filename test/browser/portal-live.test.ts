import type { Page } from 'playwright-core';

import { buildAttempt, buildSession, PAID } from '../support/build.ts';
import { screenshot, WIDTHS } from './browser.ts';
import { inspectScreen, usePortal } from './portal.ts';

describe('changes while a page is open', () => {
  const portal = usePortal({ payments: 6 });

  const firstOrder = async (page: Page): Promise<string> => page.locator('tbody tr a').first().innerText();

  test('a payment made through the API appears as "1 new" without a reload, and an open transaction changes by itself', async () => {
    const tab = await portal.open('/test/transactions');
    const { page, problems, close } = tab;
    const before = await firstOrder(page);
    await page.waitForTimeout(1_000);
    const amountSantim = 12_300n;
    const { fixture, scope } = portal;
    const { sessionId } = await buildSession(fixture, scope, { amountSantim, checkoutOrderNo: 'LIVE-1' });
    await page.waitForSelector('button:has-text("1 new")');
    expect(await firstOrder(page)).toBe(before);
    expect(await inspectScreen(tab, 'portal-live-new')).toEqual([]);
    await page.click('button:has-text("1 new")');
    await page.waitForSelector('button:has-text("1 new")', { state: 'detached' });
    expect(await firstOrder(page)).toBe('LIVE-1');

    await page.click('a:text-is("LIVE-1")');
    await page.waitForSelector('dialog >> text=Pending');
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId }, { channel: 'TELEBIRR' });
    await page.waitForSelector('dialog >> text=Customer chose a channel');
    fixture.provider.returns({ ...PAID, amountSantim });
    await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
    await page.waitForSelector('dialog >> text=Success');
    await page.waitForSelector('dialog >> text=Event payment.succeeded');
    await page.waitForSelector('tbody tr:has-text("LIVE-1"):has-text("Success")');
    expect(problems).toEqual([]);
    await close();
  });

  test.each([
    ['en', /At most 20 lists.\s+(?:It is loaded again by itself in [123] secs?.\s*){2}/],
    ['am', /ጥያቄዎች በዝተዋል።\s+(?:ከ[123] ሰ\S* በኋላ በራሱ እንደገና ይጫናል።\s*){2}/],
  ] as const)(
    'a list beyond the limit of requests says when it is loaded again, and is (%s)',
    async (language, said) => {
      const tab = await portal.open('/test/channels', { language, expected: /status of 429/ });
      const { page, problems, close } = tab;
      const message = 'At most 20 lists. Repeat the request in 3 s.';
      const rejected = { success: false, message, error: { code: 'RATE_LIMITED', details: [] } };
      const [status, headers, body] = [429, { 'retry-after': '3' }, JSON.stringify(rejected)];
      const path = '**/api/checkout/txns/get_all_txns*';
      await page.route(path, (route) => route.fulfill({ status, headers, body, contentType: 'application/json' }));
      await page.goto(`${portal.url}/test/transactions`);
      const alert = page.getByRole('alert').first();
      await alert.waitFor();
      // Read aloud, and in sight: one wait, not also that of the error.
      expect(await alert.innerText()).toMatch(said);
      expect(await alert.innerText()).not.toContain('Repeat');
      await screenshot(page, 'portal-rate-limited');
      await page.unroute(path);
      await page.locator('tbody tr').first().waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );

  test('the sums of a list that has more rows than they count stay in sight while another page is loaded', async () => {
    const { page, problems, close } = await portal.open('/test/channels');
    await page.route('**/api/checkout/txns/summary*', async (route) => {
      const answer = await (await route.fetch()).json();
      answer.data.total.count -= 1;
      await route.fulfill({ json: answer });
    });
    await page.route(/get_all_txns.*page=2/, async (route) => {
      await new Promise((resume) => setTimeout(resume, 2_000));
      await route.continue();
    });
    await page.goto(`${portal.url}/test/transactions?limit=2`);
    await page.locator('tfoot dd').first().waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.waitForTimeout(500);
    expect(await page.locator('tfoot dd').count()).toBeGreaterThan(0);
    await page.waitForSelector('text=Page 2 of');
    expect(await page.locator('tfoot dd').count()).toBeGreaterThan(0);
    expect(problems).toEqual([]);
    await close();
  });

  test('a page whose stream is cut shows that it is read in intervals, is read, and follows again', async () => {
    const tab = await portal.open('/test/transactions', { expected: /ERR_FAILED/ });
    const { page, problems, close } = tab;
    page.setDefaultTimeout(40_000);
    await page.route('**/api/portal/stream', (route) => route.abort());
    await page.reload();
    const before = await firstOrder(page);
    await page.waitForSelector('text=read every 15 s');
    await page.waitForSelector('section >> text=/As of \\d\\d:\\d\\d:\\d\\d/');
    await screenshot(page, 'portal-live-polled');
    await buildSession(portal.fixture, portal.scope, { checkoutOrderNo: 'LIVE-2' });
    await page.waitForSelector('button:has-text("1 new")');
    expect(await firstOrder(page)).toBe(before);
    await page.unroute('**/api/portal/stream');
    await page.waitForSelector('text=read every 15 s', { state: 'detached' });
    await buildSession(portal.fixture, portal.scope, { checkoutOrderNo: 'LIVE-3' });
    await page.click('button:has-text("2 new")');
    expect(await firstOrder(page)).toBe('LIVE-3');
    expect(problems).toEqual([]);
    await close();
  }, 120_000);

  test('a screen that is opened without a connection shows that within the portal, and opens by itself once there is one', async () => {
    const { page, close } = await portal.open('/test/transactions', { viewport: WIDTHS[1], expected: /ERR_/ });
    await page.waitForSelector('tbody tr');
    await page.context().setOffline(true);
    await page.click('#sidebar a:has-text("Webhooks")');
    await page.waitForSelector('text=The server cannot be reached. Check your connection.');
    expect(await page.locator('#sidebar a').count()).toBeGreaterThan(0);
    await page.context().setOffline(false);
    // By itself.
    await page.waitForSelector('h1:has-text("Webhooks")');
    await page.waitForSelector('text=No subscriptions yet.');

    // A screen whose files are there, and whose rows are older than the time in which they are not read again.
    await page.waitForTimeout(5_000);
    await page.context().setOffline(true);
    await page.click('#sidebar a:has-text("Transaction")');
    await page.waitForSelector('main [role=alert] >> text=The server cannot be reached. Check your connection.');
    await page.context().setOffline(false);
    await page.locator('main [role=alert]').waitFor({ state: 'detached' });
    await close();
  });

  test('Esc closes the menu of a narrow screen, whose button has the focus again', async () => {
    const { page, close } = await portal.open('/test/transactions', { viewport: WIDTHS[0] });
    await page.click('button[aria-label="Menu"]');
    await page.locator('#sidebar a').first().focus();
    await page.keyboard.press('Escape');
    await page.locator('#sidebar').waitFor({ state: 'hidden' });
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Menu');
    await close();
  });
});
