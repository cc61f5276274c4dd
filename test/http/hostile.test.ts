import { request } from 'node:http';

import { z } from 'zod';

import { readRoute } from '../../src/http/route.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestServer, startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { itemRoutes } from './routes.ts';

const KEY = stubKey('mrc_A');
let database: TestDatabase;
let http: TestServer;

beforeAll(async () => {
  database = await createTestDatabase();
  http = await startTestServer(testServerDeps(database.db, { routes: itemRoutes({ runs: 0 }) }), KEY);
});
afterAll(async () => {
  await http.close();
  await database.drop();
});

const echo = (body: unknown, headers: Record<string, string>) =>
  http.send('POST', '/api/items/i1/echo', { body, headers });

/** The status of a request whose headers fetch would not send as they are. */
function statusOf(path: string, headers: Record<string, string>, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(http.url + path, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.on('error', reject).end();
  });
}

test('a header of thousands of blanks does not delay other requests', async () => {
  const blanks = ' '.repeat(15_000);
  const before = process.cpuUsage();
  const wide = [`application/json${blanks}x`, `application/json;${blanks}charset=utf-8`, `a${blanks}b`];
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, i) => echo('{}', { 'content-type': wide[i % wide.length] ?? '' })),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([415]));
  for (const name of ['authorization', 'cookie', 'x-client-token', 'idempotency-key', 'if-none-match', 'origin']) {
    for (const value of [`Bearer${blanks}x y`, `;${blanks}meskot_checkout`, '; '.repeat(7_000)]) {
      const status = await statusOf('/api/items/i1/echo', { 'x-api-key': KEY, [name]: value }, 'POST');
      expect([name, status]).toEqual([name, 200]);
    }
  }
  // Quadratic backtracking over these headers would take longer.
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});

test('JSON in UTF-8 is accepted in every spelling of its content type', async () => {
  for (const type of ['application/json ;charset=utf-8', 'Application/JSON; charset="UTF-8";', 'application/json;']) {
    expect([type, (await echo({ name: 'Abebe' }, { 'content-type': type })).body.data.body]).toEqual([
      type,
      { name: 'Abebe' },
    ]);
  }
  for (const type of ['application / json', 'application/json; charset=utf-8; version=1', 'application/jsonp']) {
    expect([type, (await echo({ name: 'Abebe' }, { 'content-type': type })).status]).toEqual([type, 415]);
  }
});

test.each([
  ['body.name', z.string().regex(/x/)],
  ['body.name', z.string().max(10).regex(/x/)],
  ['body.name', z.string().regex(/x/).max(10, { abort: true })],
  ['body.name', z.email().max(10).optional()],
  ['body.name', z.iso.date().nullable()],
  ['body.name', z.string().transform(Number)],
  ['body.name', z.array(z.enum(['a']))],
  ['body.name.element', z.array(z.string()).max(1)],
  ['body.name.valueType', z.record(z.string().max(10), z.string())],
])('building the server fails for a route whose %s has no limit', (field, name) => {
  const route = readRoute('POST /wide', {
    operationId: 'wide',
    tag: 'System',
    summary: '',
    auth: { by: 'public' },
    body: z.strictObject({ name }),
    responses: {},
    handle: async () => ({ message: '', data: null }),
  });
  const build = () => createTestServer(testServerDeps(database.db, { routes: [route] }));
  expect(build).toThrow(new RegExp(`^wide: ${field}(?:[.](?:innerType|piped))? must have a length limit`));
});
