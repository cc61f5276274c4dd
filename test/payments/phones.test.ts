import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { transactionRoutes } from '../../src/payments/transaction-routes.ts';
import { buildAttempt, buildMerchant, buildSession, buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';

const FORMS = ['+251911223344', '251911223344', '0911223344', '911223344'];

describe('searching by phone', () => {
  let database: TestDatabase;
  let fixture: Fixture;
  let scope: MerchantScope;
  let server: TestServer;

  beforeEach(async () => {
    database = await createTestDatabase();
    fixture = buildFixture(database.db);
    scope = await buildMerchant(database.db);
    const routes = [...checkoutRoutes(fixture), ...transactionRoutes(fixture)];
    server = await startTestServer(
      testServerDeps(database.db, { routes, clock: fixture.clock }),
      stubKey(scope.merchantId),
    );
  });
  afterEach(async () => {
    await server.close();
    await database.drop();
  });

  const found = async (search: string): Promise<string[]> => {
    const range = 'startDate=2026-03-02&endDate=2026-03-02&status=ALL&currency=ETB&limit=100';
    const { body } = await server.send('GET', `/api/checkout/txns/get_all_txns?${range}&search=${search}`);
    return body.data.map((one: { checkoutOrderNo: string }) => one.checkoutOrderNo).toSorted();
  };
  const SEARCHES = [...FORMS, '%2B251911223344', '0911-22 33 44'];

  test('finds the same customers in any notation, and returns one notation', async () => {
    for (const [index, customerPhone] of FORMS.entries()) {
      const body = { checkoutOrderNo: `FORM-${index}`, amount: 10, currency: 'ETB', customerPhone };
      const { transactionId } = (await server.send('POST', '/api/checkout/sessions', { body })).body.data;
      const shown = (await server.send('GET', `/api/checkout/txns/${transactionId}`)).body.data;
      expect(shown.customerPhone).toBe('251911223344');
    }
    await buildSession(fixture, scope, { checkoutOrderNo: 'OTHER', customerPhone: '251911223345' });
    for (const search of SEARCHES) {
      expect([search, await found(search)]).toEqual([search, ['FORM-0', 'FORM-1', 'FORM-2', 'FORM-3']]);
    }
  });

  test('finds payments from the phone, also without customer data, and none of another merchant', async () => {
    const other = await buildMerchant(database.db);
    for (const [one, checkoutOrderNo] of [
      [scope, 'PAID-FROM'],
      [other, 'NOT-OURS'],
    ] as const) {
      const { sessionId } = await buildSession(fixture, one, { checkoutOrderNo });
      await buildAttempt(fixture, { ...one, sessionId }, { phone: '+251911000004' });
    }
    for (const search of ['0911000004', '+251911000004', '251911000004']) {
      expect(await found(search)).toEqual(['PAID-FROM']);
    }
    expect(await found('0911000005')).toEqual([]);
  });

  test('the phones of attempts are looked up in an index', async () => {
    const plan = await rows<Record<string, string>>(
      database.db,
      `EXPLAIN SELECT transaction_id FROM payment_attempt
       WHERE merchant_id = :merchantId AND environment = :environment AND phone = '251911000004'`,
      scope,
    );
    expect(JSON.stringify(plan)).toContain('payment_attempt_phone');
  });
});
