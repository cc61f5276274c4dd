import { bankAccountRoutes } from '../../src/bank-accounts/routes.ts';
import { balanceRoutes } from '../../src/ledger/routes.ts';
import type { Owner } from '../../src/lib/owner.ts';
import { markCredited, markSent } from '../../src/settlements/bank-answer.ts';
import { approveSettlement } from '../../src/settlements/decide.ts';
import { settlementRoutes } from '../../src/settlements/routes.ts';
import { buildWorld, type World } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { ACCOUNT, standing } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

// Noon on a Friday in Addis Ababa, before a weekend and Timkat.
const FRIDAY = new Date('2027-01-15T09:00:00.000Z');
const HOUR_MS = 3_600_000;

let database: TestDatabase;
let world: World;
let owner: Owner;
let server: TestServer;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  world = buildWorld(database.db, { start: FRIDAY });
  owner = await buildFreeMerchant(world);
  await fund(world, owner, 1_000_00n);
  const { db, clock } = world;
  const routes = [
    ...settlementRoutes({ db, clock }),
    ...bankAccountRoutes({ db, clock }),
    ...balanceRoutes({ db, clock }),
  ];
  const deps = testServerDeps(db, { routes, clock, runChange: world.runChange });
  server = await startTestServer(deps, stubKey(owner.merchantId));
});
afterEach(async () => {
  await server.close();
  await expectLedgerHolds(database.db);
});

const get = async (path: string) => server.send('GET', `/api/checkout/${path}`);
const post = async (path: string, body: object = {}) => server.send('POST', `/api/checkout/${path}`, { body });
const link = async (changes: object = {}, key?: string) =>
  server.send('PUT', '/api/checkout/bank-account', { body: { ...ACCOUNT, ...changes }, ...(key && { key }) });
const balance = async () => {
  const { available, reserved, netSettled } = (await get('balance')).body.data;
  return { available, reserved, netSettled };
};
const operator = (at = world.clock()) => ({ operatorId: 'opr_1', at });

describe('a settlement', () => {
  beforeEach(async () => {
    await link();
  });

  test('is asked for, approved, sent and credited, each step with its journal and event', async () => {
    const asked = await post('settlement', { requestId: 'S-1', amount: 250.5 });
    expect(asked.status).toBe(202);
    const { settlementId } = asked.body.data;
    expect(asked.body.data).toEqual({
      settlementId: expect.stringMatching(/^stl_[0-9A-Z]{26}$/),
      requestId: 'S-1',
      amount: 250.5,
      fee: 0,
      feeTax: 0,
      totalDebit: 250.5,
      currency: 'ETB',
      bankAccount: { bankCode: 'CBE', accountNumber: '*********6789', accountName: 'Abyssinia Coffee PLC' },
      status: 'REQUESTED',
      effectiveDate: '2027-01-15',
      earliestExpected: '2027-01-18',
      expectedBy: '2027-01-20',
      dateReasons: [
        { date: '2027-01-16', reason: 'Saturday 16 January 2027', provisional: false },
        { date: '2027-01-17', reason: 'Sunday 17 January 2027', provisional: false },
        { date: '2027-01-19', reason: 'Timkat, Tuesday 19 January 2027', provisional: false },
      ],
      environment: 'sandbox',
      requestedAt: FRIDAY.toISOString(),
    });
    expect(await balance()).toEqual({ available: 749.5, reserved: 250.5, netSettled: 0 });

    await world.runChange((change) => approveSettlement(change, settlementId, operator()));
    world.pass(HOUR_MS);
    await world.runChange((change) => markSent(change, settlementId, { ...operator(), bankReference: 'FT1' }));
    world.pass(72 * HOUR_MS);
    const creditedAt = new Date(world.clock().getTime() - HOUR_MS);
    const credit = { ...operator(), bankReference: 'FT1', creditedAt };
    await world.runChange((change) => markCredited(change, settlementId, credit));
    const { data } = (await get(`settlement/${settlementId}`)).body;
    expect(data).toMatchObject({
      status: 'COMPLETED',
      bankReference: 'FT1',
      sentAt: new Date(FRIDAY.getTime() + HOUR_MS).toISOString(),
      creditedAt: creditedAt.toISOString(),
      completedAt: world.clock().toISOString(),
    });
    expect(data.timeline.map(({ kind }: { kind: string }) => kind)).toEqual([
      'settlement.requested',
      'review.approved',
      'bank.sent',
      'bank.credited',
    ]);
    expect(await balance()).toEqual({ available: 749.5, reserved: 0, netSettled: 250.5 });
    expect(await standing(database.db, settlementId)).toMatchObject({
      version: 4,
      events: ['settlement.requested', 'settlement.updated', 'settlement.processing', 'settlement.completed'],
      journals: ['SETTLEMENT_RESERVED', 'SETTLEMENT_PAID'],
    });
  });
});
