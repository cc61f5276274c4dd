import { request } from 'node:http';
import { text } from 'node:stream/consumers';

import { z } from 'zod';

import { createLimits } from '../../src/http/limits.ts';
import { readRoute } from '../../src/http/route.ts';
import { rows } from '../../src/lib/db.ts';
import { isInRange } from '../../src/lib/ip-range.ts';
import { addPerson, openBrowser, PASSWORD, startPortalService } from '../portal/portal.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NO_LIMITS, startTestServer, type TestServer, testServerDeps } from '../support/http.ts';

const echo = readRoute('GET /api/address', {
  operationId: 'echoAddress',
  tag: 'System',
  summary: 'The address of the caller',
  auth: { by: 'public' },
  responses: { 200: z.string() },
  handle: async ({ address }) => ({ message: 'Address', data: address }),
});

let database: TestDatabase;
/** Servers behind 0, 1 and 2 proxies. */
let servers: TestServer[];

beforeAll(async () => {
  database = await createTestDatabase();
  const limits = createLimits({ ...NO_LIMITS, sandboxPerSecond: 500 });
  servers = await Promise.all(
    [0, 1, 2].map((trustProxy) => startTestServer(testServerDeps(database.db, { routes: [echo], trustProxy, limits }))),
  );
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await database.drop();
});

/** With the header once for each value, as no client of browsers sends it. */
async function addressOf(proxies: number, ...forwardedFor: string[]): Promise<string> {
  const url = `${servers[proxies]?.url}/api/address`;
  const headers = forwardedFor.length > 0 ? { 'X-Forwarded-For': forwardedFor } : {};
  const response = await new Promise<AsyncIterable<Buffer>>((resolve, reject) => {
    request(url, { headers }, resolve).on('error', reject).end();
  });
  return (JSON.parse(await text(response)) as { data: string }).data;
}

describe('the address of the client', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:4711', '203.0.113.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['2001:0DB8:0:0::0001', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:4711', '203.0.113.7'],
    [' 203.0.113.7 , ', '203.0.113.7'],
    ['unknown', 'unknown'],
    ['_hidden', 'unknown'],
    ['203.0.113.7:port', 'unknown'],
    ['203.0.113', 'unknown'],
    ['3405803783', 'unknown'],
    ['[2001:db8::1', 'unknown'],
    ['<script>', 'unknown'],
  ])('behind a proxy that writes "%s" is %s', async (written, address) => {
    expect(await addressOf(1, written)).toBe(address);
    expect(await addressOf(2, `${written}, 10.0.0.9:80`)).toBe(address);
  });

  test('is counted from the proxies, so that what the client has sent in front makes no difference', async () => {
    for (const claimed of ['9.9.9.9', 'unknown', '[::1]:1', ',,,', '10.0.0.1, 10.0.0.2, 10.0.0.3', '\t']) {
      expect(await addressOf(1, `${claimed}, 203.0.113.7:4711`)).toBe('203.0.113.7');
      expect(await addressOf(1, claimed, '203.0.113.7:4711')).toBe('203.0.113.7');
      expect(await addressOf(2, `${claimed}, 203.0.113.7`, '10.0.0.9')).toBe('203.0.113.7');
      expect(await addressOf(2, claimed, '203.0.113.7, 10.0.0.9')).toBe('203.0.113.7');
    }
  });

  test('is that of the connection without a proxy or without the header', async () => {
    expect(await addressOf(0, '203.0.113.7')).toBe('127.0.0.1');
    expect(await addressOf(0)).toBe('127.0.0.1');
    expect(await addressOf(1)).toBe('127.0.0.1');
    expect(await addressOf(2, ' , ')).toBe('127.0.0.1');
  });

  test('is the outermost one that there is, where a request has passed fewer proxies', async () => {
    expect(await addressOf(2, '203.0.113.7')).toBe('203.0.113.7');
  });

  test('is in the ranges of both its forms, and in none while it is unknown', () => {
    expect(isInRange('203.0.113.7', '203.0.113.0/24')).toBe(true);
    expect(isInRange('203.0.113.7', '::ffff:203.0.113.0/120')).toBe(true);
    expect(isInRange('203.0.113.7', '2001:db8::/32')).toBe(false);
    expect(isInRange('unknown', '0.0.0.0/0')).toBe(false);
    expect(isInRange('3405803783', '203.0.113.0/24')).toBe(false);
  });
});

test('a client with another port each time is limited as one, and its session has the address alone', async () => {
  const service = await startPortalService({ RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '3', TRUSTED_PROXY_COUNT: '1' });
  const email = await addPerson(service.db, await service.newMerchant(), 'owner');
  const signIn = (forwardedFor: string, who: string, password: string) =>
    openBrowser(service.url).post('/sign-in', { email: who, password }, { 'x-forwarded-for': forwardedFor });
  expect((await signIn('9.9.9.9, [2001:db8::1]:4711', email, PASSWORD)).status).toBe(303);
  const [session] = await rows<{ address: string }>(service.db, 'SELECT address FROM user_session', {});
  expect(session?.address).toBe('2001:db8::1');
  const statuses = [];
  for (const port of [1, 2, 3, 4]) {
    statuses.push((await signIn(`9.9.9.${port}, 192.0.2.1:${port}`, `a${port}@x.example`, 'no')).status);
  }
  expect(statuses).toEqual([401, 401, 401, 429]);
  await service.close();
});
