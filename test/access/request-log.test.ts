import { createRequestLog, deleteOldRequests, requestLogRoutes } from '../../src/access/request-log.ts';
import { Registry } from '../../src/http/metrics.ts';
import type { CompletedRequest } from '../../src/http/server.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { buildFixture, buildMerchant } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { argumentsOf, undone } from '../support/explain.ts';
import { authenticateStubKey, startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';

let database: TestDatabase;
let registry: Registry;
let log: ReturnType<typeof createRequestLog>;
let server: TestServer;
let key: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  registry = new Registry();
  log = createRequestLog({ db: database.db, registry });
  const fixture = buildFixture(database.db, { clock: () => new Date() });
  const routes = [...checkoutRoutes(fixture), ...requestLogRoutes(fixture)];
  const { runInTransaction, clock } = fixture;
  server = await startTestServer(
    testServerDeps(database.db, { routes, registry, runInTransaction, clock, onCompleted: log.add }),
  );
  key = stubKey((await buildMerchant(database.db)).merchantId);
});
afterEach(async () => {
  await log.stop();
  await server.close();
});
afterAll(() => database.drop());

const list = async (query = '', of = key) => {
  await log.flush();
  return (await server.send('GET', `/api/checkout/requests?${query}`, { key: of })).body;
};
const lost = async (): Promise<number | undefined> =>
  (await registry.getSingleMetric('meskot_request_log_lost_total')?.get())?.values[0]?.value;

const request = async (at = new Date()): Promise<CompletedRequest> => ({
  requestId: newId('req', at.getTime()),
  caller: await authenticateStubKey(key),
  method: 'GET',
  route: '/api/checkout/channels',
  status: 200,
  errorCode: null,
  durationMs: 3,
  address: '192.0.2.1',
  at,
});

test('a call is listed with its route, status and error code, and without its body, path and query', async () => {
  const body = { checkoutOrderNo: 'SECRET-ORDER', amount: 10, currency: 'ETB' };
  const made = await server.send('POST', '/api/checkout/sessions', { key, body });
  const repeated = { key, body, headers: { 'idempotency-key': 'once' } };
  const refused = await server.send('POST', '/api/checkout/sessions', repeated);
  const replayed = await server.send('POST', '/api/checkout/sessions', repeated);
  const missing = await server.send('GET', '/api/checkout/sessions/cs_HIDDEN', { key });
  const { data, pagination } = await list();
  expect(pagination.total).toBe(4);
  const keyId = (await authenticateStubKey(key)).keyId;
  const of = ({ headers }: typeof made) => ({ requestId: headers.get('x-request-id'), keyId });
  expect(data).toMatchObject([
    { ...of(missing), method: 'GET', route: '/api/checkout/sessions/:sessionId', status: 404, errorCode: 'NOT_FOUND' },
    { ...of(replayed), status: 409, errorCode: 'DUPLICATE_REFERENCE' },
    { ...of(refused), method: 'POST', route: '/api/checkout/sessions', status: 409, errorCode: 'DUPLICATE_REFERENCE' },
    { ...of(made), status: 201, errorCode: null, durationMs: expect.any(Number), address: expect.any(String) },
  ]);
  const [stored] = await rows<{ text: string }>(
    database.db,
    `SELECT string_agg(CAST(r AS text), '') AS text FROM request_log r`,
  );
  expect(stored?.text).not.toMatch(/SECRET-ORDER|cs_HIDDEN/);
});

test('the list narrows to a request, a key, an operation and a class of statuses, and has the calls of its own merchant and environment only', async () => {
  const other = stubKey((await buildMerchant(database.db)).merchantId);
  await server.send('GET', '/api/checkout/sessions', { key });
  await server.send('GET', '/api/checkout/sessions?status=no', { key });
  await server.send('GET', '/api/checkout/sessions', { key: other });
  await server.send('GET', '/api/checkout/sessions', { key: null });
  const { data } = await list('statusClass=4xx');
  expect(data).toMatchObject([{ status: 400, errorCode: 'VALIDATION_ERROR' }]);
  expect((await list(`requestId=${data[0].requestId}`)).pagination.total).toBe(1);
  expect((await list('keyId=key_other')).pagination.total).toBe(0);
  expect((await list('method=GET&route=/api/checkout/sessions')).pagination.total).toBe(2);
  expect((await list('method=POST')).pagination.total).toBe(0);
  expect((await list('route=/api/checkout/channels')).pagination.total).toBe(0);
  expect((await list('statusClass=2xx&route=/api/checkout/sessions', other)).data).toHaveLength(1);
  expect((await list('', stubKey(key.split(':')[1] ?? '', 'live'))).data).toEqual([]);
  expect((await list('statusClass=error')).statusCode).toBe(400);
});

test('a full queue drops requests and counts them; the others are written', async () => {
  const one = await request();
  for (let count = 0; count < 5_002; count += 1) log.add({ ...one, requestId: newId('req') });
  await log.flush();
  expect(await lost()).toBe(2);
  expect((await list()).pagination.total).toBe(5_000);
});

test('a batch that cannot be written is counted, and fails no request', async () => {
  const one = await request();
  log.add(one);
  await log.flush();
  log.add(one);
  const { status } = await server.send('GET', '/api/checkout/sessions', { key });
  await log.flush();
  expect([status, await lost()]).toEqual([200, 2]);
});

test('requests of more than 30 days ago are deleted, later ones are not', async () => {
  const days = (count: number) => new Date(Date.now() - count * 24 * 3_600_000);
  const [old, recent] = [await request(days(30.1)), await request(days(29.9))];
  log.add(old);
  log.add(recent);
  await log.flush();
  expect(await deleteOldRequests(database.db)).toBe(1);
  const left = await rows(database.db, 'SELECT id FROM request_log WHERE id = ANY (:ids)', {
    ids: [old.requestId, recent.requestId],
  });
  expect(left).toEqual([{ id: recent.requestId }]);
});

test.each(['', 'method=GET&statusClass=4xx', 'keyId=key_1&route=/api/checkout/channels'])(
  'a long list is counted and searched in its index alone, with the filter "%s"',
  async (query) => {
    const { merchantId } = await authenticateStubKey(key);
    await database.asOwner(`
      INSERT INTO request_log (id, merchant_id, environment, key_id, method, route, status, duration_ms, address, created_at)
      SELECT 'req_' || i, '${merchantId}', 'sandbox', 'key_' || i % 5, 'GET', '/api/checkout/channels', 200, 3,
             '192.0.2.1', now() - interval '1 minute' * i
      FROM generate_series(1, 20000) i`);
    await database.asOwner('VACUUM ANALYZE request_log');
    const statements: { sql: string; values: readonly unknown[] }[] = [];
    database.db.events.on('statement', (one) => statements.push(one));
    await list(query);
    const { sql, values } = statements.find((one) => one.sql.includes('AS total')) as (typeof statements)[number];
    await undone(database.db, async (run) => {
      await run('SET LOCAL plan_cache_mode = force_generic_plan');
      await run(`PREPARE asked AS ${sql}`);
      const plan = JSON.stringify(await run(`EXPLAIN (FORMAT JSON) EXECUTE asked${argumentsOf(values)}`));
      const scans = plan.match(/"Node Type":"[^"]*Scan"/g);
      expect(new Set(scans)).toEqual(new Set(['"Node Type":"Index Only Scan"']));
      await run('DEALLOCATE asked');
    });
    await database.asOwner('TRUNCATE request_log');
  },
);
