import { z } from 'zod';

import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { presentTransaction, findTransaction } from '../../src/payments/queries.ts';
import { transactionRoutes } from '../../src/payments/transaction-routes.ts';
import { Transaction } from '../../src/payments/transaction-schema.ts';
import {
  buildAttempt,
  buildMerchant,
  buildPendingPayment,
  buildSession,
  buildFixture,
  declined,
  PAID,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';

const DAYS = 'startDate=2026-03-01&endDate=2026-03-31';

describe('GET /api/checkout/txns/get_all_txns', () => {
  let database: TestDatabase;
  let fixture: Fixture;
  let scope: MerchantScope;
  let server: TestServer;

  beforeAll(async () => {
    database = await createTestDatabase();
    fixture = buildFixture(database.db);
    scope = await buildMerchant(database.db);
    const routes = transactionRoutes(fixture);
    server = await startTestServer(
      testServerDeps(database.db, { routes, clock: fixture.clock }),
      stubKey(scope.merchantId),
    );
  });
  afterAll(async () => {
    await server.close();
    await database.drop();
  });

  const ask = (query: string, key?: string) =>
    server.send('GET', `/api/checkout/txns/get_all_txns?${query}`, key === undefined ? {} : { key });
  const list = async (query: string, key?: string) => (await ask(`${DAYS}&currency=ETB&status=ALL&${query}`, key)).body;
  const orderNos = async (query: string) =>
    (await list(query)).data.map((one: { checkoutOrderNo: string }) => one.checkoutOrderNo);

  test('a row equals the transaction read by id, with every field', async () => {
    const full = await buildSession(fixture, scope, {
      customerName: 'አበበ "Abe" <b>\\ \u2028',
      customerEmail: 'abe@example.com',
      customerPhone: '251911223344',
      metadata: { snake_case: 'a', camelCase: '"quoted"' },
      type: 'QRCODE',
      amountSantim: 100_000n,
    });
    const paid = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(PAID);
    await fixture.checkAttempt(paid.attemptId, { notifyWorkflow: true });
    const failed = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(declined(false));
    await fixture.checkAttempt(failed.attemptId, { notifyWorkflow: true });
    const late = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(declined(false), { ...PAID });
    for (let times = 0; times < 2; times += 1) await fixture.checkAttempt(late.attemptId, { notifyWorkflow: true });
    const held = await buildPendingPayment(fixture, scope);
    fixture.provider.returns({ ...PAID, amountSantim: 1n });
    await fixture.checkAttempt(held.attemptId, { notifyWorkflow: true });

    const { data, pagination } = await list('limit=100');
    expect(pagination).toMatchObject({ total: 5, page: 1, limit: 100, totalPages: 1, nextCursor: null });
    expect(z.array(Transaction.strict()).safeParse(data).error).toBeUndefined();
    for (const { transactionId } of [full, paid, failed, late, held]) {
      const shown = data.find((one: { transactionId: string }) => one.transactionId === transactionId);
      const row = await findTransaction(database.db, scope, transactionId);
      expect(JSON.stringify(shown)).toBe(JSON.stringify(presentTransaction(row)));
      const detail = await server.send('GET', `/api/checkout/txns/${transactionId}`);
      expect(detail.body.data).toMatchObject(shown);
    }
  });

  test('days are whole days in Addis Ababa', async () => {
    const { sessionId } = await buildSession(fixture, scope, { checkoutOrderNo: 'MIDNIGHT' });
    const set = (instant: string) =>
      rows(database.db, 'UPDATE transaction SET created_at = :instant WHERE session_id = :sessionId', {
        instant,
        sessionId,
      });
    const found = async (day: string) => {
      const { body } = await ask(`startDate=${day}&endDate=${day}&currency=ETB&status=ALL&search=MIDNIGHT`);
      return body.data.map((one: { transactionDate: string }) => one.transactionDate);
    };
    await set('2026-03-09T20:59:59.999Z');
    expect([await found('2026-03-09'), await found('2026-03-10')]).toEqual([['2026-03-09'], []]);
    await set('2026-03-09T21:00:00.000Z');
    expect([await found('2026-03-09'), await found('2026-03-10')]).toEqual([[], ['2026-03-10']]);
  });

  test('pages and cursor return every row once, newest first and then by id, with the exact total', async () => {
    const made: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      made.push((await buildSession(fixture, scope, { checkoutOrderNo: `PAGED-${count}` })).checkoutOrderNo);
      if (count % 3 === 0) fixture.pass(1_000);
    }
    const all = await orderNos('search=PAGED-&limit=100');
    expect(all.toSorted()).toEqual(made);
    const paged = [];
    for (let page = 1; page <= 4; page += 1) paged.push(...(await orderNos(`search=PAGED-&limit=2&page=${page}`)));
    expect(paged).toEqual(all);
    const followed = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const body = await list(`search=PAGED-&pageSize=3${cursor && `&cursor=${cursor}`}`);
      expect(body.pagination).toMatchObject({ total: 7, totalPages: 3 });
      followed.push(...body.data.map((one: { checkoutOrderNo: string }) => one.checkoutOrderNo));
      if (cursor === '') await buildSession(fixture, scope, { checkoutOrderNo: 'NEWER' });
      cursor = body.pagination.nextCursor;
    }
    expect(followed).toEqual(all);
    const past = await list('search=PAGED-&page=1000000000');
    expect([past.data, past.pagination.total]).toEqual([[], 7]);
  });

  test('filters narrow the list, and SQL wildcards are plain characters', async () => {
    const cbe = await buildSession(fixture, scope, {
      checkoutOrderNo: 'FILTER_1',
      amountSantim: 555_05n,
      customerPhone: '251977000001',
    });
    await buildAttempt(fixture, { ...scope, sessionId: cbe.sessionId }, { channel: 'CBE_BIRR' });
    await buildSession(fixture, scope, { checkoutOrderNo: 'FILTERX2', amountSantim: 666_00n, type: 'QRCODE' });
    expect(await orderNos('search=FILTER_')).toEqual(['FILTER_1']);
    expect(await orderNos('search=filterx')).toEqual(['FILTERX2']);
    expect(await orderNos('search=%25')).toEqual([]);
    for (const part of ['97700000', '2519770', '%2B2519770', '097700', '0977 00 00']) {
      expect([part, await orderNos(`search=${part}&minAmount=555.05&maxAmount=666`)]).toEqual([part, ['FILTER_1']]);
    }
    expect(await orderNos(`search=${cbe.transactionId}`)).toEqual(['FILTER_1']);
    expect(await orderNos(`search=${cbe.sessionId}`)).toEqual(['FILTER_1']);
    expect(await orderNos('search=FILTER&transactionThrough=cbebirr')).toEqual(['FILTER_1']);
    expect(await orderNos('search=FILTER&type=QRCODE')).toEqual(['FILTERX2']);
    expect(await orderNos('search=FILTER&minAmount=555.05&maxAmount=665.99')).toEqual(['FILTER_1']);
    const pending = await ask(`${DAYS}&currency=ETB&status=SUCCESS,FAILED&search=FILTER`);
    expect(pending.body.pagination.total).toBe(0);
  });

  test('keys of another merchant or environment see none of the transactions', async () => {
    const other = await buildMerchant(database.db);
    const one = await buildSession(fixture, scope);
    for (const key of [stubKey(other.merchantId), stubKey(scope.merchantId, 'live')]) {
      expect((await list('', key)).pagination.total).toBe(0);
      expect((await server.send('GET', `/api/checkout/txns/${one.transactionId}`, { key })).status).toBe(404);
    }
  });

  test.each([
    ['endDate=2026-03-31&currency=ETB&status=ALL', 'VALIDATION_ERROR', 'startDate'],
    ['startDate=2026-13-01&endDate=2026-03-31&currency=ETB&status=ALL', 'VALIDATION_ERROR', '2026-13-01'],
    ['startDate=2026-03-31&endDate=2026-03-01&currency=ETB&status=ALL', 'INVALID_DATE_RANGE', 'startDate'],
    ['startDate=2025-01-01&endDate=2026-03-01&currency=ETB&status=ALL', 'DATE_RANGE_TOO_WIDE', '93'],
    [`${DAYS}&currency=USD&status=ALL`, 'UNSUPPORTED_CURRENCY', 'ETB'],
    [`${DAYS}&currency=ETB`, 'VALIDATION_ERROR', 'status'],
    [`${DAYS}&currency=ETB&status=DONE`, 'VALIDATION_ERROR', 'EXPIRED'],
    [`${DAYS}&currency=ETB&status=ALL&state=x`, 'VALIDATION_ERROR', 'state'],
    [`${DAYS}&currency=ETB&status=ALL&minAmount=1.005`, 'VALIDATION_ERROR', 'minAmount'],
    [`${DAYS}&currency=ETB&status=ALL&minAmount=0`, 'VALIDATION_ERROR', 'minAmount must be more than 0 and at most'],
    [
      `${DAYS}&currency=ETB&status=ALL&minAmount=100&maxAmount=50`,
      'VALIDATION_ERROR',
      'minAmount must not be more than maxAmount, got 100.00 and 50.00',
    ],
    [`${DAYS}&currency=ETB&status=ALL&transactionThrough=visa`, 'VALIDATION_ERROR', 'telebirr'],
    [`${DAYS}&currency=ETB&status=ALL&limit=101`, 'VALIDATION_ERROR', 'limit'],
    [`${DAYS}&currency=ETB&status=ALL&cursor=rubbish`, 'VALIDATION_ERROR', 'cursor'],
  ])('%s is rejected as %s, naming %s', async (query, code, named) => {
    const answer = await ask(query);
    expect([answer.status, answer.body.error.code]).toEqual([400, code]);
    expect(answer.body.message).toContain(named);
  });

  test('the list takes one statement', async () => {
    const statements: string[] = [];
    const count = ({ sql }: { sql: string }) => void statements.push(sql);
    database.db.events.on('statement', count);
    await list('limit=50');
    database.db.events.off('statement', count);
    expect(statements).toHaveLength(1);
  });
});
