import { createRequire } from 'node:module';

import type JsQr from 'jsqr';
import type { Browser } from 'playwright-core';
import { PNG } from 'pngjs';

import { buildSession, PAID, PENDING, stateOfSession } from '../support/build.ts';
import { until } from '../support/until.ts';
import { launchBrowser, openTab, scrollsSideways, WIDTHS, type Tab, type TabOptions } from './browser.ts';
import { startCheckoutServer, type CheckoutServer } from './checkout.ts';

/** A CommonJS module whose types declare an ES module. */
const jsQR = createRequire(import.meta.url)('jsqr') as typeof JsQr.default;

type Opened = Awaited<ReturnType<typeof buildSession>>;

describe('a customer on the checkout page', () => {
  let server: CheckoutServer;
  let browser: Browser;
  let tabs: Tab[] = [];

  beforeAll(async () => {
    [server, browser] = await Promise.all([startCheckoutServer(), launchBrowser()]);
  });
  afterEach(async () => {
    await Promise.all(tabs.map(({ close }) => close()));
    tabs = [];
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function tab(options: Partial<TabOptions> = {}): Promise<Tab> {
    const opened = await openTab(browser, { origins: [server.url, 'https://shop.example'], ...options });
    tabs.push(opened);
    return opened;
  }

  async function open({ page }: Tab, wanted: Parameters<typeof buildSession>[2] = {}): Promise<Opened> {
    const session = await buildSession(server.fixture, server.scope, wanted);
    await page.goto(session.checkoutUrl);
    return session;
  }

  async function pay({ page }: Tab, phone = '0911000001') {
    server.fixture.provider.returns(PENDING);
    await page.fill('#phone', phone);
    await page.click('form[action$="/pay"] button');
    server.fixture.pass(3_000);
  }

  /** The provider reports the attempt in flight paid, to another process. */
  async function confirm({ sessionId }: Opened) {
    const attempt = await server.database.db
      .knex()('payment_attempt')
      .where({ sessionId, status: 'PENDING' })
      .first('id');
    server.fixture.provider.returns(PAID);
    await server.fixture.checkAttempt(String(attempt.id), { notifyWorkflow: false });
  }

  test('pays, changes the number and cancels without script', async () => {
    const customer = await tab({ javaScriptEnabled: false });
    const { page } = customer;
    const session = await open(customer);
    const posted: Promise<string | undefined>[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') posted.push(request.allHeaders().then(({ origin }) => origin));
    });
    await page.click('header a[lang=am]');
    expect(await page.locator('h1').innerText()).toContain('ይክፈሉ');
    await page.click('header a[lang=en]');
    await pay(customer);
    expect(await page.locator('meta[http-equiv=refresh]').getAttribute('content')).toBe('10');
    await page.click('form[action$="/change"] button');
    await pay(customer, '0911000004');
    await page.click('a[href$="/cancel"]');
    await page.click('main a.button');
    await confirm(session);
    await page.reload();
    expect(await page.locator('h1').innerText()).toBe('Paid. Thank you!');
    expect(await page.locator('[data-print]').isVisible()).toBe(false);

    const other = await open(customer);
    await page.click('a[href$="/cancel"]');
    await page.click('form[action$="/cancel"] button');
    expect(await page.locator('h1').innerText()).toBe('Payment cancelled');
    // What tells older browsers' forms from those of other sites.
    for (const origin of await Promise.all(posted)) expect(origin).toBe(server.url);
    expect(posted.length).toBeGreaterThan(3);
    expect(await stateOfSession(server.database.db, other.sessionId)).toMatchObject({ session: 'CANCELLED' });
    expect(customer.problems).toEqual([]);
  });

  test('sees the result without reloading, and a screen reader announces it once', async () => {
    const customer = await tab();
    const { page } = customer;
    const session = await open(customer);
    await pay(customer);
    // Otherwise they would be read out beside the one that is there for it.
    expect(await page.locator('main :is([role=status], [role=alert], [aria-live])').count()).toBe(0);
    await page.evaluate(
      `window.said = []; new MutationObserver(() => said.push(live.textContent)).observe(live, { childList: true, subtree: true, characterData: true })`,
    );
    await confirm(session);
    await page.waitForSelector('h1:text("Paid. Thank you!")');
    await page.waitForTimeout(1_500);
    expect(await page.evaluate('said')).toEqual(['Paid. Thank you! We have confirmed the payment to the shop.']);
    expect(customer.problems).toEqual([]);
  });

  test('waits with one request at a time, and with none while the page is hidden', async () => {
    const customer = await tab();
    const { page } = customer;
    let [open_, most, all] = [0, 0, 0];
    const isState = (url: string) => url.includes('/state?');
    page.on('request', (one) => {
      if (!isState(one.url())) return;
      all += 1;
      most = Math.max(most, (open_ += 1));
    });
    page.on('requestfinished', (one) => void (isState(one.url()) && (open_ -= 1)));
    page.on('requestfailed', (one) => void (isState(one.url()) && (open_ -= 1)));
    await open(customer);
    await until('it to wait', () => open_ === 1);
    const setHidden = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    for (const hidden of [false, false]) await setHidden(hidden);
    await page.waitForTimeout(300);
    await setHidden(true);
    await until('the wait to end', () => open_ === 0);
    const before = all;
    await page.waitForTimeout(2_500);
    expect(all).toBe(before);
    await setHidden(false);
    await until('it to wait again', () => open_ === 1);
    expect(most).toBe(1);
  });

  test('keeps the page while the connection is cut, and sees the result after it', async () => {
    const customer = await tab({ expected: /Failed to load resource/ });
    const { page } = customer;
    const session = await open(customer);
    await pay(customer);
    await server.stop();
    await page.waitForTimeout(1_500);
    expect(await page.locator('h1').innerText()).toBe('Confirm on your phone');
    await confirm(session);
    await server.start();
    await page.waitForSelector('h1:text("Paid. Thank you!")');
    expect(customer.problems).toEqual([]);
  });

  test('scans the QR code of a wide screen, and pays on the phone', async () => {
    const [desk, phone] = [await tab({ viewport: WIDTHS[1] }), await tab()];
    const { checkoutUrl } = await open(desk);
    const { data, width, height } = PNG.sync.read(await desk.page.locator('.qr svg').screenshot());
    const scanned = jsQR(new Uint8ClampedArray(data), width, height)?.data;
    expect(scanned).toBe(checkoutUrl);
    await phone.page.goto(String(scanned));
    expect(await phone.page.locator('.qr').isVisible()).toBe(false);
    await pay(phone);
    await desk.page.waitForSelector('h1:text("Confirm on your phone")');
  });

  test('needs no scrolling sideways at 320 px, with long names and amounts', async () => {
    const customer = await tab({ viewport: { width: 320, height: 568 } });
    const session = await open(customer, { checkoutOrderNo: 'X'.repeat(64), amountSantim: 1_234_567n, type: 'QRCODE' });
    expect(await scrollsSideways(customer.page)).toBe(false);
    // The name of the other language is not broken into two lines.
    expect((await customer.page.locator('header a').boundingBox())?.height).toBeLessThan(48);
    await pay(customer, '12');
    expect(await scrollsSideways(customer.page)).toBe(false);
    await pay(customer);
    expect(await scrollsSideways(customer.page)).toBe(false);
    server.fixture.provider.returns({ ...PAID, amountSantim: 1_234_567n });
    await customer.page.click('form[action$="/check"] button');
    expect(await customer.page.locator('h1').innerText()).toBe('Paid. Thank you!');
    expect(await scrollsSideways(customer.page)).toBe(false);
    expect(session.sessionId).toBeTruthy();
  });

  test('goes back to the shop 5 s after paying, once, unless that is stopped', async () => {
    const customer = await tab();
    const { page } = customer;
    await page.clock.install();
    await page.route('https://shop.example/**', (route) =>
      route.fulfill({ body: 'the shop', contentType: 'text/html' }),
    );
    for (const stopped of [true, false]) {
      const session = await open(customer, { successUrl: 'https://shop.example/thanks' });
      await pay(customer);
      await confirm(session);
      await page.waitForSelector('[data-return]:visible');
      if (stopped) {
        await page.click('[data-return] button');
        await page.clock.runFor(6_000);
        expect(page.url()).toBe(`${server.url}/checkout/${session.sessionId}`);
        await page.reload();
        expect(await page.locator('[data-return]').isVisible()).toBe(false);
      } else {
        await page.clock.runFor(3_000);
        expect(page.url()).toContain(server.url);
        await page.clock.runFor(2_500);
        await page.waitForURL('https://shop.example/**');
        expect(page.url()).toContain(`sessionId=${session.sessionId}`);
      }
    }
  });

  test('finds the cursor in the wrong field, whose error belongs to it', async () => {
    const customer = await tab({ expected: /status of 400/ });
    await open(customer);
    await pay(customer, '12');
    await customer.page.waitForSelector('#phone:focus');
    const field = `const one = document.activeElement;
      [one.id, one.ariaInvalid, one.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id).textContent)]`;
    expect(await customer.page.evaluate(field)).toEqual([
      'phone',
      'true',
      ['Only the test numbers listed below pay here.', '09…, 07… or +251…'],
    ]);
  });

  test('starts one attempt by a double click', async () => {
    const customer = await tab();
    const { sessionId } = await open(customer);
    server.fixture.provider.returns(PENDING);
    await customer.page.fill('#phone', '0911000001');
    await customer.page.dblclick('form[action$="/pay"] button');
    await customer.page.waitForSelector('h1:text("Confirm on your phone")');
    expect((await stateOfSession(server.database.db, sessionId))['attempts']).toEqual(['PENDING']);
  });

  test('keeps the chosen language on the next page', async () => {
    const customer = await tab();
    await open(customer);
    await customer.page.click('header a');
    await open(customer, { locale: 'en' });
    expect(await customer.page.getAttribute('html', 'lang')).toBe('am');
  });
});
