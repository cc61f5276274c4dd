import { createLimits, networkOf } from '../../src/http/limits.ts';
import { AppError } from '../../src/lib/errors.ts';
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
const LIST = '/api/items?startDate=2026-01-31&status=OPEN';
const serverDeps = (changes: Partial<Parameters<typeof testServerDeps>[1]> = {}) =>
  testServerDeps(database.db, { routes, ...changes });

describe('rate limits', () => {
  const settings = {
    sandboxPerSecond: 2,
    livePerSecond: 50,
    listsPerSecond: 3,
    pagesPerSecond: 0,
    failedAuthPerMinute: 3,
  };

  test('a burst of twice the rate is served, and the next request is a 429 with Retry-After', async () => {
    const http = await startTestServer(serverDeps({ limits: createLimits(settings) }), KEY);
    const responses = [];
    for (let i = 0; i < 5; i += 1) responses.push(await http.send('POST', '/api/items/i1/echo'));
    expect(responses.map((response) => response.status)).toEqual([200, 200, 200, 200, 429]);
    expect(responses[0]?.headers.get('ratelimit-limit')).toBe('4');
    expect(responses[0]?.headers.get('ratelimit-remaining')).toBe('3');
    expect(responses[4]?.body.error.code).toBe('RATE_LIMITED');
    expect(responses[4]?.body.message).toMatch(/^At most 4 requests with one key are allowed in 2 s\. Repeat/);
    expect(Number(responses[4]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await http.send('POST', '/api/items/i1/echo', { key: stubKey('mrc_B') })).status).toBe(200);
    expect((await http.send('GET', LIST)).status).toBe(200);
    await http.close();
  });

  test('wrong keys are limited by address, and a valid key still works', async () => {
    const http = await startTestServer(serverDeps({ limits: createLimits(settings) }), KEY);
    const wrong = () => http.send('GET', LIST, { key: 'sk_test_wrong' });
    const statuses = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await wrong()).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    const spoofed = await http.send('GET', LIST, { key: 'sk_test_wrong', headers: { 'x-forwarded-for': '9.9.9.9' } });
    expect(spoofed.status).toBe(429);
    expect(spoofed.body.message).toMatch(/^At most 3 requests with a wrong key or token from one address are allowed/);
    expect((await http.send('GET', LIST)).status).toBe(200);
    await http.close();
  });

  test('beyond the limit a wrong key or token costs no query', async () => {
    let queries = 0;
    const reject = async (): Promise<never> => {
      queries += 1;
      throw new AppError('INVALID_API_KEY', 'This is not a valid API key.');
    };
    const http = await startTestServer(
      serverDeps({ limits: createLimits(settings), authenticateKey: reject, authenticateClientToken: reject }),
    );
    const echo = '/api/items/i1/echo';
    for (let i = 0; i < 5; i += 1) await http.send('GET', LIST, { key: 'sk_test_wrong' });
    for (let i = 0; i < 5; i += 1) {
      const response = await http.send('POST', echo, { key: null, headers: { 'x-client-token': 'wrong' } });
      expect([response.status, Number(response.headers.get('retry-after')) > 0]).toEqual([429, true]);
    }
    expect(queries).toBe(settings.failedAuthPerMinute);
    await http.close();
  });

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:2::/64'],
    ['::1', '::2', '0:0:0:0::/64'],
    ['1:2::', '1:2:0:0:5::', '1:2:0:0::/64'],
    ['::ffff:10.0.0.1', '10.0.0.1', '10.0.0.1'],
  ])('the addresses %s and %s are limited as one network', (one, other, network) => {
    expect([networkOf(one), networkOf(other)]).toEqual([network, network]);
    expect(networkOf('2001:db8:1:3::1')).not.toBe(network);
  });

  test('behind a proxy requests count for the address that the proxy saw', async () => {
    const http = await startTestServer(serverDeps({ limits: createLimits(settings), trustProxy: 1 }));
    const from = (forwardedFor: string) =>
      http.send('GET', LIST, { key: 'sk_test_wrong', headers: { 'x-forwarded-for': forwardedFor } });
    for (const spoofed of ['1.1.1.1', '2.2.2.2', '3.3.3.3']) await from(`${spoofed}, 7.7.7.7`);
    expect((await from('4.4.4.4, 7.7.7.7')).status).toBe(429);
    expect((await from('4.4.4.4, 8.8.8.8')).status).toBe(401);
    await http.close();
  });
});
