import type { MerchantScope } from '../../src/lib/scope.ts';
import { setMerchantStatus } from '../../src/merchants/operations.ts';
import { buildFixture, buildMerchant, PAID, PENDING, stateOfSession, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { PAY_FORM, servePages, type Pages } from './pages.ts';

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;
let pages: Pages;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db);
  scope = await buildMerchant(database.db);
  pages = await servePages(fixture);
});
afterAll(async () => {
  await pages.close();
  await database.drop();
});

describe('the page of a suspended merchant', () => {
  const suspend = (status: 'SUSPENDED' | 'ACTIVE') =>
    database.db.transaction((trx) => setMerchantStatus(trx, scope.merchantId, status));
  afterEach(() => suspend('ACTIVE'));

  test('cannot be paid, and the page gives the reason', async () => {
    const page = await pages.open(scope);
    await suspend('SUSPENDED');
    for (const answer of [await page.get(), await page.post('pay', PAY_FORM)]) {
      expect(answer.status).toBe(403);
      expect(await answer.text()).toContain('takes no payments now');
    }
    expect(await stateOfSession(database.db, page.sessionId)).toMatchObject({ session: 'OPEN', attempts: null });
    await suspend('ACTIVE');
    expect((await page.get()).status).toBe(200);
  });

  test('still shows the outcome of a payment that was in flight', async () => {
    fixture.provider.returns(PENDING);
    const page = await pages.open(scope);
    await page.post('pay', PAY_FORM);
    await suspend('SUSPENDED');
    expect(await page.text()).toContain('Confirm on your phone');
    const attempt = await page.attempt();
    fixture.provider.returns(PAID);
    await fixture.checkAttempt(attempt, { notifyWorkflow: true });
    expect(await page.text()).toContain('Paid. Thank you!');
  });
});

describe('with limits', () => {
  let limited: Pages;
  beforeEach(async () => {
    limited = await servePages(fixture, { sandboxPerSecond: 1, pagesPerSecond: 3, failedAuthPerMinute: 2 });
  });
  afterEach(() => limited.close());

  test('requests of one address are limited over all sessions, with Retry-After', async () => {
    const [one, other] = [await limited.open(scope), await limited.open(scope)];
    for (let count = 0; count < 3; count += 1) {
      expect([(await one.get()).status, (await other.get()).status]).toEqual([200, 200]);
    }
    const refused = await one.get();
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(refused.headers.get('content-type')).toMatch(/html/);
    expect(await refused.text()).toContain('Too many requests');
  });

  test('wrong tokens are limited by address, and the right token is always accepted', async () => {
    const page = await limited.open(scope);
    const wrong = { cookie: `meskot_checkout=${'x'.repeat(43)}` };
    expect((await page.get('', wrong)).status).toBe(404);
    expect((await fetch(`${limited.url}/checkout/cs_unknown`, { headers: wrong })).status).toBe(404);
    expect((await page.get('', wrong)).status).toBe(429);
    expect((await page.get()).status).toBe(200);
  });
});
