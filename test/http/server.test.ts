import { connect, createServer, type Socket } from 'node:net';

import Router from '@koa/router';
import { z } from 'zod';

import { listenForMetrics, measurePool, Registry } from '../../src/http/metrics.ts';
import { readRoute, type Route } from '../../src/http/route.ts';
import { openDatabase } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps } from '../support/http.ts';
import { itemRoutes } from './routes.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const KEY = stubKey('mrc_A');
const routes = itemRoutes({ runs: 0 });
const serverDeps = (changes: Partial<Parameters<typeof testServerDeps>[1]> = {}) =>
  testServerDeps(database.db, { routes, ...changes });

/** A route that responds when the test lets it, or when the server drains. */
function waitingRoute() {
  let release: () => void = () => {};
  let arrived: () => void = () => {};
  const started = new Promise<void>((resolve) => (arrived = resolve));
  const route: Route = readRoute('GET /api/waiting', {
    operationId: 'wait',
    tag: 'System',
    summary: 'Waits',
    auth: { by: 'public' },
    responses: { 200: z.object({ drained: z.boolean() }) },
    handle: async ({ signal }) => {
      const waiting = signal();
      await new Promise<void>((resolve) => {
        release = resolve;
        arrived();
      });
      return { message: 'Waited', data: { drained: waiting.aborted } };
    },
  });
  return { route, started, release: () => release() };
}

describe('health', () => {
  test('/livez and /readyz are 200 with a migrated database', async () => {
    const http = await startTestServer(serverDeps());
    expect((await http.send('GET', '/livez')).body.data).toEqual({ status: 'ok' });
    expect((await http.send('GET', '/readyz')).status).toBe(200);
    await http.close();
  });

  test('a health check has the headers of every other response', async () => {
    const http = await startTestServer(serverDeps());
    const other = await http.send('GET', '/api/nothing', { key: null });
    const namesOf = ({ headers }: typeof other) => [...headers.keys()].toSorted();
    for (const path of ['/livez', '/readyz']) {
      const probe = await http.send('GET', path);
      expect(namesOf(probe)).toEqual(namesOf(other));
      for (const name of ['content-type', 'cache-control', 'content-security-policy', 'x-content-type-options']) {
        expect([name, probe.headers.get(name)]).toEqual([name, other.headers.get(name)]);
      }
      expect(probe.headers.get('x-request-id')).toMatch(/^req_[0-9A-Z]{26}$/);
    }
    const text = await http.registry.metrics();
    expect(text).toContain('meskot_http_requests_total{route="GET /livez",status="200"} 1');
    await http.close();
  });

  test('/readyz is 503 while migrations are missing, while the database is silent, and while draining', async () => {
    const pending = await startTestServer(serverDeps({ countPendingMigrations: async () => 2 }));
    expect((await pending.send('GET', '/readyz')).status).toBe(503);
    const silent = await startTestServer(serverDeps({ countPendingMigrations: () => new Promise(() => {}) }));
    expect((await silent.send('GET', '/readyz')).status).toBe(503);
    const draining = await startTestServer(serverDeps());
    const closed = draining.close({ delayMs: 500 });
    expect((await draining.send('GET', '/readyz')).status).toBe(503);
    expect((await draining.send('GET', '/livez')).status).toBe(200);
    await Promise.all([pending.close(), silent.close(), closed]);
  });
});

describe('an unavailable database', () => {
  test('a request is a 503 with Retry-After within 2 s, whether the database refuses connections, is silent or has no address', async () => {
    const sockets: Socket[] = [];
    const mute = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const mutePort = (mute.address() as { port: number }).port;
    for (const host of ['127.0.0.1:1', `127.0.0.1:${mutePort}`, 'no-such-host.invalid:5432']) {
      const url = `postgres://nobody@${host}/none`;
      const db = openDatabase({ url, poolMax: 2, applicationName: 'test' });
      const http = await startTestServer(testServerDeps(db, { routes }), KEY);
      const startedAt = performance.now();
      const response = await http.send('POST', '/api/items', {
        body: { id: 'mrc_x', name: 'x' },
        headers: { 'idempotency-key': 'away' },
      });
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      expect(response.status).toBe(503);
      expect(response.body.error.code).toBe('SERVICE_UNAVAILABLE');
      expect(response.headers.get('retry-after')).toBe('1');
      await http.close();
      await db.destroy();
    }
    for (const socket of sockets) socket.destroy();
    mute.close();
  });
});

describe('drain', () => {
  test('requests in flight complete, and new connections are rejected', async () => {
    const waiting = waitingRoute();
    const http = await startTestServer(serverDeps({ routes: [waiting.route] }));
    const inFlight = http.send('GET', '/api/waiting');
    await waiting.started;
    const closed = http.close();
    await expect(http.send('GET', '/livez')).rejects.toThrow('fetch failed');
    waiting.release();
    const releasedAt = performance.now();
    const response = await inFlight;
    await closed;
    expect(performance.now() - releasedAt).toBeLessThan(3_000);
    expect(response.status).toBe(200);
    expect(response.body.data).toEqual({ drained: true });
  });

  test('a request still in flight at the deadline is cut off', async () => {
    const waiting = waitingRoute();
    const http = await startTestServer(serverDeps({ routes: [waiting.route] }));
    const inFlight = expect(http.send('GET', '/api/waiting')).rejects.toThrow('fetch failed');
    await waiting.started;
    await http.close({ deadlineMs: 50 });
    await inFlight;
  });
});

test('a client that sends its headers too slowly is cut off', async () => {
  const http = await startTestServer(serverDeps({ timeouts: { headersMs: 300, requestMs: 300 } }));
  const text = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(http.url).port), '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost'));
    let received = '';
    socket.on('data', (chunk) => (received += chunk)).on('close', () => resolve(received));
  });
  expect(text).toContain('408');
  await http.close();
});

test('metrics label requests by pattern, never by the requested path', async () => {
  const registry = new Registry();
  const http = await startTestServer(serverDeps({ registry }), KEY);
  measurePool(registry, database.db, 'api');
  const metrics = await listenForMetrics(registry, { host: '127.0.0.1', port: 0, log: createLogger('silent', 'test') });
  await http.send('POST', '/api/items/planted-secret/echo');
  await http.send('GET', '/planted-secret');
  await database.db.knex().raw('SELECT 1');
  const text = await (await fetch(metrics.url ?? '')).text();
  expect(text).toContain('meskot_http_requests_total{route="POST /api/items/:sessionId/echo",status="200"} 1');
  expect(text).toContain('meskot_http_requests_total{route="GET (none)",status="404"} 1');
  expect(text).toMatch(/meskot_database_pool_wait_seconds_count\{pool="api"\} [1-9]/);
  expect(text).not.toContain('planted-secret');
  await metrics.close();
  await http.close();
});

test('metrics show two pools of one process, and those of other sources', async () => {
  const registry = new Registry();
  measurePool(registry, database.db, 'api');
  measurePool(registry, database.db, 'worker');
  const log = createLogger('silent', 'test');
  const readMore = async () => 'temporal_requests 7\n';
  const metrics = await listenForMetrics(registry, { host: '127.0.0.1', port: 0, log, readMore });
  const text = await (await fetch(metrics.url ?? '')).text();
  for (const pool of ['api', 'worker']) {
    expect(text).toContain(`meskot_database_pool_connections{pool="${pool}",state="pending"} 0`);
  }
  expect(text).toMatch(/\ntemporal_requests 7\n$/);
  await metrics.close();
});

test('a second process on the port for metrics logs a warning and runs without them', async () => {
  const warned: object[] = [];
  const log = { warn: (details: object) => void warned.push(details) };
  const first = await listenForMetrics(new Registry(), { host: '127.0.0.1', port: 0, log });
  const port = Number(new URL(first.url ?? '').port);
  const second = await listenForMetrics(new Registry(), { host: '127.0.0.1', port, log });
  expect(second.url).toBeNull();
  expect(warned).toEqual([{ host: '127.0.0.1', port }]);
  await second.close();
  expect((await fetch(first.url ?? '')).status).toBe(200);
  await first.close();
});

test('a plain Koa router gets its requests, and its errors become envelopes', async () => {
  const router = new Router();
  router.get('/checkout/:id', (ctx) => void (ctx.body = `page ${ctx['params']['id']}`));
  router.get('/boom', () => {
    throw new Error('planted-secret');
  });
  const http = await startTestServer(serverDeps({ routers: [router] }));
  expect((await http.send('GET', '/checkout/1')).text).toBe('page 1');
  const boom = await http.send('GET', '/boom');
  expect(boom.status).toBe(500);
  expect(boom.text).not.toContain('planted-secret');
  expect((await http.send('POST', '/checkout/1')).status).toBe(405);
  await http.close();
});
