import { rows } from '../../../src/lib/db.ts';
import { createHttpClient } from '../../../src/lib/http-client.ts';
import { scopeOf, type MerchantScope } from '../../../src/lib/scope.ts';
import { grantChannels } from '../../../src/merchants/channels/operations.ts';
import { channelRoutes } from '../../../src/merchants/channels/routes.ts';
import { createWithdrawal } from '../../../src/payouts/withdrawals/create.ts';
import { withdrawalRoutes } from '../../../src/payouts/withdrawals/routes.ts';
import { createFindProvider } from '../../../src/providers/find-provider.ts';
import { buildMerchant, buildSession, buildFixture, type Fixture } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../../support/http.ts';

let database: TestDatabase;
let fixture: Fixture;
let server: TestServer;
let scope: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db);
  const checkPayout = async () => {
    throw new Error('nobody is asked here');
  };
  const routes = [...channelRoutes(fixture), ...withdrawalRoutes({ ...fixture, checkPayout })];
  server = await startTestServer(testServerDeps(database.db, { routes }));
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

/** A merchant with every channel approved in both environments, in this tier. */
async function newMerchant(tier: number): Promise<void> {
  const { merchantId } = await buildMerchant(database.db);
  scope = { merchantId, environment: 'live' };
  await database.db.transaction((trx) => grantChannels(trx, scope));
  if (tier === 0) return;
  const values = { ...scope, tier };
  await rows(
    database.db,
    `INSERT INTO kyc_application (merchant_id, environment, status, tier) VALUES (:merchantId, :environment, 'APPROVED', :tier)`,
    values,
  );
}

type Shown = { channel: string; usable: boolean; reason: string | null; limits: Record<string, { max: number }> };
const get = async (path: string, { merchantId, environment } = scope) =>
  (await server.send('GET', `/api/checkout/${path}`, { key: stubKey(merchantId, environment) })).body.data;
const channels = async (of = scope): Promise<Shown[]> => get('channels', of);
const reasons = async (of = scope) => (await channels(of)).map(({ channel, reason }) => [channel, reason]);
const sandbox = (): MerchantScope => ({ ...scope, environment: 'sandbox' });
const ask = (amountSantim: bigint, channel: 'TELEBIRR' | 'AWASH' = 'TELEBIRR') =>
  fixture.runInTransaction((tx) =>
    createWithdrawal({ ...fixture, tx }, scopeOf(scope), {
      requestId: `OUT-${amountSantim}-${channel}`,
      amountSantim,
      channel,
      destination: { kind: 'phone', phone: '251911000001', accountName: 'Almaz' },
      requestedBy: 'key_1',
    }),
  );

test('the tier limits the channels of a merchant in live, and not in the sandbox', async () => {
  const all = [
    ['TELEBIRR', null],
    ['CBE_BIRR', null],
    ['AWASH', null],
    ['MPESA', 'COMING_SOON'],
  ];
  await newMerchant(0);
  expect((await reasons()).slice(0, 3)).toEqual(['TELEBIRR', 'CBE_BIRR', 'AWASH'].map((name) => [name, 'KYC_TIER']));
  expect(await reasons(sandbox())).toEqual(all);
  await newMerchant(1);
  expect(await reasons()).toEqual([all[0], all[1], ['AWASH', 'KYC_TIER'], all[3]]);
  await newMerchant(2);
  expect(await reasons()).toEqual(all);
});

test('a channel outside of the tier can be neither paid with, withdrawn to, nor enabled', async () => {
  await newMerchant(1);
  const says = expect.stringContaining('AWASH is not allowed in the KYC tier of this merchant');
  const refused = { code: 'CHANNEL_NOT_AVAILABLE', message: says };
  await expect(buildSession(fixture, scope, { channels: ['AWASH'] })).rejects.toMatchObject(refused);
  await expect(ask(100n, 'AWASH')).rejects.toMatchObject(refused);
  const key = stubKey(scope.merchantId, 'live');
  const { status, body } = await server.send('PATCH', '/api/checkout/channels/AWASH', { key, body: { enabled: true } });
  expect([status, body.error.code, body.message]).toEqual([403, refused.code, says]);
  const { sessionId } = await buildSession(fixture, scope);
  const [session] = await rows(database.db, 'SELECT channels FROM checkout_session WHERE id = :sessionId', {
    sessionId,
  });
  expect(session).toEqual({ channels: ['TELEBIRR', 'CBE_BIRR'] });
});

test('the lower of tier and rule limits a payment, to the santim', async () => {
  await newMerchant(1);
  expect((await channels())[0]?.limits).toMatchObject({ payIn: { min: 1, max: 10_000, daily: null } });
  await buildSession(fixture, scope, { amountSantim: 1_000_000n });
  await expect(buildSession(fixture, scope, { amountSantim: 1_000_001n })).rejects.toMatchObject({
    code: 'AMOUNT_ABOVE_MAXIMUM',
    message: expect.stringContaining('at most 10000.00 ETB on TELEBIRR'),
  });
  await buildSession(fixture, sandbox(), { amountSantim: 7_500_000n });
  await newMerchant(2);
  await buildSession(fixture, scope, { amountSantim: 7_500_000n, channels: ['TELEBIRR'] });
  await expect(
    buildSession(fixture, scope, { amountSantim: 7_500_001n, channels: ['TELEBIRR'] }),
  ).rejects.toMatchObject({
    code: 'AMOUNT_ABOVE_MAXIMUM',
  });
});

test('the lower of tier and rule limits a payout', async () => {
  await newMerchant(1);
  const [telebirr] = await get('limits');
  expect(telebirr.payOut).toEqual({ min: 1, max: 50_000, daily: 50_000, remainingToday: 50_000 });
  await expect(ask(5_000_001n)).rejects.toMatchObject({
    code: 'AMOUNT_ABOVE_MAXIMUM',
    message: expect.stringContaining('at most 50000.00 ETB'),
  });
  await expect(ask(5_000_000n)).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
  const [free] = await get('limits', sandbox());
  expect(free.payOut).toMatchObject({ max: 75_000, daily: 750_000 });
});

test('a changed tier row is effective at once', async () => {
  await newMerchant(1);
  await rows(database.db, `UPDATE kyc_tier SET channels = '{AWASH}', payment_max_santim = NULL WHERE tier = 1`, {});
  expect((await reasons()).slice(0, 3)).toEqual([
    ['TELEBIRR', 'KYC_TIER'],
    ['CBE_BIRR', 'KYC_TIER'],
    ['AWASH', null],
  ]);
  expect((await channels())[2]?.limits['payIn']).toMatchObject({ max: 600_000 });
});

test('a live channel without a configured provider is unavailable in every tier', async () => {
  await newMerchant(2);
  const http = createHttpClient();
  const findProvider = createFindProvider({ http, clock: fixture.clock, simulatorUrl: 'http://127.0.0.1:9' });
  await expect(buildSession({ ...fixture, findProvider }, scope, { channels: ['TELEBIRR'] })).rejects.toMatchObject({
    code: 'CHANNEL_NOT_AVAILABLE',
    message: expect.stringContaining('not set up in this environment'),
  });
  await http.close();
});
