import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';

import { RECEIVER_CERTIFICATE } from '../support/receiver-certificate.ts';
import { cleanUp, failed, later, receiver, sender } from '../support/sending.ts';
import { until } from '../support/until.ts';

afterEach(cleanUp);

describe('a POST to a receiver', () => {
  test('arrives with exactly the given bytes and headers', async () => {
    const shop = await receiver();
    const result = await sender().post(`${shop.url}?shop=1`, '{"name":"ሰላም"}');
    expect(result).toMatchObject({ ok: true, httpStatus: 200, failure: null });
    const [request] = shop.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/webhooks?shop=1' });
    expect(request?.body.toString()).toBe('{"name":"ሰላም"}');
    expect(request?.headers).toMatchObject({
      host: `127.0.0.1:${shop.port}`,
      'content-type': 'application/json',
      'x-service-event-id': 'evt_1',
      'content-length': '20',
    });
    expect(request?.headers).not.toHaveProperty('accept-encoding');
  });

  test('over TLS has connection timings, and null ones on a reused connection', async () => {
    const shop = await receiver({ tls: true });
    const { post } = sender({ trustedCa: RECEIVER_CERTIFICATE });
    const first = await post(shop.url);
    const second = await post(shop.url);
    expect(first.timings).toEqual({
      dnsMs: null,
      connectMs: expect.any(Number),
      tlsMs: expect.any(Number),
      firstByteMs: expect.any(Number),
    });
    expect(second.timings).toEqual({ dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: expect.any(Number) });
    expect(shop.requests.map((request) => request.connection)).toEqual([1, 1]);
  });

  test('does not wait for others to the same host, not even for hundreds that hang', async () => {
    const shop = await receiver();
    shop.behave((request) => (request.path === '/hang' ? { kind: 'hang' } : { kind: 'answer', status: 200 }));
    const { post } = sender();
    const ended: string[] = [];
    const hanging = Array.from({ length: 300 }, async () => {
      const result = await post(shop.url.replace('/webhooks', '/hang'));
      ended.push(result.failure?.code ?? 'delivered');
    });
    await shop.received(300);
    expect(await post(shop.url)).toMatchObject({ ok: true });
    expect(ended).toEqual([]);
    await Promise.all(hanging);
    expect(new Set(ended)).toEqual(new Set(['timeout']));
  });
});

describe('the status line decides on the result', () => {
  test.each([200, 201, 204, 299])('a response with status %d is a success', async (status) => {
    const shop = await receiver();
    shop.behave({ kind: 'answer', status });
    expect(await sender().post(shop.url)).toMatchObject({ ok: true, httpStatus: status, failure: null });
  });

  test.each([300, 304, 400, 404, 410, 429, 500, 503])('a response with status %d is a failure', async (status) => {
    const shop = await receiver();
    shop.behave({ kind: 'answer', status });
    const result = await sender().post(shop.url);
    expect(result).toMatchObject(failed('http_status', new RegExp(`returned ${status}`)));
    expect(result.httpStatus).toBe(status);
  });

  test('a redirect is a failure and is not followed', async () => {
    const [shop, elsewhere] = [await receiver(), await receiver()];
    shop.behave({ kind: 'redirect', location: elsewhere.url });
    const result = await sender().post(shop.url);
    expect(result).toMatchObject(failed('http_status', /returned 302; redirects are not followed/));
    expect(result.responseHeaders['location']).toBe(elsewhere.url);
    expect(elsewhere.requests).toEqual([]);
  });
});

describe('the timeout of a POST', () => {
  test('ends a receiver that hangs before the status after 3 s', async () => {
    const shop = await receiver();
    shop.behave({ kind: 'hang' });
    const result = await sender().post(shop.url);
    expect(result).toMatchObject(
      failed('timeout', /^No response within 3 s: the request was sent, but no status line came\.$/),
    );
    expect(result.elapsedMs).toBeGreaterThanOrEqual(2_990);
    expect(result.elapsedMs).toBeLessThan(3_900);
    expect(result.durationMs).toBeGreaterThanOrEqual(2_990);
  });

  test('accepts a status that arrives late but in time', async () => {
    const shop = await receiver();
    shop.behave({ kind: 'answer', status: 200, afterMs: 2_000 });
    expect(await sender().post(shop.url)).toMatchObject({ ok: true });
  });

  test('accepts a status that arrived in time while the process was busy', async () => {
    const shop = await receiver();
    const { post } = sender({ timeoutMs: 800 });
    await post(shop.url);
    const sending = post(shop.url);
    await shop.received(2);
    const busyUntil = performance.now() + 1_100;
    while (performance.now() < busyUntil);
    expect(await sending).toMatchObject({ ok: true });
  });

  test('ends a receiver that drips its headers', async () => {
    const shop = await receiver();
    shop.behave({ kind: 'drip-headers', everyMs: 50 });
    const result = await sender({ timeoutMs: 600 }).post(shop.url);
    expect(result).toMatchObject(failed('timeout', /no status line/));
    expect(result.elapsedMs).toBeLessThan(2_500);
  });

  test('ends a TLS handshake that hangs', async () => {
    const mute = net.createServer().listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const sockets: net.Socket[] = [];
    mute.on('connection', (socket) => sockets.push(socket.resume()));
    later(async () => {
      for (const socket of sockets) socket.destroy();
      mute.close();
    });
    const { port } = mute.address() as AddressInfo;
    const result = await sender({ timeoutMs: 500 }).post(`https://127.0.0.1:${port}/`);
    expect(result).toMatchObject(failed('timeout', /the TLS handshake was not finished/));
    expect(result.elapsedMs).toBeLessThan(2_500);
    await until('all connections to be closed', () => sockets.every((socket) => socket.closed));
  });

  test('ends a name that does not resolve in time', async () => {
    const result = await sender({ timeoutMs: 300, resolve: () => new Promise(() => {}) }).post('https://slow.test/');
    expect(result).toMatchObject(failed('timeout', /the host name was not resolved yet/));
    expect(result.elapsedMs).toBeLessThan(2_500);
  });
});

describe('the body of a response', () => {
  test('of one byte a second costs 1 s and does not change the result', async () => {
    const shop = await receiver();
    shop.behave({ kind: 'drip', everyMs: 1_000 });
    const result = await sender().post(shop.url);
    expect(result).toMatchObject({ ok: true, httpStatus: 200 });
    expect(result.elapsedMs).toBeGreaterThanOrEqual(990);
    expect(result.elapsedMs).toBeLessThan(2_500);
    expect(result.durationMs).toBeLessThan(500);
  });

  test('of 100 MB is read up to 16 KiB', async () => {
    const shop = await receiver();
    shop.behave({ kind: 'huge', bytes: 100 * 1024 * 1024 });
    const result = await sender().post(shop.url);
    expect(result.ok).toBe(true);
    expect(result.responseExcerpt).toBe('x'.repeat(16_384));
    expect(result.elapsedMs).toBeLessThan(2_500);
    expect(shop.bytesWritten()).toBeLessThan(20 * 1024 * 1024);
  });

  test('that is compressed is not decompressed', async () => {
    const shop = await receiver();
    shop.behave({ kind: 'gzip-bomb' });
    const result = await sender().post(shop.url);
    expect(result.ok).toBe(true);
    expect(result.responseExcerpt).toMatch(/^\(\d+ bytes in gzip, not decoded\)$/);
  });

  test('is stored as text that PostgreSQL accepts', async () => {
    const shop = await receiver();
    const { post } = sender();
    shop.behave({ kind: 'answer', status: 200, body: 'ሰላም\0\u001b[31m\r\n\tok' });
    expect((await post(shop.url)).responseExcerpt).toBe('ሰላም[31m\r\n\tok');
    shop.behave({ kind: 'answer', status: 200, body: `${'a'.repeat(16_383)}ሰላም` });
    expect((await post(shop.url)).responseExcerpt).toBe('a'.repeat(16_383));
    shop.behave({ kind: 'answer', status: 200, body: Buffer.from([0xff, 0xfe, 0, 1, 0x80, 0x81]) });
    expect((await post(shop.url)).responseExcerpt).toBe('(6 bytes, not text)');
    shop.behave({ kind: 'answer', status: 200, body: 'after all that' });
    expect((await post(shop.url)).responseExcerpt).toBe('after all that');
  });

  test('comes with at most 64 headers, each cut to 512 characters', async () => {
    const shop = await receiver();
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x-${index}`, 'v'.repeat(100)]));
    shop.behave({ kind: 'answer', status: 200, headers: { 'x-long': 'w'.repeat(2_000), ...many } });
    const { responseHeaders } = await sender().post(shop.url);
    expect(Object.keys(responseHeaders)).toHaveLength(64);
    expect(responseHeaders['x-long']).toBe('w'.repeat(512));
  });
});
