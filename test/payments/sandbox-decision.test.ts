import { systemClock } from '../../src/lib/clock.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { listAttempts } from '../../src/payments/queries.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { transactionRoutes } from '../../src/payments/transaction-routes.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { buildFixture, buildMerchant, buildSession, stateOfSession, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';

const NEVER_ANSWERS = '0911000004';

describe('a payment of the sandbox that waits for its payer', () => {
  let database: TestDatabase;
  let simulator: TestSimulator;
  let fixture: Fixture;
  let scope: MerchantScope;
  let server: TestServer;
  const http = createHttpClient();

  beforeAll(async () => {
    database = await createTestDatabase();
    simulator = await startTestSimulator();
    const findProvider = createFindProvider({ http, clock: systemClock, simulatorUrl: simulator.url });
    fixture = buildFixture(database.db, { clock: systemClock, findProvider });
    scope = await buildMerchant(database.db);
    const routes = [...checkoutRoutes(fixture), ...transactionRoutes(fixture)];
    server = await startTestServer(testServerDeps(database.db, { routes }), stubKey(scope.merchantId));
  });
  afterAll(async () => {
    await Promise.all([server.close(), simulator.close(), http.close()]);
    await database.drop();
  });

  const pay = (sessionId: string, channel: string) =>
    server.send('POST', `/api/checkout/sessions/${sessionId}/pay`, { body: { channel, phone: NEVER_ANSWERS } });
  const decide = (transactionId: string, decision: string, more = {}) =>
    server.send('POST', `/api/checkout/sandbox/txns/${transactionId}/decision`, { body: { decision }, ...more });

  test.each(['TELEBIRR', 'CBE_BIRR', 'AWASH'])('is approved at %s', async (channel) => {
    const { sessionId, transactionId } = await buildSession(fixture, scope);
    await pay(sessionId, channel);
    const { status, body } = await decide(transactionId, 'approve');
    expect([status, body.message]).toEqual([200, 'Transaction is SUCCESS']);
    expect(body.data.status).toBe('SUCCESS');
    const { events } = await stateOfSession(database.db, sessionId);
    expect(events).toEqual(['checkout.completed', 'payment.created', 'payment.succeeded']);
  });

  test('is declined; neither before its start nor after its end there is anything to decide', async () => {
    const { sessionId, transactionId } = await buildSession(fixture, scope);
    expect((await decide(transactionId, 'approve')).body.error.code).toBe('INVALID_STATE');
    await pay(sessionId, 'TELEBIRR');
    const { body } = await decide(transactionId, 'decline');
    expect(body.data).toMatchObject({ status: 'FAILED', failure: { code: 'DECLINED' } });
    expect((await decide(transactionId, 'approve')).body.error.code).toBe('INVALID_STATE');
  });

  test('was approved by an earlier request whose response was lost', async () => {
    const { sessionId, transactionId } = await buildSession(fixture, scope);
    await pay(sessionId, 'CBE_BIRR');
    const [attempt] = await listAttempts(database.db, transactionId);
    await fixture.findProvider('CBE_BIRR', 'sandbox')?.decide?.(attempt?.id ?? '', 'approve');
    const declined = await decide(transactionId, 'decline');
    expect(declined.body.message).toBe('The payment was decided before: it is SUCCEEDED.');
    expect((await decide(transactionId, 'approve')).body.error.code).toBe('INVALID_STATE');
  });

  test('is decided at the simulator by JSON with a known decision only', async () => {
    const { sessionId, transactionId } = await buildSession(fixture, scope);
    await pay(sessionId, 'CBE_BIRR');
    const [attempt] = await listAttempts(database.db, transactionId);
    const send = async (body: string, type: string) => {
      const url = `${simulator.url}/cbebirr/orders/${attempt?.id}/decision`;
      return (await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })).status;
    };
    expect(await send('decision=approve', 'application/x-www-form-urlencoded')).toBe(400);
    expect(await send('{"decision":"constructor"}', 'application/json')).toBe(400);
    expect((await simulator.orderOf(attempt?.id ?? ''))?.state).toBe('WAITING');
  });

  test('is decided in one of two ways, and not with a live key', async () => {
    const { transactionId } = await buildSession(fixture, scope);
    const { status, body } = await decide(transactionId, 'pay');
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    const live = await decide(transactionId, 'approve', { key: stubKey(scope.merchantId, 'live') });
    expect([live.status, live.body.message]).toEqual([404, 'Available in the sandbox only. Use a sandbox key.']);
  });

  test('stays as it is while the provider does not respond', async () => {
    const away = createFindProvider({ http, clock: systemClock, simulatorUrl: 'http://127.0.0.1:9' });
    const deps = { ...fixture, findProvider: away };
    const { sessionId, transactionId } = await buildSession(fixture, scope);
    await pay(sessionId, 'CBE_BIRR');
    const other = await startTestServer(
      testServerDeps(database.db, { routes: transactionRoutes(deps) }),
      stubKey(scope.merchantId),
    );
    const path = `/api/checkout/sandbox/txns/${transactionId}/decision`;
    expect((await other.send('POST', path, { body: { decision: 'approve' } })).status).toBe(503);
    await other.close();
    expect(await stateOfSession(database.db, sessionId)).toMatchObject({ session: 'PROCESSING' });
  });
});
