import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import Koa from 'koa';

import { createLimits } from '../../src/http/limits.ts';
import { Registry } from '../../src/http/metrics.ts';
import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { channelRoutes } from '../../src/merchants/channels/routes.ts';
import { createCheckoutPages } from '../../src/payments/checkout-page/routes.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { createTokenAuthenticator } from '../../src/payments/session.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { withdrawalRoutes } from '../../src/payouts/withdrawals/routes.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { CIRCUIT } from '../../src/providers/circuit-breaker.ts';
import { connectLive } from '../providers/live.ts';
import {
  buildAttempt,
  buildFixture,
  buildMerchant,
  buildSession,
  stateOfSession,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NO_LIMITS, startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { buildLive, expectPaidOutOnce } from '../support/withdrawals.ts';

const CHECK = { minIntervalMs: 0, notifyWorkflow: false };
/** It is approved at once, and its callback is lost. */
const PAYER = { channel: 'CBE_BIRR', phone: '0911000007' } as const;
const SENTENCE =
  'channel CBE_BIRR is not available just now: its provider does not respond; try again in 30 s, or use another channel';

/** An API and a worker, each with its own circuit breakers, on one database; the live provider of CBE_BIRR is the simulator. */
describe('while the provider of a live channel does not respond', () => {
  let database: TestDatabase;
  let simulator: TestSimulator;
  let worker: Fixture;
  let api: Fixture;
  let server: TestServer;
  let pages: Server;
  let scope: MerchantScope;
  let connections: ReturnType<typeof connectLive>[];
  let passedMs = 0;
  const registry = new Registry();
  const clock = () => new Date(Date.now() + passedMs);

  beforeAll(async () => {
    database = await createTestDatabase();
    simulator = await startTestSimulator();
    const { db } = database;
    const monitor = { db, log: createLogger('silent', 'test') };
    connections = [registry, new Registry()].map((one) =>
      connectLive(simulator.url, { clock, monitor: { ...monitor, registry: one } }),
    );
    [worker, api] = connections.map(({ find }) => buildFixture(db, { clock, findProvider: find })) as [
      Fixture,
      Fixture,
    ];
    const checkPayout = createCheck(api, WITHDRAWAL);
    const routes = [...channelRoutes(api), ...checkoutRoutes(api), ...withdrawalRoutes({ ...api, checkPayout })];
    server = await startTestServer(testServerDeps(db, { routes, clock }));
    const app = new Koa();
    const tokens = createTokenAuthenticator(api);
    app.use(createCheckoutPages({ ...api, limits: createLimits(NO_LIMITS), tokens }).routes());
    pages = createServer((request, response) => void app.callback()(request, response));
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(async () => {
    await simulator.clearFaults();
    scope = await buildLive(database.db, await buildMerchant(database.db));
  });
  afterEach(async () => {
    await simulator.clearFaults();
    passedMs += CIRCUIT.openMs;
    await Promise.all([probe(worker), probe(api)]);
    await until('the channel to be available', async () => (await reasonOf('CBE_BIRR')) === null);
  });
  afterAll(async () => {
    await server.close();
    await new Promise((resolve) => pages.close(resolve));
    await Promise.all([...connections.map((one) => one.close()), simulator.close()]);
    await database.drop();
  });

  const key = () => stubKey(scope.merchantId, 'live');
  const send = (method: string, path: string, body: object) => server.send(method, path, { key: key(), body });
  const channel = async (name: string, of = key()) => {
    const { body } = await server.send('GET', '/api/checkout/channels', { key: of });
    return body.data.find((one: { channel: string }) => one.channel === name);
  };
  const reasonOf = async (name: string) => (await channel(name)).reason;
  const probe = async ({ findProvider }: Fixture) => findProvider('CBE_BIRR', 'live')?.query('pat_01PROBE');
  const start = async () => {
    const session = await buildSession(api, scope, { channels: ['CBE_BIRR', 'AWASH'] });
    return { ...session, attemptId: await buildAttempt(api, { ...scope, sessionId: session.sessionId }, PAYER) };
  };
  const text = async ({ sessionId, clientToken }: { sessionId: string; clientToken: string }, language = 'en') => {
    const { port } = pages.address() as AddressInfo;
    const headers = { cookie: `meskot_checkout=${clientToken}; meskot_language=${language}` };
    return (await fetch(`http://127.0.0.1:${port}/checkout/${sessionId}`, { headers })).text();
  };

  /** The provider fails, and the worker finds it out. */
  async function outage(): Promise<void> {
    await simulator.fault({ kind: 'serverError', channel: 'CBE_BIRR' });
    for (let calls = 0; calls < CIRCUIT.failuresInRow; calls += 1) await probe(worker);
    await until('the channel to be unavailable', async () => (await reasonOf('CBE_BIRR')) === 'UNAVAILABLE');
  }

  test('the channel is listed as UNAVAILABLE in live, and as usable in the sandbox', async () => {
    await outage();
    expect(await channel('CBE_BIRR')).toMatchObject({ usable: false, reason: 'UNAVAILABLE', enabled: true });
    expect(await channel('AWASH')).toMatchObject({ usable: true, reason: null });
    expect(await channel('CBE_BIRR', stubKey(scope.merchantId))).toMatchObject({ usable: true, reason: null });
    expect((await registry.getSingleMetric('meskot_provider_circuit_open')?.get())?.values).toContainEqual(
      expect.objectContaining({ labels: { channel: 'CBE_BIRR', service: 'payments' }, value: 1 }),
    );
  });

  test('the merchant switches the channel off and on as at any time', async () => {
    await outage();
    const path = '/api/checkout/channels/CBE_BIRR';
    expect((await send('PATCH', path, { enabled: false })).body.data).toMatchObject({ reason: 'DISABLED' });
    for (const _ of ['on', 'on again']) {
      const { status, body } = await send('PATCH', path, { enabled: true });
      expect([status, body.data]).toEqual([200, expect.objectContaining({ enabled: true, reason: 'UNAVAILABLE' })]);
    }
  });

  test('a session is rejected only when no other of its channels is available, with Retry-After', async () => {
    await outage();
    const session = (channels?: string[]) =>
      send('POST', '/api/checkout/sessions', {
        checkoutOrderNo: `O-${passedMs}-${channels?.join('-')}`,
        amount: 100.5,
        currency: 'ETB',
        ...(channels && { channels }),
      });
    const rejected = await session(['CBE_BIRR']);
    expect([rejected.status, rejected.body.error.code, rejected.body.message]).toEqual([
      403,
      'CHANNEL_NOT_AVAILABLE',
      SENTENCE,
    ]);
    expect(rejected.headers.get('retry-after')).toBe('30');
    expect((await session(['CBE_BIRR', 'AWASH'])).status).toBe(201);
    expect((await session()).status).toBe(201);
  });

  test('paying by the channel is rejected with Retry-After, and by another one accepted', async () => {
    const { sessionId } = await buildSession(api, scope);
    await outage();
    const pay = (by: string) =>
      send('POST', `/api/checkout/sessions/${sessionId}/pay`, { channel: by, phone: '0911000001' });
    const rejected = await pay('CBE_BIRR');
    expect([rejected.status, rejected.body.message]).toEqual([403, SENTENCE]);
    expect(rejected.headers.get('retry-after')).toBe('30');
    expect(await stateOfSession(database.db, sessionId)).toMatchObject({ session: 'OPEN', attempts: null });
    expect((await pay('AWASH')).status).toBe(202);
  });

  test('the checkout page shows the channel as not available just now, in both languages', async () => {
    const session = await buildSession(api, scope);
    expect(await text(session)).not.toContain('not available just now');
    await outage();
    const page = await text(session);
    expect(page).toMatch(/value="CBE_BIRR" disabled\s*\/>\s*<span>CBE Birr\s*\(not available just now\)/);
    expect(page).toMatch(/value="AWASH" required/);
    expect(await text(session, 'am')).toContain('(ለጊዜው አይገኝም)');
  });

  test('a payment in flight continues, and one that was not sent is sent once; each succeeds once', async () => {
    const inFlight = await start();
    expect(await worker.checkAttempt(inFlight.attemptId, CHECK)).toMatchObject({ outcomeKind: 'accepted' });
    const unsent = await start();
    await outage();
    const before = await simulator.requests('CBE_BIRR initiate');
    for (const { attemptId } of [inFlight, unsent, unsent]) {
      const state = await worker.checkAttempt(attemptId, CHECK);
      expect(state).toMatchObject({ outcomeKind: 'unknown', transactionStatus: 'PENDING', final: false });
    }
    expect(await simulator.requests('CBE_BIRR initiate')).toBe(before);
    await simulator.clearFaults();
    passedMs += CIRCUIT.openMs;
    for (const { attemptId, sessionId } of [inFlight, unsent]) {
      await until('the payment', async () => (await worker.checkAttempt(attemptId, CHECK)).final);
      expect(await stateOfSession(database.db, sessionId)).toMatchObject({
        transaction: 'SUCCESS',
        attempts: ['SUCCEEDED'],
        events: ['checkout.completed', 'payment.created', 'payment.succeeded'],
      });
    }
    expect(await simulator.requests('CBE_BIRR initiate')).toBe(before + 1);
    await until('the channel to be available', async () => (await reasonOf('CBE_BIRR')) === null);
    await expectLedgerHolds(database.db);
  });

  test('a withdrawal is accepted, waits, and is paid once after the provider responds again', async () => {
    const { attemptId } = await start();
    await until('the payment', async () => (await worker.checkAttempt(attemptId, CHECK)).final);
    await outage();
    const live = worker.findProvider('CBE_BIRR', 'live');
    for (let calls = 0; calls < CIRCUIT.failuresInRow; calls += 1) await live?.queryPayout('wd_01PROBE');
    const { status, body } = await send('POST', '/api/checkout/withdrawal', {
      requestId: 'W-1',
      amount: 50,
      channel: 'CBE_BIRR',
      destination: { phone: '0911000001', accountName: 'Abebe Bikila' },
    });
    expect(status).toBe(202);
    const id: string = body.data.withdrawalRequestId;
    // As if reviewed.
    await rows(database.db, "UPDATE payout SET stage = 'CREATED', approvals_needed = 0 WHERE id = :id", { id });
    const checkPayout = createCheck(worker, WITHDRAWAL);
    for (const _ of ['once', 'again']) {
      expect(await checkPayout(id, CHECK)).toMatchObject({ outcome: 'unknown', row: { stage: 'CREATED' } });
    }
    expect(await simulator.requests('CBE_BIRR payout')).toBe(0);
    await simulator.clearFaults();
    passedMs += CIRCUIT.openMs;
    await until('the payout', async () => (await checkPayout(id, CHECK)).row.status === 'SUCCESS');
    expect(await simulator.requests('CBE_BIRR payout')).toBe(1);
    await expectPaidOutOnce(database.db, simulator);
  });

  test('an outage that no process has stored again is over after 30 s', async () => {
    await outage();
    await rows(
      database.db,
      `UPDATE channel SET live_unavailable_until = live_unavailable_until - interval '30 seconds' WHERE id = 'CBE_BIRR'`,
    );
    expect(await reasonOf('CBE_BIRR')).toBeNull();
    passedMs += CIRCUIT.openMs;
    await probe(worker);
    await until('the failed probe to be stored', async () => (await reasonOf('CBE_BIRR')) === 'UNAVAILABLE');
  });
});
