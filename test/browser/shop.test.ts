import type { Browser } from 'playwright-core';

import { startDemoShop, type DemoShop } from '../../src/demo/shop/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { newSecret, signedRequest } from '../../src/webhooks/delivery/attempt.ts';
import { stubKey } from '../support/http.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { inspect, launchBrowser, openTab } from './browser.ts';
import { startCheckoutServer, type CheckoutServer } from './checkout.ts';

const SECRET = newSecret();
const LOADED_FONTS = `document.fonts.ready.then((fonts) =>
  [...fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family.replaceAll('"', '')))`;

describe('the demo shop, with the providers of the sandbox', () => {
  let simulator: TestSimulator;
  let server: CheckoutServer;
  let shop: DemoShop;
  let browser: Browser;
  const http = createHttpClient();

  beforeAll(async () => {
    simulator = await startTestSimulator();
    const findProvider = createFindProvider({ http, clock: systemClock, simulatorUrl: simulator.url });
    [server, browser] = await Promise.all([startCheckoutServer(findProvider), launchBrowser()]);
    const options = { port: 0, host: '127.0.0.1', apiUrl: server.url, webhookSecret: SECRET, write: () => {} };
    shop = await startDemoShop({ ...options, apiKey: stubKey(server.scope.merchantId) });
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.close();
    await server?.close();
    await Promise.all([simulator.close(), http.close()]);
  });

  const origins = () => [server.url, shop.url, simulator.url];

  async function deliver(orderNo: string) {
    const data = { object: 'transaction', checkoutOrderNo: orderNo, status: 'SUCCESS', version: 3 };
    const eventId = `evt_${orderNo}`;
    const envelope = { event: 'payment.succeeded', event_id: eventId, api_version: 'v1.0', created_at: '', data };
    const payload = Buffer.from(JSON.stringify(envelope));
    const attemptAt = new Date();
    const signed = { payload, eventId, attemptAt, secret: SECRET, previousSecret: null, customHeaders: {} };
    const { body, headers } = signedRequest({ ...signed, encoding: 'base64' });
    await fetch(`${shop.url}/webhooks`, { method: 'POST', headers, body });
  }

  test('sells a coffee in Amharic: shop, checkout page, telebirr, receipt, and back', async () => {
    const { page, problems, close } = await openTab(browser, { origins: origins() });
    await page.goto(shop.url);
    await page.click('header a[lang=am]');
    expect(await page.evaluate(LOADED_FONTS)).toEqual(['Noto Sans Ethiopic']);
    await page.click('button[value=buna]');
    expect(await page.getAttribute('html', 'lang')).toBe('am');
    expect(await page.evaluate(LOADED_FONTS)).toEqual(['Noto Sans Ethiopic']);
    expect(await page.locator('.amount').innerText()).toBe('45.50 ብር');
    await page.fill('#phone', '0911000004');
    await page.click('form[action$="/pay"] button');
    await page.click('main a.button');
    await page.click('button[value=pay]');
    // No worker runs here, which would query telebirr; the customer has it queried.
    await page.waitForSelector('form[action$="/check"]');
    await page.waitForTimeout(2_000);
    await page.click('form[action$="/check"] button');
    await page.click(`main a[href^="${shop.url}"]`);
    await page.waitForURL(`${shop.url}/thanks**`);
    expect(await page.locator('main').innerText()).toContain('ሱቁ መከፈሉን አያውቅም');
    const orderNo = new URL(page.url()).searchParams.get('checkoutOrderNo') ?? '';
    await deliver(orderNo);
    await page.waitForSelector('strong:text("SUCCESS")');
    expect(problems).toEqual([]);
    await close();
  });

  test('shows a new webhook without reloading the page', async () => {
    const { page, problems, close } = await openTab(browser, { origins: origins() });
    await page.goto(shop.url);
    await page.evaluate('window.isSamePage = true');
    await deliver('SHOP-LIVE');
    await page.waitForSelector('.log >> text=SHOP-LIVE');
    expect(await page.evaluate('isSamePage')).toBe(true);
    expect(problems).toEqual([]);
    await close();
  });

  test.each(['en', 'am'])('has no fault on any page, in %s', async (language) => {
    const { page, problems, close } = await openTab(browser, { origins: origins(), expected: /status of 400/ });
    await deliver('SHOP-A');
    await page.goto(`${shop.url}/?lang=${language}`);
    const found = [await inspect(page, `shop-${language}`)];
    await page.goto(`${shop.url}/thanks?checkoutOrderNo=SHOP-A`);
    found.push(await inspect(page, `shop-thanks-${language}`));
    await page.goto(`${shop.url}/sorry?checkoutOrderNo=${'S'.repeat(64)}`);
    found.push(await inspect(page, `shop-sorry-${language}`));
    await page.goto(shop.url);
    await page.evaluate(`document.querySelector('button[name=item]').value = 'tea'`);
    await page.click('button[name=item] >> nth=0');
    found.push(await inspect(page, `shop-problem-${language}`));
    expect(found.flat()).toEqual([]);
    expect(problems).toEqual([]);
    await close();
  });
});
