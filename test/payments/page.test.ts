import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import Koa from 'koa';

import { createLimits, type Limits } from '../../src/http/limits.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { setMerchantStatus } from '../../src/merchants/operations.ts';
import { createCheckoutPages } from '../../src/payments/checkout-page/routes.ts';
import type { NewSession } from '../../src/payments/create-session.ts';
import { createTokenAuthenticator } from '../../src/payments/session.ts';
import {
  buildMerchant,
  buildSession,
  buildFixture,
  declined,
  PAID,
  PENDING,
  stateOfSession,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NO_LIMITS } from '../support/http.ts';

const SCRIPT = '<script>alert(1)</script>';
const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

describe('the hosted checkout page', () => {
  let database: TestDatabase;
  let fixture: Fixture;
  let scope: MerchantScope;
  let server: Server;
  let base: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    fixture = buildFixture(database.db);
    scope = await buildMerchant(database.db, `Coffee ${SCRIPT}`);
    server = await serve(createLimits(NO_LIMITS));
    base = addressOf(server);
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    await database.drop();
  });

  async function open(wanted: Partial<NewSession> = {}) {
    const session = await buildSession(fixture, scope, wanted);
    const path = `/checkout/${session.sessionId}`;
    const cookie = `meskot_checkout=${session.clientToken}`;
    const get = (query = '') => fetch(`${base}${path}${query}`, { headers: { cookie }, redirect: 'manual' });
    const post = (verb: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(`${base}${path}/${verb}`, {
        method: 'POST',
        headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers },
        body: new URLSearchParams(form),
        redirect: 'manual',
      });
    return { ...session, path, get, post, text: async (query = '') => (await get(query)).text() };
  }
  const payForm = { channel: 'TELEBIRR', phone: '0911000001' };

  test("the link's token becomes a cookie of that page and its session's calls only, and leaves the address", async () => {
    const page = await open();
    const answer = await fetch(page.checkoutUrl.replace('https://checkout.example', base), { redirect: 'manual' });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(page.path);
    const cookieOf = (path: string) =>
      `meskot_checkout=${page.clientToken}; Path=${path}; HttpOnly; SameSite=Lax; Secure`;
    const itsCalls = `/api/checkout/sessions/${page.sessionId}`;
    expect(answer.headers.getSetCookie()).toEqual([cookieOf(page.path), cookieOf(itsCalls)]);
  });

  test('a request without the right token gets a page without facts of the session', async () => {
    const page = await open();
    const other = await open();
    for (const cookie of ['', 'meskot_checkout=wrong', `meskot_checkout=${other.clientToken}`]) {
      const answer = await fetch(`${base}${page.path}`, { headers: { cookie } });
      expect(answer.status).toBe(404);
      expect(await answer.text()).not.toContain(page.checkoutOrderNo);
    }
  });

  test('the page has amount, order, usable channels, M-Pesa disabled, the test ribbon and numbers, and no script', async () => {
    const page = await open();
    const answer = await page.get();
    const text = await answer.text();
    expect(answer.status).toBe(200);
    for (const part of ['100.50 ETB', page.checkoutOrderNo, 'CBE Birr', 'coming soon', 'TEST: no real', '0911000008']) {
      expect(text).toContain(part);
    }
    expect(text).toMatch(/value="MPESA" disabled/);
    expect(text).not.toMatch(/<script/i);
    expect(text).toContain('Coffee &#60;script&#62;');
    expect(Buffer.byteLength(text)).toBeLessThan(100_000);
  });

  test('the page forbids frames, scripts and referrers by its headers', async () => {
    const { headers } = await (await open()).get();
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-.+frame-ancestors 'none'$/,
    );
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('the page is in Amharic by the locale of the session or the choice of the customer', async () => {
    expect(await (await open({ locale: 'am' })).text()).toContain('<html lang="am">');
    expect(await (await open()).text('?lang=am')).toContain('የሞባይል ቁጥር');
  });

  test('a channel whose limits exclude the amount is not offered', async () => {
    const text = await (await open({ amountSantim: 10_000_000n })).text();
    expect(text).not.toContain('value="TELEBIRR"');
    expect(text).toContain('value="CBE_BIRR"');
  });

  test('paying leads to the waiting page and then to the final page with a link to the shop', async () => {
    fixture.provider.returns(PENDING);
    const page = await open({ successUrl: 'https://shop.example/done?cart=1' });
    const answer = await page.post('pay', payForm);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, page.path]);
    const waiting = await page.text();
    expect(waiting).toContain('http-equiv="refresh"');
    expect(waiting).not.toMatch(/fail|not successful/i);
    const { attempt } = await attemptOf(page.sessionId);
    fixture.provider.returns(PAID);
    await fixture.checkAttempt(attempt, { notifyWorkflow: true });
    const done = await page.text();
    expect(done).toContain('Paid. Thank you!');
    const ids = `sessionId=${page.sessionId}&#38;checkoutOrderNo=${page.checkoutOrderNo}`;
    expect(done).toContain(`href="https://shop.example/done?cart=1&#38;${ids}"`);
  });

  test('a form sent twice is harmless', async () => {
    fixture.provider.returns(PENDING);
    const page = await open();
    const answers = await Promise.all([page.post('pay', payForm), page.post('pay', payForm)]);
    expect(answers.map((one) => one.status)).toEqual([303, 303]);
    expect((await stateOfSession(database.db, page.sessionId))['attempts']).toHaveLength(1);
  });

  test('after a failed attempt the form is shown again with the reason', async () => {
    fixture.provider.returns(declined(true));
    const page = await open();
    await page.post('pay', payForm);
    const text = await page.text();
    expect(text).toContain('The last try was not successful: The payment was declined.');
    expect(text).toContain('action="' + page.path + '/pay');
  });

  test('the reason of a failed attempt is in the language of the page', async () => {
    fixture.provider.returns(declined(true));
    const page = await open({ locale: 'am' });
    await page.post('pay', payForm);
    const text = await page.text();
    expect(text).toContain('ያለፈው ሙከራ አልተሳካም፦ ክፍያው ተቀባይነት አላገኘም።');
    expect(text).not.toContain('The customer');
  });

  test('reloading the address of a rejected form leads to the page in its language', async () => {
    const page = await open();
    for (const verb of ['pay', 'cancel']) {
      const answer = await page.get(`/${verb}?lang=am`);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, `${page.path}?lang=am`]);
    }
  });

  test('large amounts are grouped by thousands', async () => {
    const text = await (await open({ amountSantim: 10_000_050n })).text();
    expect(text.match(/[\d,.]+ ETB/g)).toEqual(['100,000.50 ETB', '100,000.50 ETB']);
    expect(await (await open({ amountSantim: 99_999n })).text()).toContain('999.99 ETB');
  });

  test('a number that is not a test number is rejected, and the form retains the input', async () => {
    const page = await open();
    const answer = await page.post('pay', { channel: 'CBE_BIRR', phone: '"><b>0922' });
    const text = await answer.text();
    expect(answer.status).toBe(400);
    expect(text).toContain('Only the test numbers');
    expect(text).toContain('value="&#34;&#62;&#60;b&#62;0922"');
    expect(text).toMatch(/value="CBE_BIRR" required checked/);
  });

  test('cancelling ends the session, and its page shows that', async () => {
    const page = await open({ cancelUrl: 'https://shop.example/cart' });
    expect((await page.post('cancel', {})).status).toBe(303);
    expect(await stateOfSession(database.db, page.sessionId)).toMatchObject({
      session: 'CANCELLED',
      events: ['checkout.canceled'],
    });
    expect(await page.text()).toContain('Payment cancelled');
  });

  test('a session after its expiry is shown as expired', async () => {
    const page = await open({ expiresInMinutes: 5 });
    fixture.pass(5 * 60_000);
    expect(await page.text()).toContain('has expired');
  });

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another site by an old browser', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
    ['nowhere', { 'sec-fetch-site': '' }],
  ])('a form from %s is rejected', async (_where, headers) => {
    const page = await open();
    expect((await page.post('pay', payForm, headers)).status).toBe(403);
    expect(await stateOfSession(database.db, page.sessionId)).toMatchObject({ session: 'OPEN' });
  });

  test('the page of a QRCODE session has a code to scan', async () => {
    const page = await open({ type: 'QRCODE' });
    expect(await page.text()).toContain('<svg');
    expect(page.qrPayload).toMatch(/^000201.*6304[0-9A-F]{4}$/);
  });

  describe('of a suspended merchant', () => {
    const suspend = (status: 'SUSPENDED' | 'ACTIVE') =>
      database.db.transaction((trx) => setMerchantStatus(trx, scope.merchantId, status));
    afterEach(() => suspend('ACTIVE'));

    test('cannot be paid, and the page gives the reason', async () => {
      const page = await open();
      await suspend('SUSPENDED');
      for (const answer of [await page.get(), await page.post('pay', payForm)]) {
        expect(answer.status).toBe(403);
        expect(await answer.text()).toContain('takes no payments now');
      }
      expect(await stateOfSession(database.db, page.sessionId)).toMatchObject({ session: 'OPEN', attempts: null });
      await suspend('ACTIVE');
      expect((await page.get()).status).toBe(200);
    });

    test('still shows the outcome of a payment that was in flight', async () => {
      fixture.provider.returns(PENDING);
      const page = await open();
      await page.post('pay', payForm);
      await suspend('SUSPENDED');
      expect(await page.text()).toContain('Waiting for your confirmation');
      const { attempt } = await attemptOf(page.sessionId);
      fixture.provider.returns(PAID);
      await fixture.checkAttempt(attempt, { notifyWorkflow: true });
      expect(await page.text()).toContain('Paid. Thank you!');
    });
  });

  describe('with limits', () => {
    let limited: Server;
    beforeEach(async () => {
      limited = await serve(
        createLimits({ ...NO_LIMITS, sandboxPerSecond: 1, pagesPerSecond: 3, failedAuthPerMinute: 2 }),
      );
    });
    afterEach(() => new Promise((resolve) => limited.close(resolve)));

    test('requests of one address are limited over all sessions, with Retry-After', async () => {
      const pages = [await open(), await open()];
      const ask = async (index: number) => {
        const page = pages[index % 2] ?? pages[0];
        return fetch(`${addressOf(limited)}${page?.path}`, {
          headers: { cookie: `meskot_checkout=${page?.clientToken}` },
        });
      };
      for (let count = 0; count < 6; count += 1) expect((await ask(count)).status).toBe(200);
      const refused = await ask(0);
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
      expect(refused.headers.get('content-type')).toMatch(/html/);
      expect(await refused.text()).toContain('Too many requests');
    });

    test('wrong tokens are limited by address, and the right token is always accepted', async () => {
      const page = await open();
      const ask = async (path: string, token: string) =>
        (await fetch(`${addressOf(limited)}${path}`, { headers: { cookie: `meskot_checkout=${token}` } })).status;
      const wrong = 'x'.repeat(43);
      expect(await ask(page.path, wrong)).toBe(404);
      expect(await ask('/checkout/cs_unknown', wrong)).toBe(404);
      expect(await ask(page.path, wrong)).toBe(429);
      expect(await ask(page.path, page.clientToken)).toBe(200);
    });
  });

  async function serve(limits: Limits): Promise<Server> {
    const app = new Koa();
    app.use(createCheckoutPages({ ...fixture, limits, tokens: createTokenAuthenticator(fixture) }).routes());
    const made = createServer((request, response) => void app.callback()(request, response));
    await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
    return made;
  }

  async function attemptOf(sessionId: string): Promise<{ attempt: string }> {
    const row: { id: string } = await database.db.knex()('payment_attempt').where({ sessionId }).first('id');
    return { attempt: row.id };
  }
});
