import { request } from 'node:http';

import { createMerchantWithEverything, type Merchant } from './belongings.ts';
import { readOperations, type Operation } from './contract.ts';
import { pathWith, validBody, validQuery } from './samples.ts';
import { startWalls, type Walls } from './world.ts';

/** Parts of a path as they come over the line. */
const ODD_PARTS = [
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
/** Queries that no route has. */
const ODD_QUERIES = [
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

let walls: Walls;
let merchant: Merchant;
let operatorKey: string;
let operations: Operation[];

beforeAll(async () => {
  walls = await startWalls();
  merchant = await createMerchantWithEverything(walls, 'PATHS');
  operatorKey = await walls.newOperatorKey();
  operations = await readOperations(walls);
}, 60_000);
afterAll(() => walls.close(), 60_000);

/** Sends the path as it is: fetch would put it right first. */
function sendRaw({ method, path, headers = {}, body }: Raw): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const call = request(walls.api.url, { method, path, headers }, (answer) => {
      let text = '';
      answer.on('data', (piece) => (text += piece));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    call.on('error', reject).end(body);
  });
}

function sendTo(operation: Operation, path: string): Promise<RawResponse> {
  const key = operation.by === 'operator' ? operatorKey : merchant.key;
  const body = operation.method === 'GET' ? undefined : JSON.stringify(validBody(operation));
  const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) };
  return sendRaw({ method: operation.method, path, headers, ...(body && { body }) });
}

const isRejected = ({ status, headers }: RawResponse): boolean =>
  status >= 400 && status < 500 && !('x-planted' in headers);

test('no odd part of any path is more than a 4xx', async () => {
  const found: string[] = [];
  for (const operation of operations) {
    const ids = Object.fromEntries(Object.entries(merchant.ids).map(([name, [id = '']]) => [name, id]));
    for (const name of operation.pathNames) {
      for (const part of ODD_PARTS) {
        const answer = await sendTo(operation, pathWith(operation, { ...ids, [name]: part }) + validQuery(operation));
        if (!isRejected(answer)) found.push(`${operation.name} ${name}=${part.slice(0, 30)}: ${answer.status}`);
      }
    }
  }
  expect(found).toEqual([]);
}, 60_000);

test('no odd query of any route is more than a 400', async () => {
  const found: string[] = [];
  for (const operation of operations) {
    const ids = Object.fromEntries(Object.entries(merchant.ids).map(([name, [id = '']]) => [name, id]));
    for (const query of ODD_QUERIES) {
      const path = `${pathWith(operation, ids)}${validQuery(operation) || '?'}&${query}`;
      const { status } = await sendTo(operation, path);
      const isFile = operation.fileTypes.length > 0 && status === 415;
      if (status !== 400 && !isFile) found.push(`${operation.name} ${query}: ${status}`);
    }
  }
  expect(found).toEqual([]);
}, 60_000);

test('no odd part of the path of a page, a callback or nothing is more than a 4xx', async () => {
  const found: string[] = [];
  for (const [method = '', pattern = ''] of OTHER_PATHS.map((one) => one.split(' '))) {
    for (const part of ODD_PARTS) {
      for (const query of ['', '?t=%ff', '?t=%00&lang=%zz', `?${'&'.repeat(1_000)}t=x`, `?t=${'x'.repeat(43)}`]) {
        const path = pattern.replaceAll('*', part) + query;
        const headers = { 'sec-fetch-site': 'same-origin', cookie: `meskot_checkout=${'x'.repeat(43)}` };
        const answer = await sendRaw({ method, path, headers });
        const isRedirect = answer.status === 303 && pattern.endsWith('/pay');
        if (!isRejected(answer) && !isRedirect) found.push(`${method} ${path.slice(0, 80)}: ${answer.status}`);
      }
    }
  }
  expect(found).toEqual([]);
}, 60_000);

test('odd headers and methods are refused by every layer without a 5xx', async () => {
  const found: string[] = [];
  const path = '/api/checkout/sessions';
  const body = JSON.stringify({ checkoutOrderNo: 'ODD-1', amount: 20, currency: 'ETB' });
  const json = { 'x-api-key': merchant.key, 'content-type': 'application/json' };
  const odd: Record<string, Raw> = {
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
  for (const [what, raw] of Object.entries(odd)) {
    const answer = await sendRaw(raw);
    if (!isRejected(answer)) found.push(`${what}: ${answer.status} ${answer.text.slice(0, 100)}`);
  }
  expect(found).toEqual([]);
});
