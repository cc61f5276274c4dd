import { balanceRoutes } from '../../src/ledger/routes.ts';
import { addisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { bankAccountRoutes } from '../../src/settlements/bank-account/routes.ts';
import { markCredited, markFailed, markSent } from '../../src/settlements/bank-results.ts';
import { approveSettlement, rejectSettlement } from '../../src/settlements/decide.ts';
import { settlementRoutes } from '../../src/settlements/routes.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { ACCOUNT, stateOfSettlement } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

// Noon on a Friday in Addis Ababa, before a weekend and Timkat.
const FRIDAY = new Date('2027-01-15T09:00:00.000Z');
const HOUR_MS = 3_600_000;

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;
let server: TestServer;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  fixture = buildFixture(database.db, { start: FRIDAY });
  scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 1_000_00n);
  const { db, clock } = fixture;
  const routes = [
    ...settlementRoutes({ db, clock }),
    ...bankAccountRoutes({ db, clock }),
    ...balanceRoutes({ db, clock }),
  ];
  const deps = testServerDeps(db, { routes, clock, runInTransaction: fixture.runInTransaction });
  server = await startTestServer(deps, stubKey(scope.merchantId));
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
const operator = (at = fixture.clock()) => ({ operatorId: 'opr_1', at });

describe('a settlement', () => {
  beforeEach(async () => {
    await link();
  });

  test('is requested, approved, sent and credited, each step with its journal and event', async () => {
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

    await fixture.runInTransaction((tx) => approveSettlement(tx, settlementId, operator()));
    fixture.pass(HOUR_MS);
    await fixture.runInTransaction((tx) => markSent(tx, settlementId, { ...operator(), bankReference: 'FT1' }));
    fixture.pass(72 * HOUR_MS);
    const creditedAt = new Date(fixture.clock().getTime() - HOUR_MS);
    const credit = { ...operator(), bankReference: 'FT1', creditedAt };
    await fixture.runInTransaction((tx) => markCredited(tx, settlementId, credit));
    const { data } = (await get(`settlement/${settlementId}`)).body;
    expect(data).toMatchObject({
      status: 'COMPLETED',
      bankReference: 'FT1',
      sentAt: new Date(FRIDAY.getTime() + HOUR_MS).toISOString(),
      creditedAt: creditedAt.toISOString(),
      creditedOn: addisDay(creditedAt),
      completedAt: fixture.clock().toISOString(),
    });
    expect(data.timeline.map(({ kind }: { kind: string }) => kind)).toEqual([
      'settlement.requested',
      'review.approved',
      'bank.sent',
      'bank.credited',
    ]);
    expect(await balance()).toEqual({ available: 749.5, reserved: 0, netSettled: 250.5 });
    expect(await stateOfSettlement(database.db, settlementId)).toMatchObject({
      version: 4,
      events: ['settlement.requested', 'settlement.updated', 'settlement.processing', 'settlement.completed'],
      journals: ['SETTLEMENT_RESERVED', 'SETTLEMENT_PAID'],
    });
  });

  test('a repeated requestId returns the same settlement without a time limit; with another body it is rejected', async () => {
    const first = await post('settlement', { requestId: 'S-1', amount: 100 });
    fixture.pass(400 * 24 * HOUR_MS);
    const again = await post('settlement', { requestId: 'S-1', amount: 100 });
    expect({ status: again.status, data: again.body.data }).toEqual({ status: 200, data: first.body.data });
    for (const body of [{ amount: 100.5 }, { all: true }]) {
      const other = await post('settlement', { requestId: 'S-1', ...body });
      expect({ status: other.status, error: other.body.error }).toMatchObject({
        status: 409,
        error: { code: 'DUPLICATE_REFERENCE', existing: { settlementId: first.body.data.settlementId } },
      });
    }
    expect(await balance()).toMatchObject({ available: 900, reserved: 100 });
  });

  test('a settlement of all takes the available balance less fee and tax, and a repeat returns the same settlement', async () => {
    await rows(
      database.db,
      `INSERT INTO fee_rule (id, merchant_id, channel, direction, basis_points, fixed_santim, tax_basis_points, valid_from, version)
       VALUES (:id, :merchantId, NULL, 'SETTLEMENT', 50, 1000, 1500, '2020-01-01T00:00:00Z', 1)`,
      { id: newId('fee'), merchantId: scope.merchantId },
    );
    const { status, body } = await post('settlement', { requestId: 'ALL-1', all: true });
    expect({ status, data: body.data }).toMatchObject({
      status: 202,
      data: { amount: 982.85, fee: 14.91, feeTax: 2.24, totalDebit: 1000 },
    });
    expect(await balance()).toMatchObject({ available: 0, reserved: 1000 });
    const again = await post('settlement', { requestId: 'ALL-1', all: true });
    expect({ status: again.status, data: again.body.data }).toEqual({ status: 200, data: body.data });
    const more = await post('settlement', { requestId: 'ALL-2', all: true });
    expect({ status: more.status, code: more.body.error.code }).toEqual({ status: 422, code: 'INSUFFICIENT_BALANCE' });
  });

  test('is cancelled by its merchant, once and only before a decision', async () => {
    const { settlementId } = (await post('settlement', { requestId: 'S-1', amount: 100 })).body.data;
    const cancelled = await post(`settlement/${settlementId}/cancel`);
    expect(cancelled.body.data).toMatchObject({ status: 'CANCELLED', completedAt: FRIDAY.toISOString() });
    expect(fixture.enqueued.at(-1)).toMatchObject({ signal: 'cancelled', workflowId: `settlement-${settlementId}` });
    expect((await post(`settlement/${settlementId}/cancel`)).status).toBe(200);
    expect(await balance()).toMatchObject({ available: 1000, reserved: 0 });
    expect(await stateOfSettlement(database.db, settlementId)).toMatchObject({
      version: 2,
      events: ['settlement.requested', 'settlement.canceled'],
    });
    const approved = (await post('settlement', { requestId: 'S-2', amount: 100 })).body.data.settlementId;
    await fixture.runInTransaction((tx) => approveSettlement(tx, approved, operator()));
    const late = await post(`settlement/${approved}/cancel`);
    expect({ status: late.status, message: late.body.message }).toEqual({
      status: 409,
      message: 'This settlement is APPROVED: only one that is REQUESTED can become CANCELLED.',
    });
  });

  test('is rejected or fails with a reason, and its money is released', async () => {
    const ask = async (requestId: string) =>
      (await post('settlement', { requestId, amount: 100 })).body.data.settlementId as string;
    const [rejected, failed] = [await ask('S-1'), await ask('S-2')];
    const reason = 'The account is closed.';
    await fixture.runInTransaction((tx) => rejectSettlement(tx, rejected, { ...operator(), reason }));
    await fixture.runInTransaction((tx) => approveSettlement(tx, failed, operator()));
    await fixture.runInTransaction((tx) => markSent(tx, failed, operator()));
    await fixture.runInTransaction((tx) => markFailed(tx, failed, { ...operator(), reason }));
    expect((await get(`settlement/${rejected}`)).body.data).toMatchObject({
      status: 'REJECTED',
      failure: { code: 'REJECTED', message: reason },
    });
    expect((await get(`settlement/${failed}`)).body.data).toMatchObject({
      status: 'FAILED',
      failure: { code: 'BANK_REFUSED', message: reason },
    });
    expect(await balance()).toEqual({ available: 1000, reserved: 0, netSettled: 0 });
    const { body } = await get('settlement?status=FAILED,REJECTED');
    expect(body.data.map((one: { settlementId: string }) => one.settlementId).toSorted()).toEqual(
      [rejected, failed].toSorted(),
    );
  });

  test('is found by its requestId, its id and the bank reference', async () => {
    const { settlementId } = (await post('settlement', { requestId: 'S-1', amount: 100 })).body.data;
    await post('settlement', { requestId: 'S-2', amount: 100 });
    for (let step = 0; step < 2; step += 1) await post(`sandbox/settlements/${settlementId}/advance`);
    const { bankReference } = (await get(`settlement/${settlementId}`)).body.data;
    for (const search of ['S-1', settlementId, bankReference]) {
      const { body } = await get(`settlement?search=${search}`);
      expect(body).toMatchObject({ data: [{ settlementId }], pagination: { total: 1 } });
    }
    const first = (await get('settlement?limit=1')).body;
    const second = (await get(`settlement?limit=1&cursor=${first.pagination.nextCursor}`)).body;
    expect([...first.data, ...second.data].map((one: { requestId: string }) => one.requestId).toSorted()).toEqual([
      'S-1',
      'S-2',
    ]);
  });

  test.each<[object, number, string, string]>([
    [{ amount: 9.99 }, 422, 'AMOUNT_BELOW_MINIMUM', 'amount must be at least 10.00 ETB in a settlement, got 9.99'],
    [
      { amount: 60_000_000 },
      422,
      'AMOUNT_ABOVE_MAXIMUM',
      'amount must be at most 50000000.00 ETB in a settlement, got 60000000.00',
    ],
    [{ amount: 1000.01 }, 422, 'INSUFFICIENT_BALANCE', '1000.00 ETB are available'],
    [{ amount: 1.005 }, 400, 'VALIDATION_ERROR', 'at most two decimals'],
    [{ amount: -1 }, 400, 'VALIDATION_ERROR', 'more than 0'],
    [{ amount: 0 }, 400, 'VALIDATION_ERROR', 'more than 0'],
    [{ amount: '100' }, 400, 'VALIDATION_ERROR', 'amount'],
    [{ all: false }, 400, 'VALIDATION_ERROR', 'all'],
    [{}, 400, 'VALIDATION_ERROR', 'amount must be given, or "all": true'],
    [{ amount: 100, all: true }, 400, 'VALIDATION_ERROR', 'amount must not be given together with all'],
    [{ amount: 100, currency: 'USD' }, 400, 'UNSUPPORTED_CURRENCY', 'currency'],
  ])('requested with %j is rejected with %i and leaves no rows', async (wanted, ...rejection) => {
    const [status, code, message] = rejection;
    const { status: got, body } = await post('settlement', { requestId: 'S-1', ...wanted });
    expect({ status: got, code: body.error.code, message: body.message }).toEqual({
      status,
      code,
      message: expect.stringContaining(message),
    });
    expect(await balance()).toEqual({ available: 1000, reserved: 0, netSettled: 0 });
    expect((await get('settlement')).body.pagination.total).toBe(0);
  });

  test("a merchant's own settlement limits override the platform's, and are inclusive", async () => {
    await rows(
      database.db,
      'INSERT INTO settlement_limit (merchant_id, min_santim, max_santim) VALUES (:merchantId, 5000, 20000)',
      { merchantId: scope.merchantId },
    );
    expect((await get('settlement-limits')).body.data).toEqual({ currency: 'ETB', min: 50, max: 200 });
    expect((await post('settlement', { requestId: 'S-1', amount: 49.99 })).body.error.code).toBe(
      'AMOUNT_BELOW_MINIMUM',
    );
    const { message } = (await post('settlement', { requestId: 'S-1', all: true })).body;
    expect(message).toBe('amount must be at most 200.00 ETB in a settlement, all that is available is 1000.00');
    expect((await post('settlement', { requestId: 'S-1', amount: 200.01 })).body.error.code).toBe(
      'AMOUNT_ABOVE_MAXIMUM',
    );
    expect((await post('settlement', { requestId: 'S-1', amount: 200 })).status).toBe(202);
    expect((await post('settlement', { requestId: 'S-2', amount: 50 })).status).toBe(202);
  });

  test('of the sandbox is advanced step by step with unchanged dates; a live key cannot advance one', async () => {
    const asked = (await post('settlement', { requestId: 'S-1', amount: 100 })).body.data;
    const path = `sandbox/settlements/${asked.settlementId}/advance`;
    for (const status of ['APPROVED', 'PROCESSING', 'COMPLETED']) {
      const { body } = await post(path);
      expect(body.data).toMatchObject({ status, expectedBy: asked.expectedBy, dateReasons: asked.dateReasons });
    }
    expect((await post(path)).status).toBe(409);
    const live = stubKey(scope.merchantId, 'live');
    const refused = await server.send('POST', `/api/checkout/${path}`, { key: live, body: {} });
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });
});
