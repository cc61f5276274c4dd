import { z } from 'zod';

import { writeRoute } from '../../src/http/route.ts';
import { createApiServer } from '../../src/http/server.ts';
import { createKeyedQueue, type KeyedQueue } from '../../src/lib/keyed-queue.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type HttpResponse, type TestServer } from '../support/http.ts';

let database: TestDatabase;
let http: TestServer;
/** Of all that came to the queue: aborted when they have hung up. */
let callers: AbortSignal[];
/** Names that were begun, in their order, and what ends each. */
let begun: string[];
let ends: Map<string, () => void>;

const slow = writeRoute({
  method: 'POST',
  path: '/api/slow',
  operationId: 'doSlowly',
  tag: 'Withdrawals',
  summary: 'Ends when it is told to',
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
  const { run } = createKeyedQueue({ runningMax: 3, pendingMax: { ofOne: 2, ofAll: 10 }, waitMsMax: 60_000 });
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

const ask = async (name: string, key: string, headers = {}): Promise<HttpResponse> =>
  http.send('POST', '/api/slow', { key, body: { name }, headers });

const A = stubKey('mrc_A');

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => void setTimeout(resolve, 5));
}

/** Asks for these one after the other, each once the one before has come to the queue. */
async function askInOrder(key: string, names: readonly string[]): Promise<Promise<HttpResponse>[]> {
  const asked: Promise<HttpResponse>[] = [];
  for (const name of names) {
    const before = callers.length;
    asked.push(ask(name, key));
    await until(() => callers.length > before);
  }
  return asked;
}

/** Ends them in this order, each once it has begun. */
async function endInOrder(names: readonly string[]): Promise<void> {
  for (const name of names) {
    await until(() => ends.has(name));
    ends.get(name)?.();
  }
}

const statusesOf = async (asked: readonly Promise<HttpResponse>[]): Promise<number[]> =>
  (await Promise.all(asked)).map(({ status }) => status);

test('a merchant’s second change waits for the first, without a connection; another merchant’s and environment’s do not', async () => {
  const { pool } = database.db.client as { pool: { numUsed: () => number } };
  const asked = await askInOrder(A, ['a1', 'a2']);
  asked.push(ask('b1', stubKey('mrc_B')), ask('live', stubKey('mrc_A', 'live')));
  await until(() => begun.length === 3);
  expect(begun.toSorted()).toEqual(['a1', 'b1', 'live']);
  expect(pool.numUsed()).toBe(3);
  await endInOrder(['b1', 'live', 'a1', 'a2']);
  expect(await statusesOf(asked)).toEqual([200, 200, 200, 200]);
});

test('beyond its bound a merchant’s change is refused with 429 and Retry-After, and changes nothing', async () => {
  const asked = await askInOrder(A, ['a1', 'a2', 'a3', 'a4']);
  const refused = await asked[3];
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });
  expect(refused?.headers.get('retry-after')).toBe('1');
  await endInOrder(['a1', 'a2', 'a3']);
  expect(await statusesOf(asked)).toEqual([200, 200, 200, 429]);
  expect(begun).toEqual(['a1', 'a2', 'a3']);
});

test('a caller who hangs up while waiting leaves the row, and others come up', async () => {
  const asked = await askInOrder(A, ['a1']);
  const gone = new AbortController();
  const headers = { 'x-api-key': A, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'dropped' });
  const dropped = fetch(`${http.url}/api/slow`, { method: 'POST', headers, body, signal: gone.signal });
  await until(() => callers.length === 2);
  asked.push(...(await askInOrder(A, ['a3'])));
  gone.abort();
  await expect(dropped).rejects.toThrow();
  await until(() => callers[1]?.aborted === true);
  asked.push(...(await askInOrder(A, ['a4'])));
  await endInOrder(['a1', 'a3', 'a4']);
  expect(await statusesOf(asked)).toEqual([200, 200, 200]);
  expect(begun).toEqual(['a1', 'a3', 'a4']);
});

test('a repeat under the same Idempotency-Key waits, and gets the first answer', async () => {
  const headers = { 'idempotency-key': 'same' };
  const first = ask('a1', A, headers);
  await until(() => begun.length === 1);
  const repeat = ask('a1', A, headers);
  await until(() => callers.length === 2);
  await endInOrder(['a1']);
  expect((await first).status).toBe(200);
  expect((await repeat).headers.get('idempotent-replayed')).toBe('true');
  expect(begun).toEqual(['a1']);
});

test('a route that takes no merchant’s key cannot serialize what is a merchant’s', () => {
  const deps = testServerDeps(database.db, { routes: [] });
  const wrong = { ...slow, auth: { by: 'operator', roles: ['admin'] } } as typeof slow;
  expect(() => createApiServer({ ...deps, routes: [wrong] })).toThrow(/doSlowly .* takes no merchant's key/);
});
