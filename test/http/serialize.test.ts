import { z } from 'zod';

import { writeRoute } from '../../src/http/route.ts';
import { createKeyedQueue, type KeyedQueue } from '../../src/lib/keyed-queue.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  createTestServer,
  startTestServer,
  stubKey,
  testServerDeps,
  type HttpResponse,
  type TestServer,
} from '../support/http.ts';

let database: TestDatabase;
let http: TestServer;
/** Of all that came to the queue: aborted when they have hung up. */
let callers: AbortSignal[];
/** Names that were begun, in their order, and what ends each. */
let begun: string[];
let ends: Map<string, () => void>;

const slow = writeRoute('POST /api/slow', {
  operationId: 'doSlowly',
  tag: 'Withdrawals',
  summary: 'Ends when the test lets it',
  auth: { by: 'key', scope: 'withdrawals:write' },
  serialize: 'merchantBalance',
  body: z.strictObject({ name: z.string().max(64) }),
  responses: { 200: z.object({ name: z.string() }) },
  handle: async ({ body }) => {
    begun.push(body.name);
    await new Promise<void>((resolve) => void ends.set(body.name, resolve));
    return { message: 'Done', data: body };
  },
});

beforeAll(async () => {
  database = await createTestDatabase();
  const { run } = createKeyedQueue({ runningMax: 3, pendingMax: { ofOne: 2, ofAll: 10 }, waitMsMax: 3_600_000 });
  const queue: KeyedQueue = {
    run: async (key, work, gone) => {
      callers.push(gone);
      return run(key, work, gone);
    },
  };
  http = await startTestServer(testServerDeps(database.db, { routes: [slow], queue }));
});
beforeEach(() => {
  callers = [];
  begun = [];
  ends = new Map();
});
afterAll(async () => {
  await http.close();
  await database.drop();
});

const send = async (name: string, key: string, headers = {}): Promise<HttpResponse> =>
  http.send('POST', '/api/slow', { key, body: { name }, headers });

const A = stubKey('mrc_A');

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => void setTimeout(resolve, 5));
}

/** Sends these one after the other, each once the one before is queued. */
async function sendInOrder(key: string, names: readonly string[]): Promise<Promise<HttpResponse>[]> {
  const sent: Promise<HttpResponse>[] = [];
  for (const name of names) {
    const before = callers.length;
    sent.push(send(name, key));
    await until(() => callers.length > before);
  }
  return sent;
}

/** Completes them in this order, each once it has begun. */
async function endInOrder(names: readonly string[]): Promise<void> {
  for (const name of names) {
    await until(() => ends.has(name));
    ends.get(name)?.();
  }
}

const statusesOf = async (sent: readonly Promise<HttpResponse>[]): Promise<number[]> =>
  (await Promise.all(sent)).map(({ status }) => status);

test('a second change of a merchant waits for the first without a database connection; those of other merchants and environments run', async () => {
  const { pool } = database.db;
  const sent = await sendInOrder(A, ['a1', 'a2']);
  sent.push(send('b1', stubKey('mrc_B')), send('live', stubKey('mrc_A', 'live')));
  await until(() => begun.length === 3);
  expect(begun.toSorted()).toEqual(['a1', 'b1', 'live']);
  expect(pool.totalCount - pool.idleCount).toBe(3);
  await endInOrder(['b1', 'live', 'a1', 'a2']);
  expect(await statusesOf(sent)).toEqual([200, 200, 200, 200]);
});

test('a change beyond the queue of its merchant is a 429 with Retry-After and has no effect', async () => {
  const sent = await sendInOrder(A, ['a1', 'a2', 'a3', 'a4']);
  const rejected = await sent[3];
  expect(rejected).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });
  expect(rejected?.headers.get('retry-after')).toBe('1');
  await endInOrder(['a1', 'a2', 'a3']);
  expect(await statusesOf(sent)).toEqual([200, 200, 200, 429]);
  expect(begun).toEqual(['a1', 'a2', 'a3']);
});

test('a waiting request whose caller hangs up leaves the queue, and the next one runs', async () => {
  const sent = await sendInOrder(A, ['a1']);
  const gone = new AbortController();
  const headers = { 'x-api-key': A, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'dropped' });
  const dropped = fetch(`${http.url}/api/slow`, { method: 'POST', headers, body, signal: gone.signal });
  await until(() => callers.length === 2);
  sent.push(...(await sendInOrder(A, ['a3'])));
  gone.abort();
  await expect(dropped).rejects.toThrow();
  await until(() => callers[1]?.aborted === true);
  sent.push(...(await sendInOrder(A, ['a4'])));
  await endInOrder(['a1', 'a3', 'a4']);
  expect(await statusesOf(sent)).toEqual([200, 200, 200]);
  expect(begun).toEqual(['a1', 'a3', 'a4']);
});

test('a concurrent repeat with the same Idempotency-Key waits and gets the first response', async () => {
  const headers = { 'idempotency-key': 'same' };
  const first = send('a1', A, headers);
  await until(() => begun.length === 1);
  const repeat = send('a1', A, headers);
  await until(() => callers.length === 2);
  await endInOrder(['a1']);
  expect((await first).status).toBe(200);
  expect((await repeat).headers.get('idempotent-replayed')).toBe('true');
  expect(begun).toEqual(['a1']);
});

test('building the server fails for a serialized route that takes no merchant’s key', () => {
  const deps = testServerDeps(database.db, { routes: [] });
  const wrong = { ...slow, auth: { by: 'operator', roles: ['admin'] } } as typeof slow;
  expect(() => createTestServer({ ...deps, routes: [wrong] })).toThrow(/doSlowly .* takes no merchant's key/);
});
