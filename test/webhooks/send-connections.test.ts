import { once } from 'node:events';
import { createServer } from 'node:http';
import net, { type AddressInfo } from 'node:net';

import { RECEIVER_CERTIFICATE } from '../support/receiver-certificate.ts';
import { cleanUp, failed, later, receiver, sender } from '../support/sending.ts';
import { until } from '../support/until.ts';

afterEach(cleanUp);

describe('a connection that fails', () => {
  test('by a reset is reported as connection_reset', async () => {
    const shop = await receiver();
    shop.behave({ kind: 'reset' });
    expect(await sender().post(shop.url)).toMatchObject(failed('connection_reset', /closed before a status line came/));
    expect(shop.requests).toHaveLength(1);
  });

  test('by a reset of a reused connection is tried once more on a new one', async () => {
    const shop = await receiver();
    shop.behave({ kind: 'reset', reused: true });
    const { post } = sender();
    expect((await post(shop.url)).ok).toBe(true);
    const second = await post(shop.url);
    expect(second.ok).toBe(true);
    expect(second.timings.connectMs).not.toBeNull();
    expect(shop.requests.map((request) => request.connection)).toEqual([1, 1, 2]);
  });

  test('by a reset of the new connection too is a failure, after one more try only', async () => {
    const shop = await receiver();
    const { post } = sender();
    await post(shop.url);
    shop.behave({ kind: 'reset' });
    expect(await post(shop.url)).toMatchObject(failed('connection_reset', /closed before a status line came/));
    expect(shop.requests).toHaveLength(3);
  });

  test('is not tried a third time when the new connection fails while it connects', async () => {
    const shop = await receiver({ tls: true });
    let connections = 0;
    const relay = net.createServer((socket) => {
      socket.on('error', () => {});
      if (++connections > 1) return void socket.once('data', () => socket.resetAndDestroy());
      const upstream = net.connect(shop.port, '127.0.0.1').on('error', () => socket.resetAndDestroy());
      socket.pipe(upstream).pipe(socket);
    });
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    later(async () => void relay.close());
    const { port } = relay.address() as AddressInfo;
    const { post } = sender({ trustedCa: RECEIVER_CERTIFICATE });
    await post(`https://127.0.0.1:${port}/`);
    shop.behave({ kind: 'reset' });
    const result = await post(`https://127.0.0.1:${port}/`);
    expect(result).toMatchObject(failed('tls', /No secure connection/));
    expect(connections).toBe(2);
  });

  test('by a timeout on a reused connection is not tried again', async () => {
    const shop = await receiver();
    const { post } = sender({ timeoutMs: 400 });
    await post(shop.url);
    shop.behave({ kind: 'hang' });
    const result = await post(shop.url);
    expect(result).toMatchObject(failed('timeout', /no status line/));
    expect(result.elapsedMs).toBeLessThan(2_500);
    expect(shop.requests).toHaveLength(2);
  });

  test('has 3 s for both tries together', async () => {
    const shop = await receiver();
    const { post } = sender({ timeoutMs: 1_000 });
    await post(shop.url);
    shop.behave((request) => (request.connection === 1 ? { kind: 'reset' } : { kind: 'hang' }));
    const result = await post(shop.url);
    expect(result).toMatchObject(failed('timeout', /no status line/));
    expect(result.elapsedMs).toBeLessThan(1_900);
  });

  test.each(['\u0000\u0001 hello\r\n\r\n', 'SSH-2.0-OpenSSH_9.2\r\n', 'HTTP/1.1 999999 no\r\n\r\n'])(
    'by a response that is not HTTP, %j, is reported as connection_reset',
    async (bytes) => {
      const shop = await receiver();
      shop.behave({ kind: 'garbage', bytes });
      expect(await sender().post(shop.url)).toMatchObject(failed('connection_reset', /not valid HTTP/));
    },
  );

  test('by an unrequested upgrade is a failure with status 101', async () => {
    const shop = await receiver();
    shop.behave({ kind: 'garbage', bytes: 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n' });
    expect(await sender().post(shop.url)).toMatchObject(failed('http_status', /returned 101/));
  });

  test('by endless headers is closed and reported', async () => {
    const shop = await receiver();
    shop.behave({ kind: 'garbage', bytes: `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n` });
    expect(await sender().post(shop.url)).toMatchObject(failed('connection_reset', /more than 32 KiB of headers/));
  });

  test('because the port is closed is reported as connect', async () => {
    const shop = await receiver();
    await shop.close();
    expect(await sender().post(shop.url)).toMatchObject(failed('connect', /No connection .* \(ECONNREFUSED\)/));
  });

  test('because the certificate is not trusted, or the port does not speak TLS, is reported as tls', async () => {
    const [secure, plain] = [await receiver({ tls: true }), await receiver()];
    const { post } = sender();
    expect(await post(secure.url)).toMatchObject(failed('tls', /the certificate is self-signed/));
    expect(await post(plain.url.replace('http:', 'https:'))).toMatchObject(
      failed('tls', /the port does not speak TLS \(wrong version number\)/),
    );
    expect(secure.requests).toEqual([]);
  });

  test('because the certificate is for another name is reported as tls', async () => {
    const shop = await receiver({ tls: true });
    const { post } = sender({
      ports: [shop.port],
      trustedCa: RECEIVER_CERTIFICATE,
      resolve: async () => ['127.0.0.1'],
    });
    expect(await post(`https://other.test:${shop.port}/`)).toMatchObject(failed('tls', /for another host name/));
  });
});

describe('host names', () => {
  test('keep their Host and SNI while the connection goes to exactly the vetted address', async () => {
    const shop = await receiver({ tls: true });
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return ['127.0.0.1'];
    };
    const { post } = sender({ ports: [shop.port], trustedCa: RECEIVER_CERTIFICATE, resolve });
    const result = await post(`https://receiver.test:${shop.port}/`);
    expect(result).toMatchObject({ ok: true, timings: { dnsMs: expect.any(Number) } });
    expect(shop.requests[0]?.headers.host).toBe(`receiver.test:${shop.port}`);
    expect(shop.requests[0]?.servername).toBe('receiver.test');
    await post(`https://receiver.test:${shop.port}/`);
    expect(asked).toEqual(['receiver.test']);
  });

  test('use their second address when the first does not respond', async () => {
    const shop = await receiver({ tls: true });
    const { post } = sender({
      ports: [shop.port],
      trustedCa: RECEIVER_CERTIFICATE,
      resolve: async () => ['127.0.0.9', '127.0.0.1'],
    });
    expect((await post(`https://receiver.test:${shop.port}/`)).ok).toBe(true);
  });

  test('with one private address among public ones are rejected, and nothing is sent', async () => {
    const shop = await receiver({ tls: true });
    for (const others of [['10.0.0.1'], ['::ffff:192.168.0.1'], ['169.254.169.254'], ['fd00::1']]) {
      const { post } = sender({ ports: [shop.port], resolve: async () => ['127.0.0.1', ...others] });
      const result = await post(`https://receiver.test:${shop.port}/`);
      expect(result).toMatchObject(
        failed('address_not_allowed', /receiver.test does not resolve to public addresses only/),
      );
      expect(result.failure?.message).not.toContain(others[0]);
    }
    expect(shop.openConnections()).toBe(0);
  });

  test('that resolve differently after they were saved are vetted again for each connection', async () => {
    const shop = await receiver({ tls: true });
    shop.behave({ kind: 'answer', status: 200, headers: { connection: 'close' } });
    let addresses = ['127.0.0.1'];
    const { post } = sender({
      ports: [shop.port],
      trustedCa: RECEIVER_CERTIFICATE,
      resolve: async () => addresses,
    });
    const url = `https://receiver.test:${shop.port}/`;
    expect((await post(url)).ok).toBe(true);
    addresses = ['10.0.0.1'];
    expect(await post(url)).toMatchObject(failed('address_not_allowed', /public addresses only/));
  });

  test('that do not exist, or have no address, are reported as dns', async () => {
    const failing = async () => {
      throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
    };
    expect(await sender({ resolve: failing }).post('https://gone.test/')).toMatchObject(
      failed('dns', /gone.test .*\(ENOTFOUND\)/),
    );
    expect(await sender({ resolve: async () => [] }).post('https://empty.test/')).toMatchObject(
      failed('dns', /\(ENODATA\)/),
    );
  });

  test('localhost means loopback without a DNS query', async () => {
    const shop = await receiver();
    const resolve = () => Promise.reject(new Error('asked'));
    expect((await sender({ resolve }).post(`http://localhost:${shop.port}/`)).ok).toBe(true);
  });
});

test('a POST to an address that is not public is rejected before a connection is opened', async () => {
  const shop = await receiver();
  const result = await sender({ allowLoopback: false, ports: [shop.port] }).post(shop.url.replace('http:', 'https:'));
  expect(result).toMatchObject(
    failed('address_not_allowed', /^Nothing was sent: the URL must be reachable from the internet/),
  );
  expect(shop.openConnections()).toBe(0);
});

test('a POST with an invalid header throws instead of returning a failure', async () => {
  const shop = await receiver();
  const headers = { 'x-split': 'a\r\nx-forged: b' };
  await expect(sender().send({ url: shop.url, headers, body: Buffer.from('{}') })).rejects.toThrow(
    'Invalid character in header content',
  );
  expect(shop.requests).toEqual([]);
});

test('the sender keeps a limited number of idle connections, and none after closing', async () => {
  const shop = await receiver();
  shop.behave({ kind: 'answer', status: 200, afterMs: 50 });
  const { post, close } = sender({ idleMax: 3 });
  await Promise.all(Array.from({ length: 10 }, () => post(shop.url)));
  await until('three connections to be open', () => shop.openConnections() === 3);
  const ended: boolean[] = [];
  void post(shop.url).then((result) => ended.push(result.ok));
  await close();
  expect(ended).toEqual([true]);
  await until('all connections to be closed', () => shop.openConnections() === 0);
});

test('the limit on idle connections holds over all hosts', async () => {
  const shops = [await receiver({ tls: true }), await receiver({ tls: true })];
  for (const shop of shops) shop.behave({ kind: 'answer', status: 200, afterMs: 50 });
  const { post } = sender({ idleMax: 3, trustedCa: RECEIVER_CERTIFICATE });
  await Promise.all(shops.flatMap((shop) => Array.from({ length: 3 }, () => post(shop.url))));
  await until('three open connections', () => shops.reduce((open, shop) => open + shop.openConnections(), 0) === 3);
});

test('a reused connection that is reset in the middle of its response is a failure, and not tried again', async () => {
  let requests = 0;
  const shop = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      requests += 1;
      if (requests === 1) return void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      return void socket.write('HTTP/1.1 2', () => setTimeout(() => socket.resetAndDestroy(), 50));
    });
  });
  shop.listen(0, '127.0.0.1');
  await once(shop, 'listening');
  later(async () => void shop.close());
  const { post } = sender();
  const url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/`;
  expect((await post(url)).ok).toBe(true);
  expect(await post(url)).toMatchObject(failed('connection_reset', /closed before a status line came/));
  expect(requests).toBe(2);
});

test('requests to loopback do not go through the proxy', async () => {
  const shop = await receiver({ tls: true });
  const { post } = sender({ trustedCa: RECEIVER_CERTIFICATE, proxyUrl: 'http://127.0.0.1:1' });
  expect(await post(shop.url)).toMatchObject({ ok: true });
});

test('the proxy gets the vetted address, not the name', async () => {
  const shop = await receiver({ tls: true });
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, client) => {
    asked.push(request.url ?? '', request.headers['proxy-authorization'] ?? '');
    const upstream = net.connect(shop.port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    client.on('error', () => {});
    upstream.on('error', () => {});
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  later(async () => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const { post } = sender({
    trustedCa: RECEIVER_CERTIFICATE,
    resolve: async () => ['93.184.216.34'],
    proxyUrl: `http://user:word@127.0.0.1:${port}`,
  });
  expect(await post('https://receiver.test/')).toMatchObject({ ok: true });
  expect(asked).toEqual(['93.184.216.34:443', `Basic ${Buffer.from('user:word').toString('base64')}`]);
});

test('a proxy that rejects the tunnel makes the attempt fail as connect', async () => {
  const proxy = await receiver();
  const { post } = sender({ resolve: async () => ['93.184.216.34'], proxyUrl: `http://127.0.0.1:${proxy.port}` });
  expect(await post('https://receiver.test/')).toMatchObject(failed('connect', /No connection to receiver.test/));
});
