import { createLimits } from '../../../src/http/limits.ts';
import { readBalance } from '../../../src/ledger/balance.ts';
import { balanceRoutes } from '../../../src/ledger/routes.ts';
import { createKeyedQueue } from '../../../src/lib/keyed-queue.ts';
import type { MerchantScope } from '../../../src/lib/scope.ts';
import { createCheck } from '../../../src/payouts/check.ts';
import { withdrawalRoutes } from '../../../src/payouts/withdrawals/routes.ts';
import { WITHDRAWAL } from '../../../src/payouts/withdrawals/withdrawal.ts';
import { buildFixture, type Fixture } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import {
  NO_LIMITS,
  startTestServer,
  stubKey,
  testServerDeps,
  type HttpResponse,
  type TestServer,
} from '../../support/http.ts';
import { expectLedgerHolds } from '../../support/ledger.ts';
import { buildFreeMerchant, fund } from '../../support/withdrawals.ts';

const PATH = '/api/checkout/withdrawal';
const BURST = 200;
/** An amount with its fee and tax. */
const TAKES = 15_75n;

let database: TestDatabase;
let fixture: Fixture;
let server: TestServer;
let payroll: MerchantScope;
let other: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db);
});
beforeEach(async () => {
  [payroll, other] = [await buildFreeMerchant(fixture), await buildFreeMerchant(fixture)];
  for (const scope of [payroll, other]) await fund(fixture, scope, 10_000_00n);
});
afterEach(async () => {
  await server.close();
  await expectLedgerHolds(database.db);
});
afterAll(() => database.drop());

/** As `npm start` has it: ten connections, half of them for money operations, and the default limits of rate. */
async function start(ofOne: number, sandboxPerSecond = 25): Promise<void> {
  const deps = testServerDeps(database.db, {
    routes: [
      ...withdrawalRoutes({ ...fixture, checkPayout: createCheck(fixture, WITHDRAWAL) }),
      ...balanceRoutes({ db: database.db, clock: fixture.clock }),
    ],
    clock: fixture.clock,
    runInTransaction: fixture.runInTransaction,
    limits: createLimits({ ...NO_LIMITS, sandboxPerSecond, livePerSecond: 50 }),
    queue: createKeyedQueue({ runningMax: 5, pendingMax: { ofOne, ofAll: 3_000 }, waitMsMax: 60_000 }),
  });
  server = await startTestServer(deps);
}

async function ask({ merchantId }: MerchantScope, requestId: string): Promise<HttpResponse> {
  const destination = { phone: '0911000001', accountName: 'Abebe Bikila' };
  const body = { requestId, amount: 10, channel: 'TELEBIRR', destination };
  return server.send('POST', PATH, { key: stubKey(merchantId), body });
}

const askForAll = (scope: MerchantScope, count: number): Promise<HttpResponse>[] =>
  Array.from({ length: count }, (_, index) => ask(scope, `PAY-${index + 1}`));

const requestIdsOf = async ({ merchantId }: MerchantScope): Promise<string[]> => {
  const found = (await database.db.knex()('payout').where({ merchantId }).select('reference')) as {
    reference: string;
  }[];
  return found.map(({ reference }) => reference);
};

test('two hundred concurrent withdrawals are each created once, while other merchants are served', async () => {
  await start(300);
  let answered = 0;
  const burst = askForAll(payroll, BURST).map(async (one) => {
    const { status } = await one;
    answered += 1;
    return status;
  });
  // The burst is under way.
  await Promise.race(burst);
  const others = askForAll(other, 20).map(async (one) => (await one).status);
  const looks = Array.from({ length: 20 }, async () => {
    const { status } = await server.send('GET', '/api/checkout/balance', { key: stubKey(other.merchantId) });
    return status;
  });
  expect(await Promise.all(looks)).toEqual(looks.map(() => 200));
  expect(await Promise.all(others)).toEqual(others.map(() => 202));
  // They took turns with it: one of theirs, one of the burst's.
  expect(answered).toBeLessThan(BURST / 2);
  expect(await Promise.all(burst)).toEqual(burst.map(() => 202));
  const ids = await requestIdsOf(payroll);
  expect(ids.toSorted()).toEqual(Array.from({ length: BURST }, (_, index) => `PAY-${index + 1}`).toSorted());
  const { availableSantim, reservedSantim } = await readBalance(database.db, payroll);
  const takes = TAKES * BigInt(BURST);
  expect({ availableSantim, reservedSantim }).toEqual({ availableSantim: 10_000_00n - takes, reservedSantim: takes });
});

test('requests beyond the queue’s limit get 429 and can be repeated', async () => {
  await start(30);
  const answers = await Promise.all(askForAll(payroll, 60));
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(60 - refused.length);
  expect(refused.length).toBeGreaterThan(0);
  expect(new Set(refused.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['1']));
  expect(await requestIdsOf(payroll)).toHaveLength(60 - refused.length);
  for (let index = 0; index < 60; index += 1) {
    const { status } = await ask(payroll, `PAY-${index + 1}`);
    expect(status).toBe(answers[index]?.status === 202 ? 200 : 202);
  }
  expect(await requestIdsOf(payroll)).toHaveLength(60);
});

test('a burst of ten times a key’s rate is accepted, and counts apart from its other requests', async () => {
  await start(300, 2);
  const answers = await Promise.all(askForAll(payroll, 21));
  const refused = answers.filter(({ status }) => status !== 202);
  expect(refused).toHaveLength(1);
  expect(refused[0]).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });
  expect(refused[0]?.body.message).toMatch(
    /^At most 20 requests of this kind with one key are allowed in 10 s\. Repeat/,
  );
  const look = () => server.send('GET', '/api/checkout/balance', { key: stubKey(payroll.merchantId) });
  const looks = [await look(), await look(), await look(), await look(), await look()];
  expect(looks.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
});
