import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { settlementRoutes } from '../../src/settlements/routes.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { linkAccount } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

// Noon on a Friday in Addis Ababa, before a weekend and Timkat.
const FRIDAY = new Date('2027-01-15T09:00:00.000Z');

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
  const { db, clock } = fixture;
  const deps = testServerDeps(db, {
    routes: settlementRoutes({ db, clock }),
    clock,
    runInTransaction: fixture.runInTransaction,
  });
  server = await startTestServer(deps, stubKey(scope.merchantId));
});
afterEach(() => server.close());

const quote = async (query = '') => (await server.send('GET', `/api/checkout/settlement/quote${query}`)).body;
const request = (body: object) => server.send('POST', '/api/checkout/settlement', { body });
const codes = ({ data }: { data: { problems: { code: string }[] } }) => data.problems.map(({ code }) => code);

test('a quote has the fee and the days of the settlement that is then requested, with the reason of each day it skips', async () => {
  await linkAccount(fixture, scope);
  await fund(fixture, scope, 1_000_00n);
  const { data } = await quote('?amount=250.5');
  expect(data.problems).toEqual([]);
  expect(data.dateReasons.map((one: { reason: string }) => one.reason)).toEqual([
    'Saturday 16 January 2027',
    'Sunday 17 January 2027',
    'Timkat, Tuesday 19 January 2027',
  ]);
  const settlement = (await request({ requestId: 'Q-1', amount: 250.5 })).body.data;
  const { problems: _, limits, ...price } = data;
  expect(settlement).toMatchObject(price);
  expect(limits).toEqual((await server.send('GET', '/api/checkout/settlement-limits')).body.data);
});

test('a quote without an amount is of the whole balance, less its fee', async () => {
  await linkAccount(fixture, scope);
  await fund(fixture, scope, 1_000_00n);
  await rows(
    fixture.db,
    `INSERT INTO fee_rule (id, merchant_id, channel, direction, basis_points, fixed_santim, tax_basis_points, valid_from, version)
     VALUES ('fee_quote', :merchantId, NULL, 'SETTLEMENT', 0, 1000, 1500, '2020-01-01T00:00:00Z', 1)`,
    { merchantId: scope.merchantId },
  );
  const { data } = await quote();
  expect(data).toMatchObject({ amount: 988.5, fee: 10, feeTax: 1.5, totalDebit: 1000, problems: [] });
  expect((await request({ requestId: 'Q-2', all: true })).body.data).toMatchObject({ amount: 988.5, totalDebit: 1000 });
  expect(codes(await quote())).toEqual(['INSUFFICIENT_BALANCE']);
});

test('a quote lists the errors that the request gets, and writes nothing', async () => {
  const before = await quote('?amount=999999999');
  expect(codes(before)).toEqual(['BANK_ACCOUNT_NOT_VERIFIED', 'AMOUNT_ABOVE_MAXIMUM', 'INSUFFICIENT_BALANCE']);
  const requested = await request({ requestId: 'Q-3', amount: 999_999_999 });
  expect(requested.body).toMatchObject({ message: before.data.problems[0].message });
  await linkAccount(fixture, scope);
  const { data } = await quote('?amount=999999999');
  expect((await request({ requestId: 'Q-3', amount: 999_999_999 })).body.message).toBe(data.problems[0].message);
  const { body } = await server.send('GET', '/api/checkout/settlement');
  expect(body.pagination.total).toBe(0);
});

test('a quote of another merchant is of that merchant alone', async () => {
  await fund(fixture, scope, 1_000_00n);
  const key = stubKey((await buildFreeMerchant(fixture)).merchantId);
  const { body } = await server.send('GET', '/api/checkout/settlement/quote', { key });
  expect(codes(body)).toEqual(['BANK_ACCOUNT_NOT_VERIFIED', 'INSUFFICIENT_BALANCE']);
});
