import { createLimits } from '../../src/http/limits.ts';
import { DAY_MS } from '../../src/lib/dates.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createCheckoutPages } from '../../src/payments/checkout-page/routes.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { createTokenAuthenticator } from '../../src/payments/session.ts';
import {
  ACCEPTED,
  buildAttempt,
  buildMerchant,
  buildPendingPayment,
  buildFixture,
  declined,
  PAID,
  PHONE,
  UNKNOWN,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NO_LIMITS, startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';

const WRONG = { ...PAID, amountSantim: 1n };

describe('a payment under review', () => {
  let database: TestDatabase;
  let fixture: Fixture;
  let scope: MerchantScope;
  let server: TestServer;

  beforeAll(async () => {
    database = await createTestDatabase();
    fixture = buildFixture(database.db);
    scope = await buildMerchant(database.db);
    const pages = createCheckoutPages({
      ...fixture,
      limits: createLimits(NO_LIMITS),
      tokens: createTokenAuthenticator(fixture),
    });
    const deps = testServerDeps(database.db, {
      routes: checkoutRoutes(fixture),
      routers: [pages],
      clock: fixture.clock,
    });
    server = await startTestServer(deps, stubKey(scope.merchantId));
  });
  afterAll(async () => {
    await server.close();
    await database.drop();
  });

  const check = (attemptId: string) => fixture.checkAttempt(attemptId, { notifyWorkflow: true });
  const post = (path: string, body: object = {}) => server.send('POST', `/api/checkout/${path}`, { body });
  const get = async (path: string) => (await server.send('GET', `/api/checkout/${path}`)).body;

  async function held() {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(WRONG);
    await check(payment.attemptId);
    return payment;
  }

  test('a wrong amount: hooks give the reason, no payment page and a long poll interval', async () => {
    const { sessionId } = await held();
    const says = {
      status: 'PENDING',
      final: false,
      underReview: 'WRONG_AMOUNT',
      redirectUrl: null,
      nextPollAfterMs: 30_000,
    };
    const answers = [await get(`hooks/status/${sessionId}`)];
    for (const claim of ['success', 'error', 'cancel']) answers.push((await post(`hooks/${claim}/${sessionId}`)).body);
    for (const { data, message } of answers) {
      expect(data).toMatchObject(says);
      expect(message).toContain('must not pay again');
    }
    const session = await get(`sessions/${sessionId}`);
    expect(session.data).toMatchObject({ status: 'PROCESSING', underReview: 'WRONG_AMOUNT' });
  });

  test('a wrong amount: another payment and expiry are rejected with the reason', async () => {
    const { sessionId } = await held();
    const asked = fixture.provider.queries.length;
    const answers = [
      await post(`sessions/${sessionId}/pay`, { channel: 'TELEBIRR', phone: PHONE }),
      await post(`sessions/${sessionId}/pay`, { channel: 'AWASH', phone: '0911000002' }),
      await post(`sessions/${sessionId}/expire`),
    ];
    for (const { status, body } of answers) {
      expect([status, body.error.code]).toEqual([409, 'INVALID_STATE']);
      expect(body.message).toMatch(/unexpected amount.*must not pay again/);
      expect(body.message).not.toMatch(/cancel/);
    }
    expect(fixture.provider.queries).toHaveLength(asked);
  });

  test('a late wrong amount on a declined attempt prevents the next attempt', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(declined(true), WRONG);
    await check(payment.attemptId);
    await check(payment.attemptId);
    const refused = await post(`sessions/${payment.sessionId}/pay`, { channel: 'TELEBIRR', phone: PHONE });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect((await get(`sessions/${payment.sessionId}`)).data).toMatchObject({ underReview: 'WRONG_AMOUNT' });
    const headers = { cookie: `meskot_checkout=${payment.clientToken}` };
    const page = await server.send('GET', `/checkout/${payment.sessionId}`, { headers });
    expect(page.text).toContain('We are looking into your payment');
    expect(page.text).not.toContain('<form');
  });

  test('a second payment: the session is paid and shown as paid twice', async () => {
    const first = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(declined(true), ACCEPTED, PAID);
    await check(first.attemptId);
    fixture.pass(1_000);
    const second = await buildAttempt(fixture, { ...scope, sessionId: first.sessionId });
    for (const attemptId of [second, second]) await check(attemptId);
    expect((await get(`hooks/status/${first.sessionId}`)).data).toMatchObject({ underReview: null });
    await check(first.attemptId);
    const says = { status: 'SUCCESS', final: true, underReview: 'PAID_TWICE', nextPollAfterMs: null };
    expect((await get(`hooks/status/${first.sessionId}`)).data).toMatchObject(says);
    expect((await get(`sessions/${first.sessionId}`)).data).toMatchObject({ underReview: 'PAID_TWICE' });
  });

  test('an unknown outcome at the end: the session is expired and shown as unknown', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(UNKNOWN);
    fixture.pass(3_000);
    const refused = await post(`sessions/${payment.sessionId}/expire`);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining('Repeat the request in a moment'),
    ]);
    fixture.pass(2 * DAY_MS);
    await fixture.expireAttempt(payment.attemptId, fixture.clock());
    const says = { status: 'EXPIRED', final: true, underReview: 'OUTCOME_UNKNOWN' };
    expect((await get(`hooks/status/${payment.sessionId}`)).data).toMatchObject(says);
  });
});
