import { post } from '../../src/ledger/post.ts';
import { suspensePosting, paymentPosting, reservePosting } from '../../src/ledger/postings.ts';
import { balanceRoutes } from '../../src/ledger/routes.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildMerchant } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';

const NOW = new Date('2026-03-02T09:00:00.000Z');

describe('the balance and its history', () => {
  let database: TestDatabase;
  let scope: MerchantScope;
  let server: TestServer;
  const withdrawalId = newId('txn');

  beforeAll(async () => {
    database = await createTestDatabase();
    scope = await buildMerchant(database.db);
    const deps = testServerDeps(database.db, {
      routes: balanceRoutes({ db: database.db, clock: () => NOW }),
      clock: () => NOW,
    });
    server = await startTestServer(deps, stubKey(scope.merchantId));
    const payment = { ...scope, channel: 'TELEBIRR', amountSantim: 100_00n } as const;
    const fee = { feeSantim: 2_50n, feeTaxSantim: 38n };
    const facts = [
      ...Array.from({ length: 5 }, () => paymentPosting({ ...payment, ...fee, transactionId: newId('txn') })),
      suspensePosting({ ...payment, transactionId: newId('txn'), attemptId: newId('pat') }),
      reservePosting({ ...payment, type: 'withdrawal', id: withdrawalId, feeSantim: 5_00n, feeTaxSantim: 75n }),
    ];
    for (const fact of facts) await database.db.transaction((trx) => post(trx, fact, NOW));
  });
  afterAll(async () => {
    await server.close();
    await database.drop();
  });

  const get = (path: string, key?: string) =>
    server.send('GET', `/api/checkout/balance${path}`, { ...(key && { key }) });

  test('the balance is available and reserved, with fees and settlements to date', async () => {
    const { status, body } = await get('');
    expect({ status, data: body.data }).toEqual({
      status: 200,
      data: {
        currency: 'ETB',
        environment: 'sandbox',
        available: 379.85,
        reserved: 105.75,
        total: 485.6,
        feesToDate: 14.4,
        netSettled: 0,
        asOf: NOW.toISOString(),
      },
    });
  });

  test('a merchant without movements has a balance of zeros', async () => {
    const other = await buildMerchant(database.db);
    expect((await get('', stubKey(other.merchantId))).body.data).toMatchObject({ available: 0, total: 0 });
    expect((await get('/history', stubKey(other.merchantId))).body).toMatchObject({
      data: [],
      pagination: { total: 0 },
    });
  });

  test('the history of one resource has its movements of all days, in the account asked for', async () => {
    const history = async (query: string) => (await get(`/history?resourceId=${query}`)).body;
    const movement = { type: 'WITHDRAWAL_RESERVED', resourceId: withdrawalId };
    expect(await history(withdrawalId)).toMatchObject({
      data: [{ ...movement, account: 'available', amount: -105.75 }],
      pagination: { total: 1 },
    });
    const { data } = await history(`${withdrawalId}&account=reserved`);
    expect(data).toMatchObject([{ ...movement, account: 'reserved', amount: 105.75 }]);
    expect((await history(`${withdrawalId}&startDate=2026-03-03&endDate=2026-03-04`)).data).toEqual([]);
    expect((await history(`${withdrawalId}&type=PAYMENT`)).data).toEqual([]);
    expect((await get(`/history?resourceId=${withdrawalId}`, stubKey(newId('mrc')))).body.data).toEqual([]);
  });

  test('the history lists each movement with the balance after it, the latest first', async () => {
    const { body } = await get('/history');
    expect(body.data.map((one: { amount: number; balanceAfter: number }) => [one.amount, one.balanceAfter])).toEqual([
      [-105.75, 379.85],
      [97.12, 485.6],
      [97.12, 388.48],
      [97.12, 291.36],
      [97.12, 194.24],
      [97.12, 97.12],
    ]);
    expect(body.data[0]).toMatchObject({
      account: 'available',
      type: 'WITHDRAWAL_RESERVED',
      resourceType: 'withdrawal',
      resourceId: withdrawalId,
      createdAt: NOW.toISOString(),
    });
    expect(body.pagination).toMatchObject({ total: 6, totalPages: 1, nextCursor: null });
  });

  test('the reserved account has a history of its own', async () => {
    const { body } = await get('/history?account=reserved');
    expect(body.data).toMatchObject([{ account: 'reserved', amount: 105.75, balanceAfter: 105.75 }]);
  });

  test('the history can be filtered by type, and pages and cursors repeat and skip nothing', async () => {
    expect((await get('/history?type=WITHDRAWAL_RESERVED')).body.pagination.total).toBe(1);
    const first = (await get('/history?limit=4')).body;
    const second = (await get(`/history?limit=4&cursor=${first.pagination.nextCursor}`)).body;
    const paged = (await get('/history?limit=4&page=2')).body;
    expect(second.data).toEqual(paged.data);
    const ids = [...first.data, ...second.data].map((one: { entryId: string }) => one.entryId);
    expect(new Set(ids).size).toBe(6);
  });

  test('the history of days without movements is empty, also after a cursor of other days', async () => {
    const before = '/history?startDate=2026-02-01&endDate=2026-03-01';
    expect((await get(before)).body.pagination.total).toBe(0);
    const { nextCursor } = (await get('/history?limit=2')).body.pagination;
    expect((await get(`${before}&cursor=${nextCursor}`)).body.data).toEqual([]);
  });

  test.each([
    ['account=all', 'account'],
    ['type=PAYMENTS', 'type'],
    ['startDate=2026-13-01', 'startDate'],
    ['cursor=abc', 'cursor'],
    [
      `cursor=${Buffer.from('1 2026-03-02 09:00:00+00 jrn_01KJPWD6M0EG5S61DDZ4YD6721').toString('base64url')}`,
      'cursor',
    ],
  ])('a history query with %s is rejected, naming the parameter', async (query, field) => {
    const { status, body } = await get(`/history?${query}`);
    expect({ status, field: body.error.details[0].field }).toEqual({ status: 400, field });
  });

  test('a key without balance:read gets 403', async () => {
    const { status } = await get('', stubKey(scope.merchantId, 'sandbox', ['transactions:read']));
    expect(status).toBe(403);
  });
});
