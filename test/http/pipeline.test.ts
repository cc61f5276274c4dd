import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';

import { z } from 'zod';

import { readRoute } from '../../src/http/route.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestServer, startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
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

describe('responses', () => {
  test('the response of a list has the envelope, its pagination and a request id', async () => {
    const response = await http.send('GET', '/api/items?startDate=2026-01-31&status=OPEN');
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      statusCode: 200,
      message: 'Items',
      data: [{ id: '1', name: 'one' }],
      pagination: { total: 1, page: 1, limit: 20, totalPages: 1, nextCursor: null },
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+03:00$/),
    });
    expect(Math.abs(Date.parse(response.body.timestamp) - Date.now())).toBeLessThan(60_000);
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9A-Z]{26}$/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test('a request id that the caller sends is ignored', async () => {
    const response = await http.send('GET', '/livez', { headers: { 'x-request-id': 'req_mine' } });
    expect(response.headers.get('x-request-id')).not.toBe('req_mine');
  });

  test('fields of a result that the schema does not declare are left out of the response', async () => {
    const response = await echo({ name: 'Abebe' });
    expect(response.body.data).toEqual({ sessionId: 'i1', body: { name: 'Abebe' }, caller: 'key' });
  });

  test('a result that contradicts its schema is a 500 without its data, and the log names the field', async () => {
    logged.length = 0;
    const response = await http.send('GET', '/api/broken', { key: null });
    expect(response.status).toBe(500);
    expect(response.body.error.code).toBe('INTERNAL_ERROR');
    expect(response.text).not.toContain('planted-secret');
    expect(logged.join()).toContain('id (invalid_type)');
    expect(logged.join()).not.toContain('planted-secret');
  });

  test('an unexpected error is a 500 without its text', async () => {
    const response = await http.send('GET', '/api/failing', { key: null });
    expect(response.status).toBe(500);
    expect(response.text).not.toContain('planted-secret');
    expect(response.body).toMatchObject({
      statusCode: 500,
      data: null,
      requestId: response.headers.get('x-request-id'),
      error: { code: 'INTERNAL_ERROR', details: [], docUrl: 'http://meskot.test/docs/errors#INTERNAL_ERROR' },
    });
  });
});

describe('authentication', () => {
  test('a request without a key is a 401 before its body is parsed', async () => {
    const response = await http.send('POST', '/api/items', { key: null, body: '{"broken' });
    expect(response.status).toBe(401);
    expect(response.body.error.code).toBe('AUTHENTICATION_REQUIRED');
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('a key in Authorization: Bearer is accepted', async () => {
    const response = await http.send('POST', '/api/items/i1/echo', {
      key: null,
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(response.status).toBe(200);
  });

  test('two different keys in one request are a 401', async () => {
    const response = await echo({}, { authorization: 'Bearer sk_test_another' });
    expect(response.status).toBe(401);
    expect(response.body.error.code).toBe('INVALID_API_KEY');
  });

  test('a Bearer token that is no key is ignored beside x-api-key', async () => {
    expect((await echo({}, { authorization: 'Bearer portal-session' })).status).toBe(200);
  });

  test('a key without the scope is a 403 that names the missing scope', async () => {
    const response = await http.send('POST', '/api/items', {
      key: stubKey('mrc_A', 'sandbox', ['checkout:read']),
      body: {},
    });
    expect(response.status).toBe(403);
    expect(response.body.error.code).toBe('INSUFFICIENT_SCOPE');
    expect(response.body.message).toContain('checkout:write');
  });

  test('a client token is accepted for its own session only', async () => {
    const token = (value: string) => ({ key: null, headers: { 'x-client-token': value } });
    expect((await http.send('POST', '/api/items/s1/echo', token('token-of-s1'))).body.data['caller']).toBe('client');
    expect((await http.send('POST', '/api/items/s2/echo', token('token-of-s1'))).status).toBe(401);
    expect((await http.send('GET', '/api/items', token('token-of-s1'))).status).toBe(401);
  });

  test('a client token in the cookie is accepted from our own page only', async () => {
    const cookie = (headers: object) => ({ key: null, headers: { cookie: 'meskot_checkout=token-of-s1', ...headers } });
    expect((await http.send('POST', '/api/items/s1/echo', cookie({}))).status).toBe(200);
    const evil = cookie({ origin: 'https://evil.example' });
    expect((await http.send('POST', '/api/items/s1/echo', evil)).status).toBe(401);
  });
});

describe('input', () => {
  test('a request with several wrong parameters is a 400 that names each, its value and what is allowed', async () => {
    const response = await http.send('GET', '/api/items?startDate=2026-13-01&status=GONE&page=2&limit=1&limit=2');
    expect(response.status).toBe(400);
    expect(response.body.error.code).toBe('VALIDATION_ERROR');
    expect(response.body.error.details).toEqual([
      { field: 'limit', issue: 'must be given once, got 2 values', code: 'given_twice' },
      { field: 'startDate', issue: 'must be a date as YYYY-MM-DD, got "2026-13-01"', code: 'not_a_day' },
      {
        field: 'status',
        issue: 'must be one of OPEN, CLOSED, got "GONE"',
        code: 'not_an_option',
        params: { allowed: 'OPEN, CLOSED' },
      },
      {
        field: 'page',
        issue: 'is not a query parameter of this route; there are startDate, status, limit',
        code: 'unknown_field',
      },
    ]);
    expect(response.body.message).toContain('startDate must be a date as YYYY-MM-DD, got "2026-13-01"');
  });

  test('a body with unknown fields is a 400 that names them', async () => {
    const response = await echo({ nmae: 'x', merchantId: 'mrc_B' });
    expect(response.status).toBe(400);
    expect(response.body.error.details.map((detail: { field: string }) => detail.field)).toEqual([
      'nmae',
      'merchantId',
    ]);
  });

  test('an error does not repeat the value of a private field', async () => {
    const response = await echo({ customerPhone: '+251911223344' });
    expect(response.status).toBe(400);
    expect(response.text).not.toContain('911223344');
    expect(response.body.message).toBe('customerPhone must be a phone number as 09…, got a text of 13 characters');
  });

  test('a request may leave out a body whose fields are all optional', async () => {
    expect((await http.send('POST', '/api/items/i1/echo')).status).toBe(200);
    expect((await http.send('POST', '/api/items', { body: '' })).body.error.details).toHaveLength(2);
  });

  test('building the server fails for a route whose schema accepts unknown fields', () => {
    const loose = readRoute('POST /loose', {
      operationId: 'loose',
      tag: 'System',
      summary: '',
      auth: { by: 'public' },
      body: z.object({}),
      responses: {},
      handle: async () => ({ message: '', data: null }),
    });
    expect(() => createTestServer(testServerDeps(database.db, { routes: [loose] }))).toThrow('body must be a strict');
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
  ])('a request body %s gets a 400 with a code and a message', async (_, body, code) => {
    const response = await echo(body);
    expect(response.status).toBe(400);
    expect(response.body.error.code).toMatch(new RegExp(`^(${code})$`));
    expect(response.body.message.length).toBeGreaterThan(10);
    expect(response.text.length).toBeLessThan(20_000);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test('a body of another content type is a 415 that names the type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16']) {
      const response = await echo('{}', { 'content-type': type });
      expect(response.status).toBe(415);
      expect(response.body.message).toContain(type);
    }
    expect((await echo('{}', { 'content-type': 'application/json;charset=UTF-8' })).status).toBe(200);
  });

  test('a body above 256 KiB is a 413, also when it is smaller compressed', async () => {
    const huge = JSON.stringify({ name: 'x'.repeat(256 * 1024) });
    expect((await echo(huge)).body.error.code).toBe('PAYLOAD_TOO_LARGE');
    const bomb = gzipSync('x'.repeat(50 * 1024 * 1024));
    expect((await echo(bomb, { 'content-encoding': 'gzip' })).body.error.code).toBe('PAYLOAD_TOO_LARGE');
    expect((await echo('not gzip', { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await echo('{}', { 'content-encoding': 'rot13' })).status).toBe(415);
  });

  test('an id in the path that PostgreSQL cannot store is a 404', async () => {
    expect((await http.send('POST', '/api/items/%00/echo')).status).toBe(404);
    expect((await http.send('POST', '/api/items/%zz/echo')).status).toBeLessThan(500);
    expect((await http.send('GET', '/api/items?startDate=%00')).status).toBe(400);
  });
});

describe('unknown paths and methods', () => {
  test('an unknown path is a 404 with the envelope', async () => {
    const response = await http.send('GET', '/api/nothing', { key: null });
    expect(response.status).toBe(404);
    expect(response.body.error.code).toBe('NOT_FOUND');
  });

  test('a wrong method is a 405 whose Allow lists the right ones', async () => {
    const response = await http.send('DELETE', '/api/items', { key: null });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
    expect(response.body.error.code).toBe('METHOD_NOT_ALLOWED');
  });

  test('a path in another case, or with another slash, is a 404', async () => {
    expect((await http.send('GET', '/API/items')).status).toBe(404);
    expect((await http.send('GET', '/api/items/')).status).toBe(404);
    expect((await http.send('GET', '//api/items')).status).toBe(404);
  });
});

test('a request that is not HTTP is a 400, and the server keeps serving', async () => {
  const { port } = new URL(http.url);
  const response = await new Promise<string>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write('\x16\x03\x01 nonsense\r\n\r\n'));
    let text = '';
    socket.on('data', (chunk) => (text += chunk)).on('close', () => resolve(text));
  });
  expect(response).toContain('400');
  expect((await http.send('GET', '/livez')).status).toBe(200);
});
