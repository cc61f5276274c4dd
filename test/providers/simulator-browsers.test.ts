import { request } from 'node:http';

import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { anOrder, connectAdapters } from './sandbox.ts';

let simulator: TestSimulator;
let adapters: ReturnType<typeof connectAdapters>;
beforeAll(async () => {
  simulator = await startTestSimulator({ simulatorPublicUrl: 'https://pay.example.et' });
  adapters = connectAdapters(simulator.url, { simulatorPublicUrl: simulator.url });
});
afterAll(async () => {
  await adapters.close();
  await simulator.close();
});

type Sent = { method?: string; path: string; headers?: Record<string, string>; body?: string };

/** Sends headers as they are given, Host and Origin too. */
function send({ method = 'POST', path, headers = {}, body }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${simulator.url}${path}`, { method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const advance = (headers: Record<string, string>) =>
  send({ path: '/admin/clock', headers: { ...JSON_TYPE, ...headers }, body: '{"advanceMs":1000}' });
const port = () => new URL(simulator.url).port;

describe("the simulator's admin API", () => {
  test.each([
    ['a page of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }],
    ['an older browser', { origin: 'https://evil.example' }],
    ['a page that hides where it is from', { origin: 'null' }],
  ])('rejects requests from %s', async (_what, headers) => {
    const before = Date.parse((await simulator.journal()).now);
    expect(await advance(headers)).toBe(403);
    expect(await send({ path: '/admin/reset', headers: { ...JSON_TYPE, ...headers }, body: '{}' })).toBe(403);
    expect(await send({ path: '/ADMIN/reset', headers: { ...JSON_TYPE, ...headers }, body: '{}' })).toBe(403);
    expect(await send({ method: 'DELETE', path: '/admin/faults', headers })).toBe(403);
    expect(await send({ method: 'GET', path: '/admin/journal', headers })).toBe(403);
    expect(Date.parse((await simulator.journal()).now) - before).toBeLessThan(900);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'rejects a body of the type "%s", which a form can send',
    async (type) => {
      const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
      expect(await send({ path: '/admin/clock', headers, body: '{"advanceMs":1000}' })).toBe(415);
      expect(await send({ path: '/admin/reset', headers, body: '' })).toBe(415);
    },
  );

  test('accepts only names of this machine as host', async () => {
    for (const host of [
      'evil.example',
      'pay.example.et',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      '10.0.0.7',
    ]) {
      const headers = { host: `${host}:${port()}`, origin: `http://${host}:${port()}` };
      expect(await advance(headers)).toBe(403);
      expect(await send({ method: 'GET', path: '/admin/journal', headers })).toBe(403);
      expect(await send({ method: 'GET', path: '/', headers })).toBe(403);
    }
    for (const host of ['localhost', '127.0.0.1', 'meskot.localhost', '[::1]']) {
      const own = { host: `${host}:${port()}` };
      expect(await advance(own)).toBe(200);
      expect(await advance({ ...own, origin: `http://${host}:${port()}`, 'sec-fetch-site': 'same-origin' })).toBe(200);
    }
  });
});

describe("telebirr's pay page", () => {
  async function newOrder() {
    const order = anOrder('http://127.0.0.1:1/', { phone: '251911000004' });
    const made = await adapters.adapter('TELEBIRR').initiate(order);
    if (made.kind !== 'accepted' || !made.redirectUrl) throw new Error(`The order was not accepted: ${made.kind}`);
    const page = new URL(made.redirectUrl);
    const path = page.pathname.replace('paygate', `${made.providerReference}/decision`);
    const decide = (headers: Record<string, string>) =>
      send({
        path,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: 'decision=pay',
      });
    const isPaid = async () => (await simulator.orderOf(order.orderId))?.paid;
    return { page, decide, isPaid };
  }

  test('rejects a payment decision from another site or through a rebound name', async () => {
    const { page, decide, isPaid } = await newOrder();
    for (const headers of [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { host: `evil.example:${port()}`, origin: `http://evil.example:${port()}` },
    ]) {
      expect(await decide(headers)).toBe(403);
    }
    const rebound = { host: `evil.example:${port()}` };
    expect(await send({ method: 'GET', path: page.pathname + page.search, headers: rebound })).toBe(403);
    expect(await isPaid()).toBe(false);
  });

  test.each([
    ['this machine', () => ({ origin: simulator.url, 'sec-fetch-site': 'same-origin' })],
    ['a proxy under the public name', () => ({ host: 'pay.example.et', origin: 'https://pay.example.et' })],
    ['a proxy that keeps our name', () => ({ host: 'simulator:4002', 'sec-fetch-site': 'same-origin' })],
    ['no browser', () => ({})],
  ])('accepts a payment decision of its own page through %s', async (_what, headersOf) => {
    const { page, decide, isPaid } = await newOrder();
    const headers: Record<string, string> = headersOf();
    expect(await send({ method: 'GET', path: page.pathname + page.search, headers })).toBe(200);
    expect(await decide(headers)).toBe(303);
    expect(await isPaid()).toBe(true);
  });
});
