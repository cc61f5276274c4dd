import { createPrivateKey, generateKeyPairSync } from 'node:crypto';

import { readConfig } from '../../src/config.ts';
import { createLimits } from '../../src/http/limits.ts';
import { Registry } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { rows } from '../../src/lib/db.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { findAttemptBySecret } from '../../src/payments/queries.ts';
import { isConclusive, MIN_QUERY_INTERVAL_MS } from '../../src/payments/sync.ts';
import {
  callbackNetworks,
  countCallbacks,
  createCallbackRouter,
  storeCallback,
} from '../../src/providers/callbacks.ts';
import { signCbeBirr } from '../../src/providers/cbe-birr/signing.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { signTelebirr } from '../../src/providers/telebirr/signing.ts';
import { buildAttempt, buildFixture, buildMerchant, buildSession, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NO_LIMITS, startTestServer, testServerDeps, type TestServer } from '../support/http.ts';
import { SANDBOX_CBE_BIRR, SANDBOX_TELEBIRR } from '../support/sandbox-accounts.ts';
import { buildLive } from '../support/withdrawals.ts';
import { startCbeBirr, type CbeBirrStub } from './cbe-birr-stub.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const LIVE_TILL = { companyName: 'Meskot', tillCode: '3000', token: 'live-token', hashKey: 'live-hash-key' };
const FROM_CBE = '196.188.3.4';
const FROM_ELSEWHERE = '10.9.8.7';
type Channel = 'CBE_BIRR' | 'TELEBIRR';

let database: TestDatabase;
let fixture: Fixture;
let provider: CbeBirrStub;
/** Allows CBE Birr's callbacks from 196.188.0.0/16 only, and telebirr's from anywhere. */
let behindProxy: TestServer;
let withoutProxy: TestServer;
let live: MerchantScope;
let sandbox: MerchantScope;
let secret: string;
let attemptId: string;
const http = createHttpClient();

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await startCbeBirr();
  const { liveProviders } = readConfig({
    DATABASE_URL: 'postgresql://localhost/meskot',
    TEMPORAL_ADDRESS: 'localhost:7233',
    CBE_BIRR_BASE_URL: provider.url,
    CBE_BIRR_COMPANY_NAME: LIVE_TILL.companyName,
    CBE_BIRR_TILL_CODE: LIVE_TILL.tillCode,
    CBE_BIRR_TOKEN: LIVE_TILL.token,
    CBE_BIRR_HASH_KEY: LIVE_TILL.hashKey,
    CBE_BIRR_CALLBACK_CIDRS: '196.188.0.0/16',
    TELEBIRR_BASE_URL: provider.url,
    TELEBIRR_PAY_PAGE_URL: provider.url,
    TELEBIRR_APP_KEY: 'key',
    TELEBIRR_APP_SECRET: 'secret',
    TELEBIRR_APP_ID: '1',
    TELEBIRR_MERCHANT_CODE: '2',
    TELEBIRR_MERCHANT_PRIVATE_KEY: privateKey,
    TELEBIRR_PROVIDER_PUBLIC_KEY: publicKey,
  });
  const find = { http, clock: systemClock, simulatorUrl: provider.url, liveProviders };
  fixture = buildFixture(database.db, { clock: systemClock, findProvider: createFindProvider(find) });
  const start = async (trustProxy: number) => {
    const registry = new Registry();
    const router = createCallbackRouter({
      findOrderBySecret: (text) => findAttemptBySecret(database.db, text),
      findProvider: fixture.findProvider,
      storeCallback: (row) => storeCallback(database.db, row),
      onCallback: async (order, { verified }) => {
        if (!('attemptId' in order)) throw new Error('not an attempt');
        const minIntervalMs = verified ? 0 : MIN_QUERY_INTERVAL_MS;
        return isConclusive(await fixture.checkAttempt(order.attemptId, { minIntervalMs, notifyWorkflow: true }));
      },
      unknown: createLimits(NO_LIMITS).unknownCallbacks,
      networksOf: callbackNetworks(liveProviders),
      count: countCallbacks(registry),
      log: createLogger('silent', 'test'),
    });
    return startTestServer(testServerDeps(database.db, { routes: [], routers: [router], trustProxy, registry }));
  };
  behindProxy = await start(1);
  withoutProxy = await start(0);
  sandbox = await buildMerchant(database.db);
  live = await buildLive(database.db, sandbox);
});
afterAll(async () => {
  await Promise.all([behindProxy.close(), withoutProxy.close(), provider.close(), http.close()]);
  await database.drop();
});
beforeEach(() => provider.reset());

/** An attempt of 100.50 ETB that its provider has, and its callback address. */
async function begin(scope: MerchantScope, channel: Channel = 'CBE_BIRR'): Promise<void> {
  const { sessionId } = await buildSession(fixture, scope);
  attemptId = await buildAttempt(fixture, { ...scope, sessionId }, { channel });
  const sql = `UPDATE payment_attempt SET status = 'PENDING', initiated_at = now() WHERE id = :attemptId
               RETURNING callback_secret`;
  secret = (await rows<{ callbackSecret: string }>(database.db, sql, { attemptId }))[0]?.callbackSecret ?? '';
}

const cbeCallback = (orderId = attemptId, till = LIVE_TILL, amount = '100.50'): string => {
  const { hashKey, ...fields } = till;
  const message = { ...fields, transactionId: orderId, amount, state: 'COMPLETED', reference: 'FT-1' };
  return JSON.stringify({ ...message, signature: signCbeBirr(message, hashKey) });
};
const telebirrCallback = (pem: string): string => {
  const message = { merch_order_id: attemptId.replace('_', ''), total_amount: '100.50', trade_status: 'Completed' };
  return JSON.stringify({ ...message, sign: signTelebirr(message, { key: createPrivateKey(pem), scheme: 'PSS' }) });
};

const call = async (body: string, more: { from?: string; channel?: Channel; server?: TestServer } = {}) => {
  const { from = FROM_CBE, channel = 'CBE_BIRR', server = behindProxy } = more;
  const url = `${server.url}/api/providers/${channel}/callback/${secret}`;
  return (await fetch(url, { method: 'POST', headers: { 'x-forwarded-for': from }, body })).status;
};
const stored = () =>
  rows<{ verified: boolean; rejectionReason: string | null }>(
    database.db,
    'SELECT verified, rejection_reason FROM provider_callback WHERE attempt_id = :attemptId ORDER BY id',
    { attemptId },
  );
async function payment(): Promise<[attempt: string, transaction: string, held: string | null]> {
  const [row] = await rows<{ attempt: string; transaction: string; held: string | null }>(
    database.db,
    `SELECT a.status AS attempt, t.status AS transaction, t.hold_reason AS held
     FROM payment_attempt a JOIN transaction t ON t.id = a.transaction_id WHERE a.id = :attemptId`,
    { attemptId },
  );
  return [row?.attempt ?? '', row?.transaction ?? '', row?.held ?? null];
}
async function counted(result: string, server = behindProxy, environment = 'live'): Promise<number> {
  const text = await server.registry.metrics();
  const line = `meskot_provider_callbacks_total{channel="CBE_BIRR",environment="${environment}",result="${result}"} `;
  return Number(
    text
      .split('\n')
      .find((one) => one.startsWith(line))
      ?.slice(line.length),
  );
}

describe("a live callback from an address outside the provider's networks", () => {
  test('is refused, noted and counted, and triggers no query; from inside the payment is completed', async () => {
    await begin(live);
    const before = await counted('refused');
    expect(await call(cbeCallback(), { from: FROM_ELSEWHERE })).toBe(403);
    expect(await stored()).toEqual([
      {
        verified: false,
        rejectionReason:
          'it came from 10.9.8.7, which is not in CBE_BIRR_CALLBACK_CIDRS; if that is a proxy of yours, check TRUSTED_PROXY_COUNT',
      },
    ]);
    expect([await counted('refused'), provider.queries.length]).toEqual([before + 1, 0]);
    expect(await payment()).toEqual(['PENDING', 'PENDING', null]);

    provider.says({ state: 'COMPLETED', amount: '100.50' });
    expect(await call(cbeCallback())).toBe(200);
    expect(provider.queries).toEqual([attemptId]);
    expect(await payment()).toEqual(['SUCCEEDED', 'SUCCESS', null]);
  });

  test('is recognised by the address that the trusted proxies give, not by a header of the caller', async () => {
    await begin(live);
    expect(await call(cbeCallback(), { server: withoutProxy })).toBe(403);
    expect((await stored())[0]?.rejectionReason).toContain('it came from 127.0.0.1');
    expect(await call(cbeCallback(), { from: `${FROM_CBE}, ${FROM_ELSEWHERE}` })).toBe(403);
    expect(provider.queries).toEqual([]);
  });

  test('is not one from an IPv4 address written as IPv6', async () => {
    await begin(live);
    provider.says({ state: 'COMPLETED', amount: '100.50' });
    expect(await call(cbeCallback(), { from: `::ffff:${FROM_CBE}` })).toBe(200);
  });
});

test('a channel without networks takes callbacks from any address, and so does the sandbox', async () => {
  await begin(live, 'TELEBIRR');
  expect(await call(telebirrCallback(privateKey), { channel: 'TELEBIRR', from: FROM_ELSEWHERE })).not.toBe(403);
  expect(await stored()).toEqual([{ verified: true, rejectionReason: null }]);
  await begin(sandbox);
  await call(cbeCallback(attemptId, SANDBOX_CBE_BIRR), { from: FROM_ELSEWHERE });
  expect(await stored()).toEqual([{ verified: true, rejectionReason: null }]);
});

describe('between sandbox and live', () => {
  test.each([
    ['CBE_BIRR', () => live, () => cbeCallback(attemptId, SANDBOX_CBE_BIRR), "the sandbox's keys", 'live'],
    ['CBE_BIRR', () => sandbox, () => cbeCallback(), "live's keys", 'of the sandbox'],
    ['TELEBIRR', () => live, () => telebirrCallback(SANDBOX_TELEBIRR.providerPrivateKey), "the sandbox's keys", 'live'],
    ['TELEBIRR', () => sandbox, () => telebirrCallback(privateKey), "live's keys", 'of the sandbox'],
  ] as const)('a %s callback with the keys of the other is refused and noted (%#)', async (...row) => {
    const [channel, scope, body, keys, place] = row;
    await begin(scope(), channel);
    expect(await call(body(), { channel })).toBe(403);
    const rejectionReason = `it is signed with ${keys}, and the order is ${place}`;
    expect(await stored()).toEqual([{ verified: false, rejectionReason }]);
    expect(provider.queries).toEqual([]);
    expect(await payment()).toEqual(['PENDING', 'PENDING', null]);
  });

  test("a sandbox order's id in a live callback at the address of a live order is noted as another order's", async () => {
    await begin(sandbox);
    const ofSandbox = attemptId;
    await begin(live);
    expect(await call(cbeCallback(ofSandbox))).toBe(200);
    expect(await stored()).toEqual([{ verified: false, rejectionReason: 'it names another order' }]);
    expect(await payment()).toEqual(['PENDING', 'PENDING', null]);
  });
});

describe("money is believed from the provider's reply to our query alone", () => {
  test.each([
    ['a wrong signature', () => cbeCallback().replace('100.50', '100.51'), 'the signature is not of this message'],
    ['the id of another live order', () => cbeCallback('pat_00000000000000000000000000'), 'it names another order'],
  ])('a callback with %s is noted, and its order stays pending', async (_what, body, reason) => {
    await begin(live);
    const before = await counted('unverified');
    expect(await call(body())).toBe(200);
    expect(await stored()).toEqual([{ verified: false, rejectionReason: reason }]);
    expect([await counted('unverified'), await payment()]).toEqual([before + 1, ['PENDING', 'PENDING', null]]);
  });

  test('a verified callback about a payment that the provider calls pending pays nothing', async () => {
    await begin(live);
    expect(await call(cbeCallback())).toBe(200);
    expect([provider.queries, await payment()]).toEqual([[attemptId], ['PENDING', 'PENDING', null]]);
  });

  test('the amount of a verified callback is not read: that of the provider counts', async () => {
    await begin(live);
    provider.says({ state: 'COMPLETED', amount: '100.50' });
    expect(await call(cbeCallback(attemptId, LIVE_TILL, '9999999.00'))).toBe(200);
    expect(await payment()).toEqual(['SUCCEEDED', 'SUCCESS', null]);
  });

  test('another amount in the reply to our query is held for an operator, whatever the content of the callback', async () => {
    await begin(live);
    provider.says({ state: 'COMPLETED', amount: '1.00' });
    await call(cbeCallback());
    const [, transaction, held] = await payment();
    expect([transaction, held]).toEqual(['PENDING', 'WRONG_AMOUNT']);
  });
});
