import { gzipSync } from 'node:zlib';

import { declined, PAID, PENDING } from '../support/build.ts';
import { PAY_FORM, readable, startPages, type OpenPage, type StartedPages } from './pages.ts';

const SCRIPT = '<script>alert(1)</script>';

describe('the hosted checkout page', () => {
  let pages: StartedPages;

  beforeAll(async () => {
    pages = await startPages(`Coffee ${SCRIPT}`);
  });
  afterAll(() => pages.close());

  test("the link's token becomes a cookie of that page and its session's calls only, and leaves the address", async () => {
    const page = await pages.open();
    const answer = await fetch(page.checkoutUrl.replace('https://checkout.example', pages.url), { redirect: 'manual' });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(page.path);
    const cookieOf = (path: string) =>
      `meskot_checkout=${page.clientToken}; Path=${path}; HttpOnly; SameSite=Lax; Secure`;
    const itsCalls = `/api/checkout/sessions/${page.sessionId}`;
    expect(answer.headers.getSetCookie()).toEqual([cookieOf(page.path), cookieOf(itsCalls)]);
  });

  test('a request without the right token gets a page without facts of the session', async () => {
    const page = await pages.open();
    const other = await pages.open();
    for (const cookie of ['', 'meskot_checkout=wrong', `meskot_checkout=${other.clientToken}`]) {
      const answer = await fetch(`${pages.url}${page.path}`, { headers: { cookie } });
      expect(answer.status).toBe(404);
      expect(await answer.text()).not.toContain(page.checkoutOrderNo);
    }
  });

  test('the page has amount, order, usable channels, M-Pesa disabled, the test ribbon and numbers', async () => {
    const page = await pages.open();
    const answer = await page.get();
    const text = await answer.text();
    expect(answer.status).toBe(200);
    for (const part of ['100.50 ETB', page.checkoutOrderNo, 'CBE Birr', 'coming soon', 'TEST: no real', '0911000008']) {
      expect(text).toContain(part);
    }
    expect(text).toMatch(/value="MPESA" disabled/);
    expect(text).toContain('Coffee &#60;script&#62;');
    expect(text.match(/Coffee/g)).toHaveLength(2); // the title of the document, and the heading
  });

  test('the page has at most 30 kB and its script 3 kB compressed', async () => {
    const text = await (await pages.open({ locale: 'am' })).text();
    expect(Buffer.byteLength(text)).toBeLessThan(30_000);
    const [, script = ''] = /<script>(.+)<\/script>/s.exec(text) ?? [];
    expect(gzipSync(script, { level: 9 }).length).toBeLessThan(3_000);
  });

  test('the page forbids frames, foreign scripts and referrers by its headers', async () => {
    const { headers } = await (await pages.open()).get();
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^ ]+; script-src 'sha256-[^ ]+; font-src 'self'; connect-src 'self'; .+frame-ancestors 'none'$/,
    );
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test("the page is in the customer's choice, else the shop's, else the browser's language", async () => {
    const languageOf = async (page: OpenPage, headers = {}) => /<html lang="(\w+)"/.exec(await page.text(headers))?.[1];
    const [page, amharic] = [await pages.open(), await pages.open({ locale: 'am' })];
    const asked = { 'accept-language': 'am-ET,am;q=0.9,en;q=0.5' };
    expect(await languageOf(page)).toBe('en');
    expect(await languageOf(page, { 'accept-language': 'om,fr' })).toBe('en');
    expect(await languageOf(page, asked)).toBe('am');
    expect(await languageOf(amharic)).toBe('am');
    expect(await languageOf(amharic, { cookie: `${amharic.cookie}; meskot_language=en`, ...asked })).toBe('en');
  });

  test('a choice of language is remembered for all checkout pages and leaves the address', async () => {
    const page = await pages.open();
    const answer = await page.get('?lang=am');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, page.path]);
    expect(answer.headers.getSetCookie()).toEqual([
      'meskot_language=am; Path=/checkout; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure',
    ]);
    expect((await page.get('?lang=xx')).headers.getSetCookie()).toEqual([]);
  });

  test('a channel whose limits exclude the amount is not offered', async () => {
    const text = await (await pages.open({ amountSantim: 10_000_000n })).text();
    expect(text).not.toContain('value="TELEBIRR"');
    expect(text).toContain('value="CBE_BIRR"');
  });

  test('paying leads to the waiting page and then to the final page with a link to the shop', async () => {
    pages.fixture.provider.returns(PENDING);
    const page = await pages.open({ successUrl: 'https://shop.example/done?cart=1' });
    const answer = await page.post('pay', PAY_FORM);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, page.path]);
    const waiting = await page.text();
    expect(waiting).toContain('<noscript><meta http-equiv="refresh" content="10" /></noscript>');
    expect(readable(waiting)).not.toMatch(/fail|not successful/i);
    const attempt = await page.attempt();
    pages.fixture.provider.returns(PAID);
    await pages.fixture.checkAttempt(attempt, { notifyWorkflow: true });
    const done = await page.text();
    expect(done).toContain('Paid. Thank you!');
    const ids = `sessionId=${page.sessionId}&#38;checkoutOrderNo=${page.checkoutOrderNo}`;
    expect(done).toContain(`href="https://shop.example/done?cart=1&#38;${ids}"`);
  });

  test('a form sent twice is harmless', async () => {
    pages.fixture.provider.returns(PENDING);
    const page = await pages.open();
    const answers = await Promise.all([page.post('pay', PAY_FORM), page.post('pay', PAY_FORM)]);
    expect(answers.map((one) => one.status)).toEqual([303, 303]);
    expect((await pages.stateOf(page))['attempts']).toHaveLength(1);
  });

  test('after a failed attempt the form is shown again with the reason', async () => {
    pages.fixture.provider.returns(declined(true));
    const page = await pages.open();
    await page.post('pay', PAY_FORM);
    const text = await page.text();
    expect(text).toContain('The last try was not successful: The payment was declined.');
    expect(text).toContain('action="' + page.path + '/pay');
  });

  test('the reason of a failed attempt is in the language of the page', async () => {
    pages.fixture.provider.returns(declined(true));
    const page = await pages.open({ locale: 'am' });
    await page.post('pay', PAY_FORM);
    const text = await page.text();
    expect(text).toContain('ያለፈው ሙከራ አልተሳካም፦ ክፍያው ተቀባይነት አላገኘም።');
    expect(text).not.toContain('The customer');
  });

  test('reloading the address of a rejected form leads to the page', async () => {
    const page = await pages.open();
    for (const verb of ['pay', 'change', 'check']) {
      const answer = await page.get(`/${verb}`);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, page.path]);
    }
  });

  test('large amounts are grouped by thousands', async () => {
    const text = await (await pages.open({ amountSantim: 10_000_050n })).text();
    expect(text.match(/[\d,.]+ ETB/g)).toEqual(['100,000.50 ETB']);
    expect(await (await pages.open({ amountSantim: 99_999n })).text()).toContain('999.99 ETB');
  });

  test('a number that is not a test number is rejected, and the form retains the input', async () => {
    const page = await pages.open();
    const answer = await page.post('pay', { channel: 'CBE_BIRR', phone: '"><b>0922' });
    const text = await answer.text();
    expect(answer.status).toBe(400);
    expect(text).toContain('Only the test numbers');
    expect(text).toContain('value="&#34;&#62;&#60;b&#62;0922"');
    expect(text).toMatch(/value="CBE_BIRR" required checked/);
  });

  test('cancelling ends the session, and its page shows that', async () => {
    const page = await pages.open({ cancelUrl: 'https://shop.example/cart' });
    expect((await page.post('cancel', {})).status).toBe(303);
    expect(await pages.stateOf(page)).toMatchObject({
      session: 'CANCELLED',
      events: ['checkout.canceled'],
    });
    expect(await page.text()).toContain('Payment cancelled');
  });

  test('a session after its expiry is shown as expired', async () => {
    const page = await pages.open({ expiresInMinutes: 5 });
    pages.fixture.pass(5 * 60_000);
    expect(await page.text()).toContain('has expired');
  });

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another site by an old browser', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
    ['nowhere', { 'sec-fetch-site': '' }],
  ])('a form from %s is rejected', async (_where, headers) => {
    const page = await pages.open();
    expect((await page.post('pay', PAY_FORM, headers)).status).toBe(403);
    expect(await pages.stateOf(page)).toMatchObject({ session: 'OPEN' });
  });

  test("the QR code is the page's address; only sessions of type QRCODE have it in the API and on narrow screens", async () => {
    const [till, shop] = [await pages.open({ type: 'QRCODE' }), await pages.open()];
    expect([till.qrPayload, shop.qrPayload]).toEqual([till.checkoutUrl, undefined]);
    expect(await till.text()).toContain('<div class="qr">');
    expect(await shop.text()).toContain('<div class="qr wide">');
  });
});
