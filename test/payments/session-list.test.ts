import type { MerchantScope } from '../../src/lib/scope.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import {
  buildFixture,
  buildMerchant,
  buildPendingPayment,
  buildSession,
  PAID,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;
let server: TestServer;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db);
  scope = await buildMerchant(database.db);
  const deps = testServerDeps(database.db, { routes: checkoutRoutes(fixture), clock: fixture.clock });
  server = await startTestServer(deps, stubKey(scope.merchantId));
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

const list = async (query: string, key?: string) =>
  (await server.send('GET', `/api/checkout/sessions?${query}`, key === undefined ? {} : { key })).body;
const ids = ({ data }: { data: { sessionId: string }[] }) => data.map(({ sessionId }) => sessionId);

test('the list has the sessions of the days and statuses asked for, newest first, each as it is read by its id', async () => {
  const paid = await buildPendingPayment(fixture, scope);
  fixture.provider.returns(PAID);
  await fixture.checkAttempt(paid.attemptId, { notifyWorkflow: false });
  fixture.pass(1_000);
  const [one, other] = [await buildSession(fixture, scope), await buildSession(fixture, scope)];
  fixture.pass(24 * 3_600_000);
  const next = await buildSession(fixture, scope, { type: 'QRCODE' });
  const sameInstant = [one.sessionId, other.sessionId].toSorted().toReversed();

  const all = await list('');
  expect(ids(all)).toEqual([next.sessionId, ...sameInstant, paid.sessionId]);
  expect(all.pagination).toMatchObject({ total: 4, nextCursor: null });
  for (const session of all.data.slice(0, 1)) {
    const { body } = await server.send('GET', `/api/checkout/sessions/${session.sessionId}`);
    expect(session).toEqual(body.data);
    expect(session.checkoutUrl).toContain('?t=');
  }
  expect(ids(await list('startDate=2026-03-02&endDate=2026-03-02'))).toEqual([...sameInstant, paid.sessionId]);
  expect(ids(await list('status=COMPLETED'))).toEqual([paid.sessionId]);
  expect(ids(await list('status=OPEN,PROCESSING'))).toEqual([next.sessionId, ...sameInstant]);

  const first = await list('limit=2');
  expect(first.pagination).toMatchObject({ total: 4, totalPages: 2 });
  const rest = await list(`limit=2&cursor=${first.pagination.nextCursor}`);
  expect([...ids(first), ...ids(rest)]).toEqual(ids(all));
});

test('a key without checkout:write lists sessions without the address that pays them', async () => {
  await buildSession(fixture, scope);
  const { data } = await list('status=OPEN', stubKey(scope.merchantId, 'sandbox', ['checkout:read']));
  expect(new Set(data.map((one: { checkoutUrl: string | null }) => one.checkoutUrl))).toEqual(new Set([null]));
});

test('keys of another merchant or environment list none of the sessions', async () => {
  const other = await buildMerchant(database.db);
  for (const key of [stubKey(other.merchantId), stubKey(scope.merchantId, 'live')]) {
    expect((await list('', key)).pagination.total).toBe(0);
  }
});

test('an unknown status is rejected', async () => {
  expect(await list('status=PAID')).toMatchObject({ statusCode: 400, error: { details: [{ field: 'status' }] } });
});
