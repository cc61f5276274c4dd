import { merchantAdministrationRoutes } from '../../src/backoffice/merchant-routes.ts';
import { readConfig } from '../../src/config.ts';
import { addisDay, HOUR_MS, startOfAddisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { listChannels } from '../../src/merchants/channels/queries.ts';
import { signCbeBirr } from '../../src/providers/cbe-birr/signing.ts';
import {
  activateCredentials,
  addCredentials,
  APPLIES_AFTER_MS,
  recordCheck,
  revokeCredentials,
} from '../../src/providers/credentials/operations.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { findProviderOf, type FindProvider, type Provider } from '../../src/providers/provider.ts';
import { buildAttempt, buildFixture, buildMerchant, buildSession, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, testServerDeps } from '../support/http.ts';
import { KEY_RING } from '../support/key-ring.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { buildLive } from '../support/withdrawals.ts';
import { startAccountGateway, tillSettings, type AccountGateway } from './account-gateway.ts';
import { anOrder, aPayout } from './sandbox.ts';

const channel = 'CBE_BIRR' as const;
const NOTIFY = 'http://127.0.0.1:9/callback';
const PLATFORM = tillSettings('100');
const PAYOUTS = { CBE_BIRR_PAYOUTS: 'true', CBE_BIRR_PAYOUT_TILL_CODE: '101', CBE_BIRR_PAYOUT_TOKEN: 'token-101' };
const http = createHttpClient();

let database: TestDatabase;
let simulator: TestSimulator;
let gateway: AccountGateway;
let fixture: Fixture;
let live: MerchantScope;
/** The real time less two days, moved by the tests. */
let behindMs: number;
const clock = () => new Date(Date.now() - behindMs);
const pass = (ms: number) => void (behindMs -= ms);

beforeAll(async () => {
  database = await createTestDatabase();
  simulator = await startTestSimulator();
  gateway = await startAccountGateway(simulator.url);
});
afterAll(async () => {
  await gateway.close();
  await simulator.close();
  await http.close();
  await database.drop();
});
beforeEach(async () => {
  behindMs = 48 * HOUR_MS;
  await rows(
    database.db,
    "UPDATE provider_credential SET active_from = '2020-01-01', retires_at = '2020-01-01' WHERE active_from IS NOT NULL",
  );
  gateway.seen.length = 0;
  gateway.keys.clear();
  for (const till of ['100', '101']) gateway.keys.set(till, ['platform']);
  fixture = buildFixture(database.db, { clock });
  live = await buildLive(database.db, await buildMerchant(database.db));
});

const liveProvidersOf = (settings: Record<string, string>) => {
  const required = { DATABASE_URL: 'postgresql://localhost/meskot', TEMPORAL_ADDRESS: 'localhost:7233' };
  return readConfig({ ...required, CBE_BIRR_BASE_URL: gateway.url, ...settings }).liveProviders;
};

function connect(settings: Record<string, string>): FindProvider {
  const liveProviders = liveProvidersOf(settings);
  const credentials = { db: database.db, keyRing: KEY_RING };
  return createFindProvider({ http, clock, simulatorUrl: simulator.url, liveProviders, credentials });
}

const contextOf = (tx: Parameters<typeof addCredentials>[0]['tx'], operatorId: string) => {
  return { tx, operatorId, requestId: 'req_1', at: clock() };
};

type Owner = { overlapHours?: number; merchantId?: string; payoutTill?: string };

/** Enters and activates a set; returns its id. */
async function decide(tillCode: string, hashKey: string, owner: Owner = {}): Promise<string> {
  const { overlapHours = 24, merchantId = live.merchantId, payoutTill } = owner;
  const scope = { merchantId, channel };
  const open = (till: string) => {
    gateway.keys.set(till, [...(gateway.keys.get(till) ?? []), hashKey]);
    return { companyName: 'Coffee', tillCode: till, token: `token-${till}`, hashKey };
  };
  return fixture.runInTransaction(async (tx) => {
    const values = { payIn: open(tillCode), payOut: payoutTill === undefined ? null : open(payoutTill) };
    const { set } = await addCredentials(contextOf(tx, 'opr_1'), KEY_RING, { ...scope, values, expiresAt: null });
    await recordCheck(contextOf(tx, 'opr_1'), { ...scope, id: set.id, outcome: 'OK' });
    await activateCredentials(contextOf(tx, 'opr_2'), { ...scope, id: set.id, overlapHours });
    return set.id;
  });
}

/** The same, until it is in effect. */
async function activate(...set: Parameters<typeof decide>): Promise<string> {
  const id = await decide(...set);
  pass(APPLIES_AFTER_MS);
  return id;
}

async function revoke(id: string): Promise<void> {
  const target = { merchantId: live.merchantId, channel, id };
  await fixture.runInTransaction((tx) => revokeCredentials(contextOf(tx, 'opr_1'), target));
  pass(APPLIES_AFTER_MS);
}

const providerOf = (find: FindProvider, sentAt = clock(), { merchantId } = live): Promise<Provider | null> =>
  findProviderOf(find, { channel, environment: 'live', merchantId, sentAt });

/** The till and hash key of the last request. */
const lastAccount = () => gateway.seen.at(-1)?.split(' ').slice(1).join(' ');

async function send(find: FindProvider): Promise<{ orderId: string; sentAt: Date }> {
  const order = anOrder(NOTIFY, { phone: '251911000004' });
  const sentAt = clock();
  expect(await (await providerOf(find, sentAt))?.initiate(order)).toMatchObject({ kind: 'accepted' });
  return { orderId: order.orderId, sentAt };
}

test('orders before and after a replacement use the credentials they were sent with, until these retire', async () => {
  const find = connect(PLATFORM);
  const ofPlatform = await send(find);
  expect(lastAccount()).toBe('100 platform');
  await activate('200', 'old');
  const before = await send(find);
  expect(lastAccount()).toBe('200 old');
  await activate('200', 'new', { overlapHours: 1 });
  const after = await send(find);
  expect(lastAccount()).toBe('200 new');

  const accounts = async () => {
    for (const { orderId, sentAt } of [ofPlatform, before, after]) {
      expect(await (await providerOf(find, sentAt))?.query(orderId)).toMatchObject({ kind: 'pending' });
    }
    return gateway.seen.slice(-3);
  };
  expect(await accounts()).toEqual(['/status 100 platform', '/status 200 old', '/status 200 new']);
  pass(HOUR_MS);
  expect(await accounts()).toEqual(['/status 100 platform', '/status 200 new', '/status 200 new']);
});

test.each([
  ['payments', '301', '302'],
  ['payouts', '300', '303'],
])('an order is never queried at another account of %s, which does not know it', async (_of, till, payoutTill) => {
  const find = connect({ ...PLATFORM, CBE_BIRR_PAYOUTS: 'true' });
  const first = await activate('300', 'one', { payoutTill: '302' });
  const sentAt = clock();
  const payout = aPayout(NOTIFY);
  expect(await (await providerOf(find, sentAt))?.payout(payout)).toMatchObject({ kind: 'accepted' });
  await activate(till, 'two', { payoutTill });
  expect(await (await providerOf(find, sentAt))?.queryPayout(payout.orderId)).not.toMatchObject({ kind: 'not-found' });
  expect(lastAccount()).toBe('302 one');
  await revoke(first);
  expect(await providerOf(find, sentAt)).toBeNull();
  await activate('300', 'again', { payoutTill: '302' });
  expect(await (await providerOf(find, sentAt))?.queryPayout(payout.orderId)).not.toMatchObject({ kind: 'not-found' });
  expect(lastAccount()).toBe('302 again');
});

test('revoked credentials are used for nothing, and new orders by the retiring ones or the platform', async () => {
  const find = connect(PLATFORM);
  const older = await activate('400', 'older');
  const newer = await activate('400', 'newer');
  await revoke(newer);
  await send(find);
  expect(lastAccount()).toBe('400 older');
  await revoke(older);
  await send(find);
  expect(lastAccount()).toBe('100 platform');
});

test('processes with older and newer copies of the credentials choose the same account for an order', async () => {
  const [find, other] = [connect(PLATFORM), connect(PLATFORM)];
  await activate('500', 'first');
  await send(find);
  await decide('501', 'second');
  pass(1_000);
  // The first process has a copy from before the decision.
  for (const one of [find, other]) {
    await send(one);
    expect(lastAccount()).toBe('500 first');
  }
  pass(APPLIES_AFTER_MS - 1_000);
  for (const one of [find, other]) {
    await send(one);
    expect(lastAccount()).toBe('501 second');
  }
});

test('callbacks are verified by the old and the new key of the account, and by no other', async () => {
  const find = connect(PLATFORM);
  await activate('600', 'old');
  const sentAt = clock();
  const first = await activate('600', 'new');
  const stranger = await buildLive(database.db, await buildMerchant(database.db));
  await activate('700', 'stranger', stranger);
  const orderId = newId('pat');
  const verify = async (hashKey: string, of = sentAt) => {
    const message = { transactionId: orderId, tillCode: '600', state: 'COMPLETED' };
    const body = Buffer.from(JSON.stringify({ ...message, signature: signCbeBirr(message, hashKey) }));
    return (await providerOf(find, of))?.parseCallback({ headers: {}, body });
  };
  for (const at of [sentAt, clock()]) {
    expect(await verify('old', at)).toEqual({ verified: true, orderId });
    expect(await verify('new', at)).toEqual({ verified: true, orderId });
    expect(await verify('stranger', at)).toMatchObject({ verified: false });
    expect(await verify('platform', at)).toMatchObject({ verified: false });
  }
  await revoke(first);
  expect(await verify('new')).toMatchObject({ verified: false });
});

const DAY = addisDay(new Date());

/** The orders in each account's statement of the day. */
async function readStatements(find: FindProvider, day = DAY) {
  const accounts = (await find(channel, 'live')?.accountStatements?.(day)) ?? [];
  const read = accounts.map(async ({ account, statement }) => {
    const page = await statement(day, null);
    return [account, page.kind === 'page' ? page.rows.map(({ orderId }) => orderId) : page.kind];
  });
  return Object.fromEntries(await Promise.all(read));
}

test('the statement has the accounts of the platform, of payouts and of merchants, of these our orders only', async () => {
  const find = connect({ ...PLATFORM, ...PAYOUTS });
  behindMs = 0;
  const paid = anOrder(NOTIFY);
  await activate('800', 'mine', { payoutTill: '801' });
  await (await providerOf(find))?.initiate(paid);
  await simulator.advance(2_000);
  const own = { 800: [paid.orderId], 801: [] };
  expect(await readStatements(find)).toEqual({ 100: ['sale-100'], 101: ['sale-101'], ...own });
  expect(await readStatements(connect(PLATFORM))).toEqual({ 100: ['sale-100'], ...own });
  gateway.keys.set('101', ['replaced']);
  expect(await readStatements(find)).toMatchObject({ 101: 'unknown' });
});

test('an account that was replaced or revoked is listed for the days on which it was in effect', async () => {
  const find = connect(PLATFORM);
  // Noon of tomorrow, far from the ends of the day.
  pass(startOfAddisDay(addisDay(clock())).getTime() + 36 * HOUR_MS - clock().getTime());
  await activate('810', 'first');
  pass(24 * HOUR_MS);
  await activate('811', 'second', { overlapHours: 0 });
  const revoked = await activate('812', 'third', { overlapHours: 0 });
  await revoke(revoked);
  const dayAgo = (days: number) => addisDay(new Date(clock().getTime() - days * 24 * HOUR_MS));
  // Replaced credentials still read statements; revoked ones are used for nothing.
  expect(await readStatements(find, dayAgo(0))).toEqual({ 100: ['sale-100'], 810: [], 811: [], 812: 'unknown' });
  expect(await readStatements(find, dayAgo(1))).toEqual({ 100: ['sale-100'], 810: [] });
  pass(24 * HOUR_MS);
  expect(Object.keys(await readStatements(find, dayAgo(1)))).toEqual(['100', '810', '811', '812']);
  expect(await readStatements(find, dayAgo(0))).toEqual({ 100: ['sale-100'] });
});

test('a channel without an account of the platform is usable by merchants with their own', async () => {
  const [find, settings] = [connect({}), liveProvidersOf({})];
  const reason = async () =>
    (await listChannels(database.db, live, find)).find((one) => one.channel === channel)?.reason;
  const routes = merchantAdministrationRoutes({ db: database.db, findProvider: find, liveProviders: settings });
  const operator = { kind: 'operator', operatorId: 'opr_1', keyId: 'opk_1', role: 'viewer' } as const;
  const server = await startTestServer(testServerDeps(database.db, { routes, authenticateKey: async () => operator }));
  const seen = async () => {
    const { body } = await server.send('GET', `/api/ops/merchants/${live.merchantId}`, { key: 'ok_1' });
    return body.data.live.channels.find((one: { channel: string }) => one.channel === channel);
  };
  expect(await reason()).toBe('NOT_CONFIGURED');
  expect(await seen()).toMatchObject({ account: null, missingSettings: Object.keys(PLATFORM) });
  expect(await providerOf(find)).toBeNull();
  const id = await activate('900', 'own');
  expect(await reason()).toBeNull();
  expect(await seen()).toMatchObject({ account: 'OWN', missingSettings: [] });
  const withOwn = buildFixture(database.db, { clock, findProvider: find });
  const { sessionId } = await buildSession(withOwn, live, {});
  const attemptId = await buildAttempt(withOwn, { ...live, sessionId }, { channel });
  await withOwn.checkAttempt(attemptId, { notifyWorkflow: false });
  expect(gateway.seen).toEqual(['/push 900 own']);
  expect(find(channel, 'sandbox')?.forOrder).toBeUndefined();
  await revoke(id);
  behindMs = 0;
  expect(await reason()).toBe('NOT_CONFIGURED');
  await server.close();
});
