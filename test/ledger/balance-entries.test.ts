import fc from 'fast-check';

import { balanceRoutes } from '../../src/ledger/routes.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildFixture, buildMerchant, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { linkAccount, requestSettlement, withdraw } from '../support/settlements.ts';
import { fund } from '../support/withdrawals.ts';

const HISTORY = '/api/checkout/balance/history';
const HOURS_20_MS = 20 * 3_600_000;
/** Each is a day later than the one before, from the first day of the fixture's clock. */
const DAYS = Array.from({ length: 12 }, (_day, index) => `2026-03-${String(index + 1).padStart(2, '0')}`);

let database: TestDatabase;
let fixture: Fixture;
let server: TestServer;
let scope: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db);
  const routes = balanceRoutes(fixture);
  server = await startTestServer(testServerDeps(database.db, { routes, clock: fixture.clock }));
  scope = await buildMerchant(database.db);
  await linkAccount(fixture, scope);
  for (let number = 0; number < 12; number += 1) {
    await fund(fixture, scope, BigInt(1_000_00 + number * 33_33));
    if (number % 3 === 1) await withdraw(fixture, scope, BigInt(50_00 + number));
    if (number % 5 === 4) await requestSettlement(fixture, scope);
    fixture.pass(HOURS_20_MS);
  }
}, 120_000);
afterAll(async () => {
  await server.close();
  await database.drop();
});

const get = async (path: string, query: Record<string, string | undefined> = {}) => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const url = `${path}?${new URLSearchParams(given).toString()}`;
  return (await server.send('GET', url, { key: stubKey(scope.merchantId) })).body;
};

async function listAll(query: Record<string, string | undefined>) {
  const amounts: number[] = [];
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await get(HISTORY, { ...query, limit: '7', page: String(page) });
    amounts.push(...data.map(({ amount }: { amount: number }) => amount));
    if (page >= pagination.totalPages) return { amounts, total: pagination.total };
  }
}

const inSantim = (birr: number): number => Math.round(birr * 100);
const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, birr) => sum + inSantim(birr), 0);

test.each(['available', 'reserved'] as const)('the entries of all days add up to the %s balance', async (account) => {
  const { data: balance } = await get('/api/checkout/balance');
  const query = { account, allDays: 'true' };
  const { amounts, total } = await listAll(query);
  const { data: sums } = await get(`${HISTORY}/summary`, query);
  expect(total).toBeGreaterThan(5);
  expect(sumOf(amounts)).toBe(inSantim(balance[account]));
  expect(sums).toEqual({
    account,
    count: total,
    amount: balance[account],
    openingBalance: 0,
    closingBalance: balance[account],
  });
});

const optional = <T>(values: fc.Arbitrary<T>) => fc.oneof(fc.constant(undefined), values);
const filters = fc.record({
  account: fc.constantFrom('available', 'reserved'),
  days: optional(fc.tuple(fc.constantFrom(...DAYS), fc.constantFrom(...DAYS))),
  type: optional(fc.constantFrom('PAYMENT', 'WITHDRAWAL_RESERVED', 'SETTLEMENT_RESERVED,PAYMENT')),
});

test('for any filter, the summary has the number and the sum of the listed entries', async () => {
  await fc.assert(
    fc.asyncProperty(filters, async ({ account, days, type }) => {
      const [startDate, endDate] = days?.toSorted() ?? [];
      const query = { account, type, startDate, endDate, allDays: days ? undefined : 'true' };
      const { amounts, total } = await listAll(query);
      const { data: sums } = await get(`${HISTORY}/summary`, query);
      expect([sums.count, inSantim(sums.amount)]).toEqual([total, sumOf(amounts)]);
      expect(amounts).toHaveLength(total);
      if (type === undefined) {
        expect(inSantim(sums.openingBalance) + sumOf(amounts)).toBe(inSantim(sums.closingBalance));
      }
    }),
    { numRuns: 60, seed: 20_260_304 },
  );
}, 120_000);

test('all days beside a date are rejected', async () => {
  for (const path of [HISTORY, `${HISTORY}/summary`]) {
    const response = await get(path, { allDays: 'true', startDate: '2026-03-01' });
    expect(response).toMatchObject({ statusCode: 400, error: { details: [{ field: 'allDays' }] } });
  }
});
