import { request } from 'node:http';

import type { Operation } from './contract.ts';
import { pathWith, validBody, validQuery } from './samples.ts';
import { startWalk, type Walk } from './walk.ts';

/** Path segments as sent. */
const MALFORMED_PARTS = [
  '%00',
  'a%00',
  '%ff',
  '%zz',
  '%',
  '%2e%2e%2f',
  '..%2f..%2fetc',
  '%0d%0aX-Planted:1',
  '%ed%a0%80',
  '%f0%90',
  '%25%30%30',
  '%E2%80%AE',
  "'%20OR%201=1--",
  '__proto__',
  'constructor',
  'a'.repeat(3_000),
  '%61'.repeat(3_000),
];
/** Query strings that no route accepts. */
const MALFORMED_QUERIES = [
  '%00=1',
  '%ff=1',
  'x=%ff',
  '=',
  '=1',
  '[]=1',
  'a[b]=1',
  '__proto__=1',
  'constructor=1',
  '%zz',
  '&&a',
];
const OTHER_PATHS = [
  'GET /checkout/*',
  'GET /checkout/*/pay',
  'POST /checkout/*/pay',
  'POST /checkout/*/cancel',
  'GET /docs/*',
  'POST /api/providers/*/callback/*',
  'POST /api/providers/TELEBIRR/callback/*',
  'GET /*',
  'GET /api/*',
  'PUT /*',
];

type Raw = { method: string; path: string; headers?: Record<string, string>; body?: string };
type RawResponse = { status: number; headers: object; text: string };

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk('PATHS');
}, 180_000);
afterAll(() => walk.service.close(), 180_000);

/** Sends the path unchanged: fetch would normalize it. Operators' paths have a listener of their own. */
function sendRaw({ method, path, headers = {}, body }: Raw): Promise<RawResponse> {
  const { api } = walk.service;
  return new Promise((resolve, reject) => {
    const call = request(
      path.startsWith('/api/ops/') ? api.operatorsUrl : api.url,
      { method, path, headers },
      (received) => {
        let text = '';
        received.on('data', (piece) => (text += piece));
        received.on('end', () => resolve({ status: received.statusCode ?? 0, headers: received.headers, text }));
      },
    );
    call.on('error', reject).end(body);
  });
}

function sendTo(operation: Operation, path: string): Promise<RawResponse> {
  const body = operation.method === 'GET' ? undefined : JSON.stringify(validBody(operation));
  const headers = { 'x-api-key': walk.keyFor(operation), ...(body && { 'content-type': 'application/json' }) };
  return sendRaw({ method: operation.method, path, headers, ...(body && { body }) });
}

const isRejected = ({ status, headers }: RawResponse): boolean =>
  status >= 400 && status < 500 && !('x-planted' in headers);

test('a malformed segment in any path gets a 4xx', async () => {
  const found: string[] = [];
  for (const operation of walk.operations) {
    for (const name of operation.pathNames) {
      for (const part of MALFORMED_PARTS) {
        const response = await sendTo(
          operation,
          pathWith(operation, { ...walk.ids, [name]: part }) + validQuery(operation),
        );
        if (!isRejected(response)) found.push(`${operation.name} ${name}=${part.slice(0, 30)}: ${response.status}`);
      }
    }
  }
  expect(found).toEqual([]);
}, 180_000);

test('a malformed query gets a 400 from every route', async () => {
  const found: string[] = [];
  for (const operation of walk.operations) {
    for (const query of MALFORMED_QUERIES) {
      const path = `${pathWith(operation, walk.ids)}${validQuery(operation) || '?'}&${query}`;
      const { status } = await sendTo(operation, path);
      const isFile = operation.fileTypes.length > 0 && status === 415;
      if (status !== 400 && !isFile) found.push(`${operation.name} ${query}: ${status}`);
    }
  }
  expect(found).toEqual([]);
}, 180_000);

test('a malformed segment in the path of a page, a callback or no route gets a 4xx', async () => {
  const found: string[] = [];
  for (const [method = '', pattern = ''] of OTHER_PATHS.map((one) => one.split(' '))) {
    for (const part of MALFORMED_PARTS) {
      for (const query of ['', '?t=%ff', '?t=%00&lang=%zz', `?${'&'.repeat(1_000)}t=x`, `?t=${'x'.repeat(43)}`]) {
        const path = pattern.replaceAll('*', part) + query;
        const headers = { 'sec-fetch-site': 'same-origin', cookie: `meskot_checkout=${'x'.repeat(43)}` };
        const response = await sendRaw({ method, path, headers });
        const isRedirect = response.status === 303 && pattern.endsWith('/pay');
        if (!isRejected(response) && !isRedirect) found.push(`${method} ${path.slice(0, 80)}: ${response.status}`);
      }
    }
  }
  expect(found).toEqual([]);
}, 180_000);

test('malformed headers and methods get a 4xx from every layer', async () => {
  const found: string[] = [];
  const path = '/api/checkout/sessions';
  const body = JSON.stringify({ checkoutOrderNo: 'MALFORMED-1', amount: 20, currency: 'ETB' });
  const json = { 'x-api-key': walk.merchant.key, 'content-type': 'application/json' };
  const malformed: Record<string, Raw> = {
    'an Idempotency-Key of 300 characters': {
      method: 'POST',
      path,
      headers: { ...json, 'idempotency-key': 'x'.repeat(300) },
      body,
    },
    'an Idempotency-Key that is not ASCII': {
      method: 'POST',
      path,
      headers: { ...json, 'idempotency-key': 'é' },
      body,
    },
    'a body that is not UTF-8': { method: 'POST', path, headers: json, body: `{"checkoutOrderNo":"\xff` },
    'an unknown Content-Encoding': { method: 'POST', path, headers: { ...json, 'content-encoding': 'zstd, br' }, body },
    'an expectation': { method: 'POST', path, headers: { ...json, expect: 'the-moon' }, body },
    'a key of 10,000 characters': {
      method: 'GET',
      path: '/api/checkout/channels',
      headers: { 'x-api-key': 'sk_test_'.repeat(1_250) },
    },
    'a bearer of 10,000 characters': {
      method: 'GET',
      path: '/api/checkout/channels',
      headers: { authorization: `Bearer ${'x'.repeat(10_000)}` },
    },
    'headers of 20,000 bytes': {
      method: 'GET',
      path: '/api/checkout/channels',
      headers: { ...json, 'x-wide': 'x'.repeat(20_000) },
    },
    'a path of 12,000 characters': { method: 'GET', path: `/api/checkout/${'x/'.repeat(6_000)}` },
    TRACE: { method: 'TRACE', path: '/api/checkout/channels' },
    'an unknown method': { method: 'PROPFIND', path: '/api/checkout/channels', headers: json },
  };
  for (const [what, raw] of Object.entries(malformed)) {
    const response = await sendRaw(raw);
    if (!isRejected(response)) found.push(`${what}: ${response.status} ${response.text.slice(0, 100)}`);
  }
  expect(found).toEqual([]);
});
