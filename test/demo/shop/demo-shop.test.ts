import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

import { startDemoShop, type DemoShop } from '../../../src/demo/shop/server.ts';
import { newSecret, signedRequest } from '../../../src/webhooks/delivery/attempt.ts';

const SECRET = newSecret();
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function demoShop(
  apiUrl = 'http://127.0.0.1:1',
  more: { customersEveryMs?: number; url?: string } = {},
): Promise<DemoShop & { lines: string[] }> {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const options = { port: 0, host: '127.0.0.1', apiUrl, apiKey: 'sk_test_demo', webhookSecret: SECRET, write, ...more };
  const shop = await startDemoShop(options);
  cleanups.push(shop.close);
  return { ...shop, lines };
}

type EventChange = { eventId?: string; orderNo?: string; status?: string; version?: number; secret?: string };

function deliver(shop: DemoShop, tx: EventChange = {}): Promise<Response> {
  return fetch(`${shop.url}/webhooks`, signedDelivery(tx));
}

function signedDelivery(tx: EventChange) {
  const { eventId = 'evt_1', orderNo = 'SHOP-1', status = 'SUCCESS', version = 3, secret = SECRET } = tx;
  const data = { object: 'transaction', checkoutOrderNo: orderNo, status, version };
  const envelope = { event: 'payment.succeeded', event_id: eventId, api_version: 'v1.0', created_at: '', data };
  const { body, headers } = signedRequest({
    payload: Buffer.from(JSON.stringify(envelope)),
    eventId,
    attemptAt: new Date('2025-01-01T00:00:00.000Z'),
    secret,
    previousSecret: null,
    encoding: 'base64',
    customHeaders: {},
  });
  return { method: 'POST', headers, body };
}

function post(shop: DemoShop, path: string, { origin, ...fields }: Record<string, string>) {
  const body = new URLSearchParams(fields);
  const headers: Record<string, string> = origin === undefined ? {} : { origin };
  return fetch(`${shop.url}${path}`, { method: 'POST', redirect: 'manual', headers, body });
}

const pageOf = async (shop: DemoShop, path = '/') => (await fetch(`${shop.url}${path}`)).text();

describe('a webhook to the demo shop', () => {
  test('is verified, processed once, and printed as one line', async () => {
    const shop = await demoShop();
    expect((await deliver(shop)).status).toBe(200);
    expect((await deliver(shop)).status).toBe(200);
    expect(shop.lines).toEqual([
      expect.stringMatching(
        /^webhook \S+Z {2}payment.succeeded {2}order SHOP-1 {2}delivery 1, signed 2025-01-01T00:00:00.000Z {2}verified, new {2}→ responded 200$/,
      ),
      expect.stringMatching(/delivery 2, .* verified, a duplicate {2}→ responded 200$/),
    ]);
    expect(await pageOf(shop)).toContain('verified, a duplicate');
  });

  test('with a wrong signature is rejected, and the line has the reason', async () => {
    const shop = await demoShop();
    expect((await deliver(shop, { secret: newSecret() })).status).toBe(400);
    expect(shop.lines).toEqual([expect.stringMatching(/REJECTED \(wrong_secret\): .* responded 400$/)]);
    expect(await pageOf(shop, '/thanks?checkoutOrderNo=SHOP-1')).toContain('does not know whether it is paid');
  });

  test('with an older version does not overwrite a newer one', async () => {
    const shop = await demoShop();
    await deliver(shop, { eventId: 'evt_2', status: 'SUCCESS', version: 3 });
    await deliver(shop, { eventId: 'evt_1', status: 'PENDING', version: 2 });
    const thanks = await pageOf(shop, '/thanks?checkoutOrderNo=SHOP-1');
    expect(thanks).toContain('<strong>SUCCESS</strong>');
    const [, inAmharic = ''] = /href="([^"]+)" lang="am"/.exec(thanks) ?? [];
    expect(await pageOf(shop, `/thanks${inAmharic.replace('&#38;', '&')}`)).toContain('<strong>SUCCESS</strong>');
    expect(shop.lines[1]).toContain('older than the stored version');
  });

  test('with the stored version is not reported as older', async () => {
    const shop = await demoShop();
    await deliver(shop, { eventId: 'evt_1', version: 3 });
    await deliver(shop, { eventId: 'evt_2', version: 3 });
    expect(shop.lines[1]).toMatch(/verified, new {2}→ responded 200$/);
  });

  test('to the flaky address fails the first time, succeeds the second, and prints no line', async () => {
    const shop = await demoShop();
    const statuses: number[] = [];
    for (const eventId of ['evt_1', 'evt_2', 'evt_2', 'evt_1']) {
      const headers = { 'x-service-event-id': eventId };
      statuses.push((await fetch(`${shop.url}/flaky`, { method: 'POST', headers, body: '{}' })).status);
    }
    expect(statuses).toEqual([503, 503, 204, 204]);
    expect(shop.lines).toEqual([]);
  });

  test('of more than 256 KiB is rejected with 413', async () => {
    const shop = await demoShop();
    const response = await fetch(`${shop.url}/webhooks`, { method: 'POST', body: 'x'.repeat(300_000) });
    expect(response.status).toBe(413);
  });
});

describe('the behaviour of the demo shop', () => {
  test('can be set to fail and back, so that a retry of the same event succeeds', async () => {
    const shop = await demoShop();
    await post(shop, '/behaviour', { mode: 'fail' });
    expect((await deliver(shop)).status).toBe(500);
    expect(await pageOf(shop, '/thanks?checkoutOrderNo=SHOP-1')).toContain('does not know whether it is paid');
    await post(shop, '/behaviour', { mode: 'ok' });
    expect((await deliver(shop)).status).toBe(200);
    expect(shop.lines[1]).toMatch(/delivery 2, .* verified, new {2}→ responded 200/);
  });

  test('can be set to hang, and the shop still closes at once', async () => {
    const shop = await demoShop();
    await post(shop, '/behaviour', { mode: 'hang' });
    const waiting = deliver(shop);
    waiting.catch(() => {});
    while (shop.lines.length < 1) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(shop.lines[0]).toMatch(/set to hang {2}→ no response/);
    const since = performance.now();
    await shop.close();
    expect(performance.now() - since).toBeLessThan(1_000);
    await expect(waiting).rejects.toThrow('fetch failed');
  });

  test('can be set as JSON, but not to an unknown mode and not by another site', async () => {
    const shop = await demoShop();
    const asJson = (body: string) =>
      fetch(`${shop.url}/behaviour`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(await (await asJson('{"mode":"fail"}')).json()).toEqual({ mode: 'fail' });
    for (const body of ['{"mode":"explode"}', '{', 'null', '[]', '7']) expect((await asJson(body)).status).toBe(400);
    const foreign = await post(shop, '/behaviour', { mode: 'ok', origin: 'https://elsewhere.example' });
    expect(foreign.status).toBe(403);
    expect((await post(shop, '/behaviour', { mode: 'ok', origin: shop.url })).status).toBe(303);
  });
});

describe('buying in the demo shop', () => {
  async function api(status: number, body: unknown) {
    const requests: { url: string; headers: IncomingHttpHeaders; body: Record<string, unknown> }[] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      requests.push({
        url: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
      });
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(async () => server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
  }

  test('creates a session with the API key and redirects the customer to its checkout page', async () => {
    const checkoutUrl = 'http://127.0.0.1:4000/checkout/cs_1?t=x';
    const { url, requests } = await api(201, { data: { sessionId: 'cs_1', checkoutUrl } });
    const shop = await demoShop(url);
    const response = await post(shop, '/buy', { item: 'buna' });
    expect([response.status, response.headers.get('location')]).toEqual([303, checkoutUrl]);
    expect(requests[0]).toMatchObject({
      url: '/api/checkout/sessions',
      headers: { 'x-api-key': 'sk_test_demo', 'idempotency-key': expect.stringMatching(/^SHOP-/) },
      body: { amount: 45.5, currency: 'ETB', successUrl: `${shop.url}/thanks`, checkoutOrderNo: expect.any(String) },
    });
  });

  test('brings customers back to the address at which they reach the shop', async () => {
    const { url, requests } = await api(201, { data: { sessionId: 'cs_1', checkoutUrl: 'http://127.0.0.1:4000/' } });
    await post(await demoShop(url, { url: 'http://localhost:4003' }), '/buy', { item: 'buna' });
    expect(requests[0]).toMatchObject({ body: { successUrl: 'http://localhost:4003/thanks' } });
  });

  test('is done by demo customers from sandbox phones until the shop closes', async () => {
    const data = { sessionId: 'cs_1', checkoutUrl: 'http://127.0.0.1:4000/checkout/cs_1?t=x' };
    const { url, requests } = await api(201, { data });
    const shop = await demoShop(url, { customersEveryMs: 20 });
    while (requests.length < 6) await new Promise((resolve) => setTimeout(resolve, 10));
    const paid = requests.filter((one) => one.url === '/api/checkout/sessions/cs_1/pay');
    const ordered = requests.filter((one) => one.url === '/api/checkout/sessions');
    expect(paid[0]?.body).toEqual({ channel: 'TELEBIRR', phone: '0911000001' });
    expect(ordered[0]?.body).toMatchObject({ checkoutOrderNo: expect.stringMatching(/^WALKIN-/), amount: 60 });
    await deliver(shop, { orderNo: 'WALKIN-1' });
    expect(shop.lines).toEqual([]);
    expect(await pageOf(shop)).toContain('WALKIN-1');
    await shop.close();
    const count = requests.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(requests.length).toBe(count);
  });

  test('shows the message of a failed API call, escaped', async () => {
    const { url } = await api(403, { message: '<script>alert(1)</script>' });
    const response = await post(await demoShop(url), '/buy', { item: 'buna' });
    expect(response.status).toBe(502);
    const text = await response.text();
    expect(text).toContain('Meskot responded 403: &#60;script&#62;');
    expect(text).not.toContain('<script>');
  });

  test('shows a problem when the API is unavailable or the drink unknown', async () => {
    const shop = await demoShop();
    expect(await (await post(shop, '/buy', { item: 'buna' })).text()).toContain('does not respond');
    expect((await post(shop, '/buy', { item: 'tea' })).status).toBe(400);
  });
});

test('a return page of the demo shop shows the order number escaped, and that redirects are not the truth', async () => {
  const shop = await demoShop();
  for (const path of ['/thanks', '/sorry', '/cancelled']) {
    const text = await pageOf(shop, `${path}?checkoutOrderNo=${encodeURIComponent('"><img src=x onerror=alert(1)>')}`);
    expect(text).toContain('Redirects are not the truth');
    expect(text).toContain('&#34;&#62;&#60;img src=x');
    expect(text).not.toContain('<img');
  }
});
