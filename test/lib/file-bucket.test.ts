import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { CreateMultipartUploadCommand, S3Client } from '@aws-sdk/client-s3';

import { type Bucket, openFileBucket, type StoreCall } from '../../src/lib/file-bucket.ts';
import { anyFreePort, stopListening } from '../../src/lib/ports.ts';
import { type ObjectStore, PAGE_KEYS, startObjectStore } from '../support/object-store.ts';
import { until } from '../support/until.ts';
import { chunks, describeFileStore } from './file-contract.ts';

let store: ObjectStore;
let bucket: Bucket;
beforeAll(async () => {
  store = await startObjectStore();
  bucket = await store.newBucket('meskot-files');
});
afterAll(() => store.stop());

const SHORT = { connectMs: 500, responseMs: 400, callMs: 1_000, pauseMs: 400 };
const MIB = 1024 * 1024;
const write = (changes: Partial<Bucket>) => openFileBucket({ ...bucket, ...changes }).write(Buffer.from('x'));

describeFileStore('a bucket', () => ({
  files: openFileBucket(bucket),
  names: async () => {
    const { files, uploads } = await store.keys(bucket.name);
    expect(uploads).toEqual([]);
    return files.map((key) => key.slice(bucket.prefix.length));
  },
}));

test('a file has its name under the prefix, and other objects of the bucket are not listed', async () => {
  const own = await store.newBucket('meskot-prefixes');
  const name = await openFileBucket(own).write(Buffer.from('x'));
  for (const key of ['a'.repeat(32), `${own.prefix}read-me`, `${own.prefix}other/${'b'.repeat(32)}`])
    await store.put(own.name, key);
  expect((await store.keys(own.name)).files).toContain(`${own.prefix}${name}`);
  expect(await openFileBucket(own).listOlder(-60_000)).toEqual([name]);
});

test('more files than the store lists at once are all listed', async () => {
  const own = await store.newBucket('meskot-many');
  const names = Array.from({ length: 2 * PAGE_KEYS + 3 }, (_, at) => at.toString(16).padStart(32, '0'));
  for (const name of names) await store.put(own.name, own.prefix + name);
  expect((await openFileBucket(own).listOlder(-60_000)).toSorted()).toEqual(names);
});

test('a file of many parts is uploaded and read back while little of it is in memory', async () => {
  const files = openFileBucket(bucket);
  const [count, bytes] = [40, MIB];
  let made = 0;
  let ahead = 0;
  const source = async function* () {
    for await (const chunk of chunks(count, bytes)) {
      made += 1;
      ahead = Math.max(ahead, made - received / MIB);
      yield chunk;
    }
  };
  let received = 0;
  const counting = await forwarding(async (request) => {
    request.on('data', (chunk: Buffer) => (received += chunk.length));
  });
  const name = await openFileBucket({ ...bucket, endpoint: counting.url }).write(source());
  await counting.close();
  // Two parts of 5 MiB under way, one being filled, and the chunks between.
  expect(ahead).toBeLessThan(24);
  let read = 0;
  for await (const chunk of await files.stream(name)) read += (chunk as Buffer).length;
  expect(read).toBe(count * bytes);
  await files.remove(name);
});

test('an upload that its process left unfinished is listed, and removing it ends it', async () => {
  const own = await store.newBucket('meskot-unfinished');
  const name = 'd'.repeat(32);
  const { endpoint, credentials } = store;
  const client = new S3Client({ region: own.region, endpoint, credentials, forcePathStyle: true });
  await client.send(new CreateMultipartUploadCommand({ Bucket: own.name, Key: own.prefix + name }));
  client.destroy();
  const files = openFileBucket(own);
  // For moto every upload began in 2010.
  expect(await files.listOlder(60_000)).toEqual([name]);
  await files.remove(name);
  expect(await store.keys(own.name)).toEqual({ files: [], uploads: [] });
});

test.each<[string, Partial<Bucket>, string]>([
  ['an unknown key', { credentials: { accessKeyId: 'AKIAUNKNOWN', secretAccessKey: 'x' } }, 'InvalidAccessKeyId'],
  ['no such bucket', { name: 'none-such' }, 'NoSuchBucket'],
])('%s makes the store unavailable, with its reason and without a secret', async (_, changes, reason) => {
  await expect(write(changes)).rejects.toMatchObject({
    name: 'UnavailableError',
    message: expect.stringContaining(reason),
  });
});

test('a wrong secret is refused by its signature', async () => {
  const credentials = { ...store.credentials, secretAccessKey: 'planted-secret' };
  const refused = write({ credentials });
  await expect(refused).rejects.toMatchObject({ name: 'UnavailableError' });
  await expect(refused).rejects.toThrow('SignatureDoesNotMatch');
  await expect(refused).rejects.not.toThrow('planted-secret');
});

test('a download that its reader gives up, before or after its beginning, ends its connection', async () => {
  let ended = 0;
  const endless = await serving((_, response) => {
    response.writeHead(200, { 'content-length': '1000000' });
    response.write('a beginning');
    response.once('close', () => (ended += 1));
  });
  const files = openFileBucket({ ...bucket, endpoint: endless.url });
  const unread = await files.stream('f'.repeat(32));
  unread.destroy();
  await until('the first connection to end', () => ended === 1);
  for await (const _ of await files.stream('f'.repeat(32))) break;
  await until('the second connection to end', () => ended === 2);
  await endless.close();
});

describe('a store that is away', () => {
  const calls = (at: Bucket): Record<StoreCall, () => Promise<unknown>> => {
    const files = openFileBucket(at);
    const name = 'e'.repeat(32);
    return {
      write: () => files.write(Buffer.from('x')),
      read: () => files.read(name),
      remove: () => files.remove(name),
      list: () => files.listOlder(0),
    };
  };

  test('refuses connections: every call ends as unavailable', async () => {
    const away = calls({ ...bucket, endpoint: `http://127.0.0.1:${await anyFreePort()}` });
    const refused = { name: 'UnavailableError', cause: { message: expect.stringContaining('ECONNREFUSED') } };
    for (const call of Object.values(away)) await expect(call()).rejects.toMatchObject(refused);
    const files = openFileBucket({ ...bucket, endpoint: `http://127.0.0.1:${await anyFreePort()}` });
    await expect(files.write(chunks(12, MIB))).rejects.toMatchObject({ name: 'UnavailableError' });
  });

  test('accepts connections and is silent: every call ends within its time as unavailable', async () => {
    const silent = await serving(() => {});
    const away = calls({ ...bucket, endpoint: silent.url, limits: SHORT });
    for (const call of Object.values(away)) await expect(call()).rejects.toMatchObject({ name: 'UnavailableError' });
    const files = openFileBucket({ ...bucket, endpoint: silent.url, limits: SHORT });
    await expect(files.write(chunks(12, MIB))).rejects.toMatchObject({ name: 'UnavailableError' });
    await silent.close();
  });

  test('stops in the middle of a file: the download fails, and a reader that pauses does not make it fail', async () => {
    const name = await openFileBucket(bucket).write(Buffer.alloc(MIB, 'whole'));
    const halting = await serving((_, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half');
    });
    const half = await openFileBucket({ ...bucket, endpoint: halting.url, limits: SHORT }).stream(name);
    await expect(half.toArray()).rejects.toThrow('stopped sending');
    await halting.close();
    const whole = await openFileBucket({ ...bucket, limits: SHORT }).stream(name);
    await new Promise((resolve) => setTimeout(resolve, 2 * SHORT.callMs));
    expect(Buffer.concat(await whole.toArray()).equals(Buffer.alloc(MIB, 'whole'))).toBe(true);
  });

  test('breaks off in the middle of an upload: the error is that of the store, and no file is to be seen', async () => {
    const before = await store.keys(bucket.name);
    let parts = 0;
    const failing = await forwarding(async (request, response) => {
      if (request.url?.includes('partNumber') !== true) return;
      parts += 1;
      if (parts > 1) response.destroy();
    });
    const files = openFileBucket({ ...bucket, endpoint: failing.url });
    await expect(files.write(chunks(16, MIB))).rejects.toMatchObject({ name: 'UnavailableError' });
    await failing.close();
    expect(parts).toBeGreaterThan(1);
    expect(await store.keys(bucket.name)).toEqual(before);
  });
});

type Seen = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

async function serving(listener: Seen) {
  const server = createServer((request, response) => void listener(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await stopListening(server);
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** Passes requests on to the store, as they are. */
async function forwarding(see: Seen) {
  return serving((request, response) => {
    void see(request, response);
    const { method, url: path, headers } = request;
    const onward = send(store.endpoint, { method, path: path ?? '/', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
}
