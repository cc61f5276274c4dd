import { readConfig } from '../../../src/config.ts';
import { first, rows } from '../../../src/lib/db.ts';
import { createHttpClient } from '../../../src/lib/http-client.ts';
import { newId } from '../../../src/lib/ids.ts';
import type { MerchantScope } from '../../../src/lib/scope.ts';
import { readTimeline } from '../../../src/lib/timeline.ts';
import { createSyncAttempt } from '../../../src/payments/sync.ts';
import { createCheck } from '../../../src/payouts/check.ts';
import { createRefund } from '../../../src/payouts/refunds/create.ts';
import { REFUND } from '../../../src/payouts/refunds/refund.ts';
import { createWithdrawal } from '../../../src/payouts/withdrawals/create.ts';
import { readWithdrawal } from '../../../src/payouts/withdrawals/queries.ts';
import { cancelWithdrawal } from '../../../src/payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../../src/payouts/withdrawals/withdrawal.ts';
import { createFindProvider } from '../../../src/providers/find-provider.ts';
import { startAccountGateway, tillSettings, type AccountGateway } from '../../providers/account-gateway.ts';
import { buildAttempt, buildFixture, buildMerchant, buildSession, PAID, type Fixture } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startTestSimulator, type TestSimulator } from '../../support/simulator.ts';
import { buildLive, fund } from '../../support/withdrawals.ts';

const PAYOUTS = { CBE_BIRR_PAYOUTS: 'true' };
/** Payments by one till, payouts by another. */
const OWN = { ...tillSettings('100'), CBE_BIRR_PAYOUT_TILL_CODE: '101', CBE_BIRR_PAYOUT_TOKEN: 'token-101' };
const NOW = { minIntervalMs: 0, notifyWorkflow: false };
const http = createHttpClient();

let database: TestDatabase;
let simulator: TestSimulator;
let gateway: AccountGateway;
let fixture: Fixture;
let live: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
  simulator = await startTestSimulator();
  gateway = await startAccountGateway(simulator.url);
  for (const one of ['100', '101', '200']) gateway.keys.set(one, ['platform']);
  fixture = buildFixture(database.db);
  live = await buildLive(database.db, await buildMerchant(database.db));
  await fund(fixture, live, 100_000n);
});
afterAll(async () => {
  await Promise.all([gateway.close(), simulator.close(), http.close()]);
  await database.drop();
});
beforeEach(() => void (gateway.seen.length = 0));

/** As a process has them that was started with these settings. */
function partsOf(settings: Record<string, string>) {
  const required = { DATABASE_URL: 'postgresql://localhost/meskot', TEMPORAL_ADDRESS: 'localhost:7233' };
  const { liveProviders } = readConfig({ ...required, CBE_BIRR_BASE_URL: gateway.url, ...settings });
  const findProvider = createFindProvider({ http, clock: fixture.clock, simulatorUrl: simulator.url, liveProviders });
  return { ...fixture, findProvider };
}
const checkPayout = (settings: Record<string, string>, id: string) =>
  createCheck(partsOf(settings), WITHDRAWAL)(id, NOW);

let requests = 0;
/** A withdrawal to a phone that the simulator never decides about. */
function requestWithdrawal({ findProvider } = fixture) {
  requests += 1;
  return fixture.runInTransaction((tx) =>
    createWithdrawal({ ...fixture, findProvider, tx }, live, {
      requestId: `OUT-${requests}`,
      amountSantim: 5_000n,
      channel: 'CBE_BIRR',
      requestedBy: 'key_1',
      destination: { kind: 'phone', phone: '251911000004', accountName: 'Abebe Bikila' },
    }),
  );
}

async function approvedWithdrawal(): Promise<string> {
  const { row } = await requestWithdrawal();
  await rows(database.db, "UPDATE payout SET stage = 'CREATED' WHERE id = :id", { id: row.id });
  return row.id;
}
const storedAccount = async (table: string, id: string) =>
  (
    await first<{ account: string }>(database.db, `SELECT provider_account AS account FROM ${table} WHERE id = :id`, {
      id,
    })
  )?.account;

test('a payout in flight is not sent again by another account that the settings have now', async () => {
  const id = await approvedWithdrawal();
  expect((await checkPayout({ ...tillSettings('100'), ...PAYOUTS }, id)).outcome).toBe('accepted');
  expect(await storedAccount('payout', id)).toBe('100');
  const changed = await checkPayout({ ...tillSettings('200'), ...PAYOUTS }, id);
  expect([changed.outcome, changed.row.status]).toEqual(['unknown', 'PENDING']);
  expect(gateway.seen).toEqual(['/payout 100 platform']);
  expect((await checkPayout({ ...tillSettings('100'), ...PAYOUTS }, id)).outcome).toBe('pending');
});

test('payouts that are switched off stay with their own account, and new ones are not sent', async () => {
  const [inFlight, unsent] = [await approvedWithdrawal(), await approvedWithdrawal()];
  expect((await checkPayout({ ...OWN, ...PAYOUTS }, inFlight)).outcome).toBe('accepted');
  expect(await storedAccount('payout', inFlight)).toBe('101');
  expect((await checkPayout(OWN, inFlight)).outcome).toBe('pending');
  expect((await checkPayout(OWN, unsent)).outcome).toBe('unknown');
  expect(gateway.seen).toEqual(['/payout 101 platform', '/payout-status 101 platform']);
  expect((await checkPayout({ ...OWN, ...PAYOUTS }, unsent)).outcome).toBe('accepted');
});

test('a payout that no account could send is not sent: another account sends it, or the merchant cancels it', async () => {
  const [sent, cancelled] = [await approvedWithdrawal(), await approvedWithdrawal()];
  const submissions = async () =>
    (await readTimeline(database.db, sent)).filter(({ kind }) => kind === 'payout.submitted').length;
  for (const settings of [{}, tillSettings('100'), {}]) {
    for (const id of [sent, cancelled]) {
      const unsent = { stage: 'CREATED', submittedAt: null, providerAccount: null, leaseUntil: null };
      expect(await checkPayout(settings, id)).toMatchObject({ outcome: 'unknown', row: unsent });
    }
  }
  expect([await submissions(), gateway.seen]).toEqual([0, []]);
  const row = await readWithdrawal(database.db, cancelled);
  const ended = await fixture.runInTransaction((tx) => cancelWithdrawal(tx, row, new Date()));
  expect(ended.status).toBe('CANCELLED');
  expect((await checkPayout({ ...tillSettings('200'), ...PAYOUTS }, sent)).outcome).toBe('accepted');
  expect([await submissions(), gateway.seen]).toEqual([1, ['/payout 200 platform']]);
});

test('a payment that no account could send is sent by the account that comes', async () => {
  const { sessionId } = await buildSession(fixture, live);
  const id = await buildAttempt(fixture, { ...live, sessionId }, { channel: 'CBE_BIRR', phone: '251911000004' });
  const check = (settings: Record<string, string>) => createSyncAttempt(partsOf(settings))(id, NOW);
  expect(await check({})).toMatchObject({ attemptStatus: 'CREATED', outcomeKind: 'unknown', initiatedAt: null });
  const limited = partsOf({ ...tillSettings('100'), CBE_BIRR_CALLS_PER_SECOND: '0.01' });
  await limited.findProvider('CBE_BIRR', 'live')?.query(newId('pat'));
  gateway.seen.length = 0;
  expect(await createSyncAttempt(limited)(id, NOW)).toMatchObject({ attemptStatus: 'CREATED', initiatedAt: null });
  expect(await check(tillSettings('200'))).toMatchObject({ attemptStatus: 'PENDING', outcomeKind: 'accepted' });
  expect(gateway.seen).toEqual(['/push 200 platform']);
});

test('a payment in flight is not ordered a second time at another account', async () => {
  const { sessionId } = await buildSession(fixture, live);
  const id = await buildAttempt(fixture, { ...live, sessionId }, { channel: 'CBE_BIRR', phone: '251911000004' });
  const check = (settings: Record<string, string>) =>
    createSyncAttempt(partsOf(settings))(id, { minIntervalMs: 0, notifyWorkflow: false });
  expect(await check(tillSettings('100'))).toMatchObject({ attemptStatus: 'PENDING', outcomeKind: 'accepted' });
  expect(await storedAccount('payment_attempt', id)).toBe('100');
  expect(await check(tillSettings('200'))).toMatchObject({ attemptStatus: 'PENDING', outcomeKind: 'unknown' });
  expect(gateway.seen).toEqual(['/push 100 platform']);
  await check({ ...OWN, ...PAYOUTS });
  expect(gateway.seen).toEqual(['/push 100 platform', '/status 100 platform']);
});

test('a refund is sent by the account that was paid, and by no other', async () => {
  const { sessionId, transactionId } = await buildSession(fixture, live, { amountSantim: 5_000n });
  const attemptId = await buildAttempt(fixture, { ...live, sessionId }, { channel: 'CBE_BIRR' });
  fixture.provider.returns({ ...PAID, amountSantim: 5_000n });
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  await rows(database.db, "UPDATE payment_attempt SET provider_account = '100' WHERE id = :attemptId", { attemptId });
  const wanted = { transactionId, reference: 'BACK-1', returnFee: false, requestedBy: 'key_1' };
  const parts = partsOf({ ...OWN, ...PAYOUTS, CBE_BIRR_REFUNDS: 'true' });
  const { row } = await fixture.runInTransaction((tx) => createRefund({ ...parts, tx }, live, wanted));
  await createCheck(partsOf({ ...tillSettings('200'), CBE_BIRR_REFUNDS: 'true' }), REFUND)(row.id, NOW);
  expect(gateway.seen).toEqual([]);
  await createCheck(parts, REFUND)(row.id, NOW);
  expect(gateway.seen).toEqual(['/refund-status 100 platform', '/refund 100 platform']);
});

test('a withdrawal on a channel whose contract has no payouts is rejected with what to do', async () => {
  await expect(requestWithdrawal(partsOf(tillSettings('100')))).rejects.toMatchObject({
    code: 'CHANNEL_NOT_AVAILABLE',
    message: expect.stringMatching(/^channel CBE_BIRR makes no payouts: choose a channel whose payoutTo/),
  });
});

test('another account than the one that has sent an order is logged, also if its outcome was unknown before', async () => {
  const problems: string[] = [];
  const log = { warn: (details: { problem?: string }) => void problems.push(details.problem ?? '') };
  const { sessionId } = await buildSession(fixture, live);
  const attemptId = await buildAttempt(fixture, { ...live, sessionId }, { channel: 'CBE_BIRR', phone: '251911000004' });
  const withdrawalId = await approvedWithdrawal();
  const check = async (settings: Record<string, string>) => {
    const parts = {
      ...partsOf({ ...settings, ...PAYOUTS, CBE_BIRR_TIMEOUT_MS: '500' }),
      log: { ...fixture.log, ...log },
    };
    problems.length = 0;
    await createSyncAttempt(parts)(attemptId, NOW);
    await createCheck(parts, WITHDRAWAL)(withdrawalId, NOW);
    return [...problems];
  };
  gateway.isSilent = true;
  const silent = ['no response in time', 'no response in time'];
  expect(await check(tillSettings('100'))).toEqual(silent);
  expect(await check(tillSettings('100'))).toEqual([]);
  gateway.isSilent = false;
  const other = expect.stringMatching(/^sent by the account 100, which is not configured now/);
  expect(await check(tillSettings('200'))).toEqual([other, other]);
  const none = expect.stringMatching(/^no usable account for CBE_BIRR/);
  expect(await check({})).toEqual([none, none]);
});

test('a payout that its provider has accepted and failed, for a reason that is not known, warns of no account', async () => {
  const problems: string[] = [];
  const log = { ...fixture.log, warn: (_: object, text = '') => void problems.push(text) };
  const withdrawalId = await approvedWithdrawal();
  const failure = { code: 'REJECTED', message: 'Not now.', providerCode: 'E-OTHER', retryable: false } as const;
  fixture.provider.returnsForPayouts({ kind: 'declined', failure });
  await createCheck({ ...fixture, log }, WITHDRAWAL)(withdrawalId, NOW);
  expect(await readWithdrawal(database.db, withdrawalId)).toMatchObject({ status: 'FAILED', failure });
  expect(problems).toEqual([]);
});
