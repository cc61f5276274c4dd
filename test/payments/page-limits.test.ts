import { setMerchantStatus } from '../../src/merchants/operations.ts';
import { PAID, PENDING } from '../support/build.ts';
import { PAY_FORM, servePages, startPages, type Pages, type StartedPages } from './pages.ts';

let pages: StartedPages;

beforeAll(async () => {
  pages = await startPages();
});
afterAll(() => pages.close());

describe('the page of a suspended merchant', () => {
  const suspend = (status: 'SUSPENDED' | 'ACTIVE') =>
    pages.db.transaction((trx) => setMerchantStatus(trx, pages.scope.merchantId, status));
  afterEach(() => suspend('ACTIVE'));

  test('cannot be paid, and the page gives the reason', async () => {
    const page = await pages.open();
    await suspend('SUSPENDED');
    for (const answer of [await page.get(), await page.post('pay', PAY_FORM)]) {
      expect(answer.status).toBe(403);
      expect(await answer.text()).toContain('takes no payments now');
    }
    expect(await pages.stateOf(page)).toMatchObject({ session: 'OPEN', attempts: null });
    await suspend('ACTIVE');
    expect((await page.get()).status).toBe(200);
  });

  test('still shows the outcome of a payment that was in flight', async () => {
    pages.fixture.provider.returns(PENDING);
    const page = await pages.open();
    await page.post('pay', PAY_FORM);
    await suspend('SUSPENDED');
    expect(await page.text()).toContain('Confirm on your phone');
    const attempt = await page.attempt();
    pages.fixture.provider.returns(PAID);
    await pages.fixture.checkAttempt(attempt, { notifyWorkflow: true });
    expect(await page.text()).toContain('Paid. Thank you!');
  });
});

describe('with limits', () => {
  let limited: Pages;
  beforeEach(async () => {
    limited = await servePages(pages.fixture, { sandboxPerSecond: 1, pagesPerSecond: 3, failedAuthPerMinute: 2 });
  });
  afterEach(() => limited.close());

  test('requests of one address are limited over all sessions, with Retry-After', async () => {
    const [one, other] = [await limited.open(pages.scope), await limited.open(pages.scope)];
    for (let count = 0; count < 3; count += 1) {
      expect([(await one.get()).status, (await other.get()).status]).toEqual([200, 200]);
    }
    const refused = await one.get();
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(refused.headers.get('content-type')).toMatch(/html/);
    const seconds = refused.headers.get('retry-after');
    expect(await refused.text()).toMatch(new RegExp(`Too many requests[^]*Please wait ${seconds} s`));
    expect(refused.headers.get('refresh')).toBe(seconds);
    const posted = await one.post('pay', PAY_FORM);
    expect([posted.status, posted.headers.get('refresh')]).toEqual([429, null]);
  });

  test('wrong tokens are limited by address, and the right token is always accepted', async () => {
    const page = await limited.open(pages.scope);
    const wrong = { cookie: `meskot_checkout=${'x'.repeat(43)}` };
    expect((await page.get('', wrong)).status).toBe(404);
    expect((await fetch(`${limited.url}/checkout/cs_unknown`, { headers: wrong })).status).toBe(404);
    expect((await page.get('', wrong)).status).toBe(429);
    expect((await page.get()).status).toBe(200);
  });
});
