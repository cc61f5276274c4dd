import type { Browser } from 'playwright-core';

import { setMerchantStatus } from '../../src/merchants/operations.ts';
import type { ProviderOutcome } from '../../src/providers/provider.ts';
import { ACCEPTED, buildSession, declined, PAID, PENDING, UNKNOWN } from '../support/build.ts';
import { inspect, launchBrowser, openTab, screenshot, type Tab } from './browser.ts';
import { startCheckoutServer, type CheckoutServer } from './checkout.ts';

type Opened = Awaited<ReturnType<typeof buildSession>>;

describe('every state of the checkout page', () => {
  let server: CheckoutServer;
  let browser: Browser;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startCheckoutServer(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  /** Opens the page of a new session in a language. */
  async function open(tab: Tab, language: string, wanted: Parameters<typeof buildSession>[2] = {}): Promise<Opened> {
    const session = await buildSession(server.fixture, server.scope, {
      successUrl: 'https://shop.example/',
      ...wanted,
    });
    await tab.page.goto(`${session.checkoutUrl}&lang=${language}`);
    return session;
  }

  async function pay({ page }: Tab, outcome: ProviderOutcome, phone = '0911000001') {
    server.fixture.provider.returns(outcome);
    await page.fill('#phone', phone);
    await page.click('form[action$="/pay"] button');
    server.fixture.pass(3_000);
  }

  const STATES: Record<string, (tab: Tab, language: string) => Promise<unknown>> = {
    'to pay': async (tab, language) => open(tab, language),
    'to pay at a till': async (tab, language) => open(tab, language, { type: 'QRCODE' }),
    'with a wrong phone': async (tab, language) => {
      await open(tab, language);
      await pay(tab, PENDING, '12');
    },
    declined: async (tab, language) => {
      await open(tab, language);
      await pay(tab, declined(true));
    },
    sending: async (tab, language) => {
      await open(tab, language);
      await pay(tab, UNKNOWN);
    },
    'waiting for a push': async (tab, language) => {
      await open(tab, language);
      await pay(tab, PENDING);
    },
    'waiting with a page to go on to': async (tab, language) => {
      await open(tab, language);
      await pay(tab, ACCEPTED);
    },
    'taken back': async (tab, language) => {
      await STATES['waiting for a push']?.(tab, language);
      await tab.page.click('form[action$="/change"] button');
    },
    'not taken back': async (tab, language) => {
      await STATES['waiting for a push']?.(tab, language);
      server.fixture.provider.returns(UNKNOWN);
      await tab.page.click('form[action$="/change"] button');
    },
    'asking before cancelling': async (tab, language) => {
      await STATES['waiting for a push']?.(tab, language);
      await tab.page.click('a[href$="/cancel"]');
    },
    cancelled: async (tab, language) => {
      await STATES['asking before cancelling']?.(tab, language);
      await tab.page.click('form[action$="/cancel"] button');
    },
    held: async (tab, language) => {
      await open(tab, language);
      await pay(tab, { ...PAID, amountSantim: 1n });
    },
    paid: async (tab, language) => {
      await open(tab, language);
      await pay(tab, PAID);
      await tab.page.click('[data-return] button');
    },
    failed: async (tab, language) => {
      await open(tab, language);
      await pay(tab, declined(false));
    },
    expired: async (tab, language) => {
      const { sessionId } = await open(tab, language);
      await server.database.db.knex()('checkoutSession').where({ id: sessionId }).update({ expiresAt: new Date() });
      await tab.page.reload();
    },
    'of a wrong link': async (tab, language) => {
      await tab.page.setExtraHTTPHeaders({ 'accept-language': language });
      await tab.page.goto(`${server.url}/checkout/cs_1?t=1`);
    },
    'of a suspended shop': async (tab, language) => {
      await open(tab, language);
      await suspend('SUSPENDED');
      await tab.page.reload();
      await suspend('ACTIVE');
    },
  };
  const suspend = (status: 'SUSPENDED' | 'ACTIVE') =>
    server.database.db.transaction((trx) => setMerchantStatus(trx, server.scope.merchantId, status));

  const CASES = Object.keys(STATES).flatMap((state) => ['en', 'am'].map((language) => [state, language] as const));

  test.each(CASES)('the page %s, in %s, has no fault in light and dark, narrow and wide', async (state, language) => {
    const tab = await openTab(browser, { origins: [server.url], expected: /status of 40[0-9]/ });
    await STATES[state]?.(tab, language);
    expect(await tab.page.getAttribute('html', 'lang')).toBe(language);
    expect(await inspect(tab.page, `${state}-${language}`)).toEqual([]);
    expect(tab.problems).toEqual([]);
    await tab.close();
  });

  test('the button to pay is seen without scrolling on a small phone, also after a decline', async () => {
    for (const state of ['to pay', 'declined']) {
      const tab = await openTab(browser, { origins: [server.url] });
      await STATES[state]?.(tab, 'am');
      const box = await tab.page.locator('form[action$="/pay"] button').boundingBox();
      expect((box?.y ?? 999) + (box?.height ?? 0)).toBeLessThanOrEqual(640);
      await tab.close();
    }
  });

  test('nothing is lost in forced colours and on paper', async () => {
    const tab = await openTab(browser, { origins: [server.url] });
    await open(tab, 'en');
    await tab.page.emulateMedia({ forcedColors: 'active' });
    await screenshot(tab.page, 'forced-colours');
    const border = 'getComputedStyle(document.querySelector("form button")).borderTopWidth';
    expect(await tab.page.evaluate(border)).toBe('1px');
    await STATES['paid']?.(tab, 'en');
    await tab.page.emulateMedia({ media: 'print' });
    await screenshot(tab.page, 'printed');
    expect(await tab.page.locator('dl').isVisible()).toBe(true);
    expect(await tab.page.locator('main button:visible, main a:visible').count()).toBe(0);
    await tab.close();
  });
});
