import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';

import { z } from 'zod';

import { readRoute } from '../../src/http/route.ts';
import { createApiServer } from '../../src/http/server.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { itemRoutes } from './routes.ts';

const KEY = stubKey('mrc_A');
let database: TestDatabase;
let http: TestServer;
const logged: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const deps = testServerDeps(database.db, { routes: itemRoutes({ runs: 0 }) });
  const authenticateClientToken = async (sessionId: string, token: string) =>
    token === `token-of-${sessionId}`
      ? ({ kind: 'client', merchantId: 'mrc_A', environment: 'sandbox', sessionId } as const)
      : null;
  const log = createLogger('error', 'test', { destination: { write: (line) => void logged.push(line) } });
  http = await startTestServer({ ...deps, authenticateClientToken, log }, KEY);
});
afterAll(async () => {
  await http.close();
  await database.drop();
});

const echo = (body: unknown, headers = {}) => http.send('POST', '/api/items/i1/echo', { body, headers });

describe('answers', () => {
  test('a list has the envelope, its pagination and a request id', async () => {
    const answer = await http.send('GET', '/api/items?startDate=2026-01-31&status=OPEN');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      statusCode: 200,
      message: 'Items',
      data: [{ id: '1', name: 'one' }],
      pagination: { total: 1, page: 1, limit: 20, totalPages: 1, nextCursor: null },
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+03:00$/),
    });
    expect(Math.abs(Date.parse(answer.body.timestamp) - Date.now())).toBeLessThan(60_000);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9A-Z]{26}$/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test('the request id is never taken from outside', async () => {
    const answer = await http.send('GET', '/livez', { headers: { 'x-request-id': 'req_mine' } });
    expect(answer.headers.get('x-request-id')).not.toBe('req_mine');
  });

  test('fields that the schema does not declare are left out', async () => {
    const answer = await echo({ name: 'Abebe' });
    expect(answer.body.data).toEqual({ sessionId: 'i1', body: { name: 'Abebe' }, caller: 'key' });
  });

  test('data that contradicts its schema is a 500 that shows nothing and logs where', async () => {
    logged.length = 0;
    const answer = await http.send('GET', '/api/broken', { key: null });
    expect(answer.status).toBe(500);
    expect(answer.body.error.code).toBe('INTERNAL_ERROR');
    expect(answer.text).not.toContain('planted-secret');
    expect(logged.join()).toContain('id (invalid_type)');
    expect(logged.join()).not.toContain('planted-secret');
  });

  test('an error that nobody foresaw is a 500 without its text', async () => {
    const answer = await http.send('GET', '/api/failing', { key: null });
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('planted-secret');
    expect(answer.body).toMatchObject({
      statusCode: 500,
      data: null,
      requestId: answer.headers.get('x-request-id'),
      error: { code: 'INTERNAL_ERROR', details: [], docUrl: 'http://meskot.test/docs/errors#INTERNAL_ERROR' },
    });
  });
});

describe('who is asking', () => {
  test('a request without a key is refused before its input is looked at', async () => {
    const answer = await http.send('POST', '/api/items', { key: null, body: '{"broken' });
    expect(answer.status).toBe(401);
    expect(answer.body.error.code).toBe('AUTHENTICATION_REQUIRED');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('the key is taken from Authorization too', async () => {
    const answer = await http.send('POST', '/api/items/i1/echo', {
      key: null,
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(answer.status).toBe(200);
  });

  test('two different keys are refused', async () => {
    const answer = await echo({}, { authorization: 'Bearer sk_test_another' });
    expect(answer.status).toBe(401);
    expect(answer.body.error.code).toBe('INVALID_API_KEY');
  });

  test('beside x-api-key, a Bearer that is no key is left alone', async () => {
    expect((await echo({}, { authorization: 'Bearer portal-session' })).status).toBe(200);
  });

  test('a key without the scope is told which one it lacks', async () => {
    const answer = await http.send('POST', '/api/items', {
      key: stubKey('mrc_A', 'sandbox', ['checkout:read']),
      body: {},
    });
    expect(answer.status).toBe(403);
    expect(answer.body.error.code).toBe('INSUFFICIENT_SCOPE');
    expect(answer.body.message).toContain('checkout:write');
  });

  test('a client token opens its own session only', async () => {
    const token = (value: string) => ({ key: null, headers: { 'x-client-token': value } });
    expect((await http.send('POST', '/api/items/s1/echo', token('token-of-s1'))).body.data['caller']).toBe('client');
    expect((await http.send('POST', '/api/items/s2/echo', token('token-of-s1'))).status).toBe(401);
    expect((await http.send('GET', '/api/items', token('token-of-s1'))).status).toBe(401);
  });

  test('a token in the cookie counts only when the page itself asks', async () => {
    const cookie = (headers: object) => ({ key: null, headers: { cookie: 'meskot_checkout=token-of-s1', ...headers } });
    expect((await http.send('POST', '/api/items/s1/echo', cookie({}))).status).toBe(200);
    const evil = cookie({ origin: 'https://evil.example' });
    expect((await http.send('POST', '/api/items/s1/echo', evil)).status).toBe(401);
  });
});

describe('what is asked', () => {
  test('every wrong parameter is named with its value and what is allowed', async () => {
    const answer = await http.send('GET', '/api/items?startDate=2026-13-01&status=GONE&page=2&limit=1&limit=2');
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe('VALIDATION_ERROR');
    expect(answer.body.error.details).toEqual([
      { field: 'limit', issue: 'must be given once, got 2 values' },
      { field: 'startDate', issue: 'must be a date as YYYY-MM-DD, got "2026-13-01"' },
      { field: 'status', issue: 'must be one of OPEN, CLOSED, got "GONE"' },
      { field: 'page', issue: 'is not a query parameter of this route; there are startDate, status, limit' },
    ]);
    expect(answer.body.message).toContain('startDate must be a date as YYYY-MM-DD, got "2026-13-01"');
  });

  test('unknown fields of the body are refused by name', async () => {
    const answer = await echo({ nmae: 'x', merchantId: 'mrc_B' });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.map((detail: { field: string }) => detail.field)).toEqual(['nmae', 'merchantId']);
  });

  test('what is private is not repeated in an error', async () => {
    const answer = await echo({ customerPhone: '+251911223344' });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('911223344');
    expect(answer.body.message).toBe('customerPhone must be a phone number as 09…, got a text of 13 characters');
  });

  test('a body may be left out where all of it is optional', async () => {
    expect((await http.send('POST', '/api/items/i1/echo')).status).toBe(200);
    expect((await http.send('POST', '/api/items', { body: '' })).body.error.details).toHaveLength(2);
  });

  test('a route whose schema lets unknown fields pass is refused when the server is built', () => {
    const loose = readRoute({
      method: 'POST',
      path: '/loose',
      operationId: 'loose',
      tag: 'System',
      summary: '',
      auth: { by: 'nobody' },
      body: z.object({}),
      responses: {},
      handle: async () => ({ message: '', data: null }),
    });
    expect(() => createApiServer(testServerDeps(database.db, { routes: [loose] }))).toThrow('body must be a strict');
  });

  test.each([
    ['cut off', '{"name":"ab', 'INVALID_JSON'],
    ['empty text', '   ', 'INVALID_JSON'],
    ['with a trailing comma', '{"name":"ab",}', 'INVALID_JSON'],
    ['with NaN', '{"amount":NaN}', 'INVALID_JSON'],
    ['with a __proto__ key', '{"__proto__":{"admin":true}}', 'INVALID_JSON'],
    ['with a constructor key', '{"constructor":{"prototype":{"admin":true}}}', 'INVALID_JSON|VALIDATION_ERROR'],
    ['with a deep __proto__', '{"metadata":{"a":{"__proto__":{"admin":true}}}}', 'INVALID_JSON'],
    ['with NUL', '{"name":"a\\u0000b"}', 'INVALID_JSON'],
    ['with half a surrogate pair', '{"name":"a\\ud800b"}', 'INVALID_JSON'],
    ['with NUL in a key', '{"metadata":{"\\u0000":1}}', 'INVALID_JSON'],
    ['nested deeply', `{"metadata":${'{"a":'.repeat(50)}1${'}'.repeat(50)}}`, 'INVALID_JSON'],
    ['nested absurdly', '['.repeat(100_000), 'INVALID_JSON'],
    ['nested absurdly and closed', '['.repeat(100_000) + ']'.repeat(100_000), 'INVALID_JSON'],
    ['that is a list', '[]', 'VALIDATION_ERROR'],
    ['that is null', 'null', 'VALIDATION_ERROR'],
    ['that is a number', '1', 'VALIDATION_ERROR'],
    ['that is a text', '"name"', 'VALIDATION_ERROR'],
    ['with a number beyond all numbers', '{"amount":1e999}', 'VALIDATION_ERROR'],
    ['with a text for a number', '{"amount":"1"}', 'VALIDATION_ERROR'],
    ['with an object for a text', '{"name":{"toString":"x"}}', 'VALIDATION_ERROR'],
    [
      'with thousands of unknown fields',
      `{${Array.from({ length: 9_000 }, (_, i) => `"f${i}":1`)}}`,
      'VALIDATION_ERROR',
    ],
  ])('a body %s is a 400 with a code and a sentence', async (_, body, code) => {
    const answer = await echo(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toMatch(new RegExp(`^(${code})$`));
    expect(answer.body.message.length).toBeGreaterThan(10);
    expect(answer.text.length).toBeLessThan(20_000);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test('a body that is not JSON is a 415 that says what it is', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16']) {
      const answer = await echo('{}', { 'content-type': type });
      expect(answer.status).toBe(415);
      expect(answer.body.message).toContain(type);
    }
    expect((await echo('{}', { 'content-type': 'application/json;charset=UTF-8' })).status).toBe(200);
  });

  test('a body above 256 KiB is a 413, also when it is small only while compressed', async () => {
    const huge = JSON.stringify({ name: 'x'.repeat(256 * 1024) });
    expect((await echo(huge)).body.error.code).toBe('PAYLOAD_TOO_LARGE');
    const bomb = gzipSync('x'.repeat(50 * 1024 * 1024));
    expect((await echo(bomb, { 'content-encoding': 'gzip' })).body.error.code).toBe('PAYLOAD_TOO_LARGE');
    expect((await echo('not gzip', { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await echo('{}', { 'content-encoding': 'rot13' })).status).toBe(415);
  });

  test('an id that no database can hold is a 404', async () => {
    expect((await http.send('POST', '/api/items/%00/echo')).status).toBe(404);
    expect((await http.send('POST', '/api/items/%zz/echo')).status).toBeLessThan(500);
    expect((await http.send('GET', '/api/items?startDate=%00')).status).toBe(400);
  });
});

describe('what is not there', () => {
  test('an unknown path is a 404 with the envelope', async () => {
    const answer = await http.send('GET', '/api/nothing', { key: null });
    expect(answer.status).toBe(404);
    expect(answer.body.error.code).toBe('NOT_FOUND');
  });

  test('the wrong method is a 405 that lists the right ones', async () => {
    const answer = await http.send('DELETE', '/api/items', { key: null });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
    expect(answer.body.error.code).toBe('METHOD_NOT_ALLOWED');
  });

  test('another spelling of a path is another path', async () => {
    expect((await http.send('GET', '/API/items')).status).toBe(404);
    expect((await http.send('GET', '/api/items/')).status).toBe(404);
    expect((await http.send('GET', '//api/items')).status).toBe(404);
  });
});

test('a request that is not HTTP is a 400 and leaves the server standing', async () => {
  const { port } = new URL(http.url);
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write('\x16\x03\x01 nonsense\r\n\r\n'));
    let text = '';
    socket.on('data', (chunk) => (text += chunk)).on('close', () => resolve(text));
  });
  expect(answer).toContain('400');
  expect((await http.send('GET', '/livez')).status).toBe(200);
});
