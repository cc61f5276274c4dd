import fc from 'fast-check';

import { post } from '../../src/ledger/post.ts';
import { payoutPosting, reversalPosting, type Payout } from '../../src/ledger/postings.ts';
import { balanceRoutes } from '../../src/ledger/routes.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { WithdrawalRow } from '../../src/payouts/withdrawals/queries.ts';
import type { SettlementRow } from '../../src/settlements/queries.ts';
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
    if (number % 3 === 1) await paidOut('withdrawal', await withdraw(fixture, scope, BigInt(50_00 + number)));
    if (number % 5 === 4) await paidOut('settlement', await requestSettlement(fixture, scope));
    fixture.pass(HOURS_20_MS);
  }
}, 120_000);
afterAll(async () => {
  await server.close();
  await database.drop();
});

/** Books the payment of each payout but every fourth, and its reversal for every third of these. */
let payouts = 0;
async function paidOut(type: 'withdrawal' | 'settlement', row: WithdrawalRow | SettlementRow): Promise<void> {
  payouts += 1;
  if (payouts % 4 === 0) return;
  const out = { ...row, type } as Payout;
  const postings = [payoutPosting(out), ...(payouts % 3 === 0 ? [reversalPosting(out)] : [])];
  for (const posting of postings) await database.db.transaction((trx) => post(trx, posting, fixture.clock()));
}

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

const NUMBERS = { available: 'available', reserved: 'reserved', fees: 'feesToDate', settled: 'netSettled' } as const;

test.each(Object.entries(NUMBERS))(
  'the entries of all days of %s add up to its number: %s',
  async (account, number) => {
    const { data: balance } = await get('/api/checkout/balance');
    const query = { account, allDays: 'true' };
    const { amounts, total } = await listAll(query);
    const { data: sums } = await get(`${HISTORY}/summary`, query);
    expect(total).toBeGreaterThan(2);
    expect(sumOf(amounts)).toBe(inSantim(balance[number]));
    expect(sums).toEqual({
      account,
      count: total,
      amount: balance[number],
      openingBalance: 0,
      closingBalance: balance[number],
    });
  },
);

const optional = <T>(values: fc.Arbitrary<T>) => fc.oneof(fc.constant(undefined), values);
const filters = fc.record({
  account: fc.constantFrom(...Object.keys(NUMBERS)),
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

test('a cursor continues the history that it is of, and no other', async () => {
  const first = await get(HISTORY, { account: 'fees', allDays: 'true', limit: '2' });
  const cursor = first.pagination.nextCursor;
  const next = await get(HISTORY, { account: 'fees', allDays: 'true', limit: '2', cursor });
  const all = await get(HISTORY, { account: 'fees', allDays: 'true', limit: '4' });
  expect([...first.data, ...next.data]).toEqual(all.data);
  const wrong = await get(HISTORY, { account: 'reserved', allDays: 'true', cursor });
  expect(wrong).toMatchObject({ statusCode: 400, error: { details: [{ field: 'cursor' }] } });
});
