import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { createLimits } from '../../src/http/limits.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { createLogger } from '../../src/lib/log.ts';
import { setMerchantStatus } from '../../src/merchants/operations.ts';
import { findAttemptBySecret } from '../../src/payments/queries.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { createTokenAuthenticator } from '../../src/payments/session.ts';
import { isConclusive, MIN_QUERY_INTERVAL_MS } from '../../src/payments/sync.ts';
import { transactionRoutes } from '../../src/payments/transaction-routes.ts';
import { createCallbackRouter, storeCallback } from '../../src/providers/callbacks.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { buildMerchant, buildFixture, stateOfSession, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestServer, NO_LIMITS, stubKey, testServerDeps, type HttpResponse } from '../support/http.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';

type Sent = { body?: unknown; headers?: Record<string, string> };

/** The API of checkout over HTTP, with the sandbox's providers behind it and their callbacks coming in. */
describe('paying in the sandbox over HTTP', () => {
  let database: TestDatabase;
  let simulator: TestSimulator;
  let fixture: Fixture;
  let server: Server;
  let base: string;
  let key: string;
  const http = createHttpClient();

  beforeAll(async () => {
    database = await createTestDatabase();
    simulator = await startTestSimulator();
    let handle: ReturnType<typeof createTestServer>['callback'] = () => undefined;
    server = createServer((request, response) => handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const findProvider = createFindProvider({ http, clock: systemClock, simulatorUrl: simulator.url });
    fixture = buildFixture(database.db, { clock: systemClock, findProvider, baseUrl: base });
    const scope = await buildMerchant(database.db);
    key = stubKey(scope.merchantId);
    const callbacks = createCallbackRouter({
      findOrderBySecret: (secret) => findAttemptBySecret(database.db, secret),
      findProvider,
      storeCallback: (row) => storeCallback(database.db, row),
      onCallback: async (order, { verified }) => {
        if (!('attemptId' in order)) throw new Error('not an attempt');
        const minIntervalMs = verified ? 0 : MIN_QUERY_INTERVAL_MS;
        return isConclusive(await fixture.checkAttempt(order.attemptId, { minIntervalMs, notifyWorkflow: true }));
      },
      unknown: createLimits(NO_LIMITS).unknownCallbacks,
      log: createLogger('silent', 'test'),
    });
    const routes = [...checkoutRoutes(fixture), ...transactionRoutes(fixture)];
    const api = createTestServer({
      ...testServerDeps(database.db, { routes, routers: [callbacks] }),
      ...createTokenAuthenticator(fixture),
    });
    handle = api.callback;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await Promise.all([simulator.close(), http.close()]);
    await database.drop();
  });

  async function send(method: string, path: string, { body, headers }: Sent = {}): Promise<HttpResponse> {
    const response = await fetch(base + path, {
      method,
      headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  }

  let orders = 0;
  const newSession = () => ({ checkoutOrderNo: `SANDBOX-${(orders += 1)}`, amount: 100.5, currency: 'ETB' });
  async function open() {
    const { body } = await send('POST', '/api/checkout/sessions', { body: { ...newSession(), expiresInMinutes: 5 } });
    return body.data as { sessionId: string; transactionId: string; clientToken: string };
  }
  const pay = (sessionId: string, phone: string, channel = 'TELEBIRR') =>
    send('POST', `/api/checkout/sessions/${sessionId}/pay`, { body: { channel, phone } });
  const hook = (claim: string, sessionId: string, body: object = {}) =>
    send('POST', `/api/checkout/hooks/${claim}/${sessionId}`, { body });
  const status = (sessionId: string, wait = 0) => send('GET', `/api/checkout/hooks/status/${sessionId}?wait=${wait}`);

  test.each([
    ['TELEBIRR', true],
    ['CBE_BIRR', false],
    ['AWASH', false],
  ])('%s: an approved payment succeeds by its callback during a wait for the status', async (channel, redirects) => {
    const { sessionId } = await open();
    const paid = await pay(sessionId, '+251 911 000 001', channel);
    expect(paid.status).toBe(202);
    expect(paid.body.data).toMatchObject({ status: 'PENDING', transactionStatus: 'PENDING', nextPollAfterMs: 2_000 });
    expect('redirectUrl' in paid.body.data).toBe(redirects);
    expect((await status(sessionId, 10)).body.data).toMatchObject({ status: 'SUCCESS', final: true });
    const stands = await stateOfSession(database.db, sessionId);
    expect(stands).toMatchObject({ events: ['checkout.completed', 'payment.created', 'payment.succeeded'] });
  });

  test('insufficient funds leave the session open for another attempt', async () => {
    const { sessionId, transactionId } = await open();
    await pay(sessionId, '0911000003');
    while ((await stateOfSession(database.db, sessionId))['session'] === 'PROCESSING') await pause();
    expect(await stateOfSession(database.db, sessionId)).toMatchObject({ session: 'OPEN', attempts: ['DECLINED'] });
    const { body } = await send('GET', `/api/checkout/txns/${transactionId}`);
    const detail = expect.objectContaining({ code: 'INSUFFICIENT_FUNDS', next: 'OPEN' });
    expect(body.data.timeline).toContainEqual(expect.objectContaining({ kind: 'attempt.declined', detail }));
    expect((await pay(sessionId, '0911000001')).status).toBe(202);
    expect((await status(sessionId, 10)).body.data.status).toBe('SUCCESS');
  });

  test('a hard decline fails the transaction with the reason', async () => {
    const { sessionId, transactionId } = await open();
    await pay(sessionId, '0911000002');
    expect((await status(sessionId, 10)).body.data).toMatchObject({ status: 'FAILED', final: true });
    const { body } = await send('GET', `/api/checkout/txns/${transactionId}`);
    expect(body.data).toMatchObject({ status: 'FAILED', failure: { code: 'DECLINED', retryable: false } });
  });

  test('a payment with a lost callback is found by the query that a reported success triggers', async () => {
    const { sessionId } = await open();
    await pay(sessionId, '0911000007');
    const early = await hook('success', sessionId, { claimedStatus: 'SUCCESS' });
    expect(early.body.data).toMatchObject({ claim: 'success', status: 'PENDING', final: false });
    fixture.pass(2_000);
    while ((await hook('success', sessionId)).body.data.status !== 'SUCCESS') fixture.pass(2_000);
    expect((await status(sessionId)).body.data).toMatchObject({
      status: 'SUCCESS',
      final: true,
      nextPollAfterMs: null,
    });
  });

  test('fifty parallel hooks cause one provider query, one set of events and fifty responses', async () => {
    const { sessionId } = await open();
    const { body } = await pay(sessionId, '0911000007');
    const paid = async () => (await simulator.orderOf(body.data.attemptId))?.paid === true;
    while (!(await paid())) await pause();
    fixture.pass(2_000);
    const before = await simulator.requests('TELEBIRR query');
    const answers = await Promise.all(Array.from({ length: 50 }, () => served(() => hook('success', sessionId))));
    expect(answers.map((one) => one.body.data.status)).toEqual(Array.from({ length: 50 }, () => 'SUCCESS'));
    expect(await simulator.requests('TELEBIRR query')).toBe(before + 1);
    const stands = await stateOfSession(database.db, sessionId);
    expect(stands).toMatchObject({ events: ['checkout.completed', 'payment.created', 'payment.succeeded'] });
  });

  test('an approval with a wrong amount is held, and the transaction shows it', async () => {
    const { sessionId, transactionId } = await open();
    await pay(sessionId, '0911000008');
    while ((await stateOfSession(database.db, sessionId))['holdReason'] === null) await pause();
    const { body } = await send('GET', `/api/checkout/txns/${transactionId}`);
    expect(body.data).toMatchObject({ status: 'PENDING', held: 'WRONG_AMOUNT' });
    expect((await hook('cancel', sessionId)).body.data.status).toBe('PENDING');
  });

  test("a suspended merchant's session is not paid by its token", async () => {
    const { sessionId, clientToken } = await open();
    const suspend = (status: 'SUSPENDED' | 'ACTIVE') =>
      database.db.transaction((trx) => setMerchantStatus(trx, key.split(':')[1] ?? '', status));
    const byToken = () =>
      fetch(`${base}/api/checkout/sessions/${sessionId}/pay`, {
        method: 'POST',
        headers: { 'x-client-token': clientToken, 'content-type': 'application/json' },
        body: JSON.stringify({ channel: 'TELEBIRR', phone: '0911000001' }),
      });
    await suspend('SUSPENDED');
    const refused = await byToken().finally(() => suspend('ACTIVE'));
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'MERCHANT_SUSPENDED' } });
    expect(await stateOfSession(database.db, sessionId)).toMatchObject({ session: 'OPEN', attempts: null });
    expect((await byToken()).status).toBe(202);
  });

  test('an approval after the session expired is booked late', async () => {
    const { sessionId, transactionId } = await open();
    const { body } = await pay(sessionId, '0911000006');
    fixture.pass(5 * 60_000);
    await fixture.expireAttempt(body.data.attemptId, fixture.clock());
    expect((await status(sessionId)).body.data.status).toBe('EXPIRED');
    // The simulator's clock is behind ours by what other tests have let pass.
    await simulator.advance(15 * 60_000);
    while ((await status(sessionId)).body.data.status === 'EXPIRED') await pause();
    const transaction = await send('GET', `/api/checkout/txns/${transactionId}`);
    expect(transaction.body.data).toMatchObject({ status: 'SUCCESS', lateConfirmation: true });
  });

  test('cancelling a payment in flight queries the provider first and cancels an unpaid payment', async () => {
    const { sessionId } = await open();
    await pay(sessionId, '0911000004');
    expect((await hook('cancel', sessionId)).body.data).toMatchObject({ status: 'CANCELLED', final: true });
    expect(await stateOfSession(database.db, sessionId)).toMatchObject({ attempts: ['ABANDONED'] });
  });

  test('cancelling a payment that was paid meanwhile finds it paid', async () => {
    const { sessionId } = await open();
    const { body } = await pay(sessionId, '0911000007');
    while ((await simulator.orderOf(body.data.attemptId))?.paid !== true) await pause();
    fixture.pass(2_000);
    expect((await hook('cancel', sessionId)).body.data).toMatchObject({ claim: 'cancel', status: 'SUCCESS' });
  });

  test('a number that is not a sandbox number is rejected with the list', async () => {
    const { sessionId } = await open();
    const answer = await pay(sessionId, '0922334455');
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.message).toContain('0911000005 (approved after 2 minutes)');
  });

  test("a session's token is accepted for its own calls and no others", async () => {
    const mine = await open();
    const other = await open();
    const token = { 'x-client-token': mine.clientToken };
    const asClient = async (sessionId: string) => {
      const response = await fetch(`${base}/api/checkout/hooks/status/${sessionId}`, { headers: token });
      return response.status;
    };
    expect(await asClient(mine.sessionId)).toBe(200);
    expect(await asClient(other.sessionId)).toBe(401);
    const list = await fetch(`${base}/api/checkout/txns/${mine.transactionId}`, { headers: token });
    expect(list.status).toBe(401);
  });

  test('a repeated payment with the same idempotency key returns the same bytes, redirect included', async () => {
    const { sessionId } = await open();
    const body = { channel: 'TELEBIRR', phone: '0911000004' };
    const path = `/api/checkout/sessions/${sessionId}/pay`;
    const first = await send('POST', path, { body, headers: { 'idempotency-key': sessionId } });
    const again = await send('POST', path, { body, headers: { 'idempotency-key': sessionId } });
    expect(again.text).toBe(first.text);
    expect(first.body.data.redirectUrl).toContain('http');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test('an expired session cannot be paid, and a repeat of expiring is harmless', async () => {
    const { sessionId } = await open();
    for (let times = 0; times < 2; times += 1) {
      const answer = await send('POST', `/api/checkout/sessions/${sessionId}/expire`);
      expect(answer.body.data).toMatchObject({ status: 'EXPIRED', transactionStatus: 'EXPIRED' });
    }
    expect((await pay(sessionId, '0911000001')).body.error.code).toBe('INVALID_STATE');
    expect(await stateOfSession(database.db, sessionId)).toMatchObject({ events: ['checkout.expired'] });
  });

  test('a rejected request names the field and stores nothing', async () => {
    const bad: [object, number, string][] = [
      [{ amount: 10.005 }, 400, 'VALIDATION_ERROR'],
      [{ amount: 0 }, 400, 'VALIDATION_ERROR'],
      [{ amount: '100' }, 400, 'VALIDATION_ERROR'],
      [{ currency: 'USD' }, 400, 'UNSUPPORTED_CURRENCY'],
      [{ checkoutOrderNo: 'a b' }, 400, 'VALIDATION_ERROR'],
      [{ successUrl: 'javascript:alert(1)' }, 400, 'VALIDATION_ERROR'],
      [{ successUrl: 'https://abyssinia@shop.example.et/' }, 400, 'VALIDATION_ERROR'],
      [{ expiresInMinutes: 4 }, 400, 'VALIDATION_ERROR'],
      [{ extra: 1 }, 400, 'VALIDATION_ERROR'],
      [{ channels: ['MPESA'] }, 403, 'CHANNEL_NOT_AVAILABLE'],
      [{ amount: 0.5 }, 422, 'AMOUNT_BELOW_MINIMUM'],
      [{ amount: 700_000 }, 422, 'AMOUNT_ABOVE_MAXIMUM'],
    ];
    const count = async () => (await database.db.knex()('transaction').count())[0]?.['count'];
    const before = await count();
    for (const [tx, expected, code] of bad) {
      const answer = await send('POST', '/api/checkout/sessions', { body: { ...newSession(), ...tx } });
      expect([answer.status, answer.body.error?.code]).toEqual([expected, code]);
    }
    expect(await count()).toEqual(before);
  });

  test('an order number is used once; the error names its session', async () => {
    const body = newSession();
    const first = await send('POST', '/api/checkout/sessions', { body });
    const again = await send('POST', '/api/checkout/sessions', { body });
    expect([again.status, again.body.error.code]).toEqual([409, 'DUPLICATE_REFERENCE']);
    expect(again.body.error.existing).toEqual({ sessionId: first.body.data.sessionId });
  });
});

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

/** Repeats requests answered 503, after their Retry-After: on a busy machine fifty at once are more than the pool serves. */
async function served(call: () => Promise<HttpResponse>): Promise<HttpResponse> {
  for (const endMs = Date.now() + 15_000; ;) {
    const answer = await call();
    if (answer.status !== 503 || Date.now() > endMs) return answer;
  }
}
