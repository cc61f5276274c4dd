import { z } from 'zod';

import { deleteOldIdempotencyKeys, readIdempotentCall } from '../../src/http/idempotency.ts';
import { writeRoute, type Caller } from '../../src/http/route.ts';
import { createTransactionRunner } from '../../src/outbox/record.ts';
import { runSql, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { itemRoutes, type ItemJournal } from './routes.ts';

let database: TestDatabase;
let http: TestServer;
const journal: ItemJournal = { runs: 0 };
/** A change that its path, query and body determine together. */
const rename = writeRoute('POST /api/items/:id/name', {
  operationId: 'renameItem',
  tag: 'Checkout',
  summary: 'Gives an item a name',
  auth: { by: 'key', scope: 'checkout:write' },
  params: z.strictObject({ id: z.string().max(64) }),
  query: z.strictObject({ suffix: z.string().max(10).optional() }),
  body: z.strictObject({ name: z.string().max(64) }),
  responses: { 200: z.object({ id: z.string(), name: z.string() }) },
  handle: async ({ params, query, body }) => ({
    message: 'Named',
    data: { id: params.id, name: body.name + (query.suffix ?? '') },
  }),
});

beforeAll(async () => {
  database = await createTestDatabase();
  await database.db
    .knex()('merchant')
    .insert([
      { id: 'mrc_A', name: 'A' },
      { id: 'mrc_B', name: 'B' },
    ]);
  const routes = [...itemRoutes(journal), rename];
  http = await startTestServer(testServerDeps(database.db, { routes }), stubKey('mrc_A'));
});
afterAll(async () => {
  await http.close();
  await database.drop();
});
beforeEach(() => {
  journal.runs = 0;
  journal.beforeEffect = undefined;
  journal.afterEffect = undefined;
});

let count = 0;
const item = (more = {}) => ({ id: `mrc_item${(count += 1)}`, name: 'item', ...more });
const create = (body: unknown, idempotencyKey: string, key?: string) =>
  http.send('POST', '/api/items', {
    body,
    ...(key && { key }),
    headers: { 'idempotency-key': idempotencyKey },
  });
const age = async (key: string) =>
  runSql(database.ownerUrl, `UPDATE idempotency_key SET created_at = now() - interval '86401 s' WHERE key = '${key}'`);
const merchants = async (id: string) => Number((await database.db.knex()('merchant').where({ id })).length);

describe('Idempotency-Key', () => {
  test('a second request with the same key gets the first response, byte for byte', async () => {
    const body = item();
    const first = await create(body, 'same');
    const second = await create(body, 'same');
    expect(first.status).toBe(201);
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(journal.runs).toBe(1);
  });

  test('50 concurrent requests with one key have one effect and one response', async () => {
    const body = item();
    journal.afterEffect = () => new Promise((resolve) => setTimeout(resolve, 50));
    const responses = await Promise.all(Array.from({ length: 50 }, () => create(body, 'fifty')));
    const made = responses.filter((response) => response.status === 201);
    const inProgress = responses.filter((response) => response.status === 409);
    expect(made.length + inProgress.length).toBe(50);
    expect(new Set(made.map((response) => response.text)).size).toBe(1);
    for (const response of inProgress) expect(response.body.error.code).toBe('IDEMPOTENCY_IN_PROGRESS');
    expect(journal.runs).toBe(1);
    expect(await merchants(body.id)).toBe(1);
  });

  test('a second request with the same key while the first runs is a 409 at once', async () => {
    const body = item();
    let second: Awaited<ReturnType<typeof create>> | undefined;
    journal.afterEffect = async () => {
      second = await create(body, 'running');
    };
    expect((await create(body, 'running')).status).toBe(201);
    expect(second?.status).toBe(409);
    expect(second?.body.error.code).toBe('IDEMPOTENCY_IN_PROGRESS');
  });

  test('concurrent repeats have one effect, even when they get the lock right after its release', async () => {
    for (let round = 0; round < 10; round += 1) {
      const body = item();
      const responses = await Promise.all(Array.from({ length: 20 }, () => create(body, `round ${round}`)));
      for (const response of responses) {
        expect([201, 409]).toContain(response.status);
        if (response.status === 409) expect(response.body.error.code).toBe('IDEMPOTENCY_IN_PROGRESS');
      }
      expect(await merchants(body.id)).toBe(1);
    }
  });

  test.each(['beforeEffect', 'afterEffect'] as const)(
    'a first response committed after the look-up, %s, is replayed and the second effect rolled back',
    async (moment) => {
      const body = item();
      const key = `late ${moment}`;
      const first = await create(body, key);
      // As if the look had been made before the first commit: until the moment comes, the response cannot be seen.
      await database.db
        .knex()('idempotency_key')
        .where({ key })
        .update({ created_at: new Date(0) });
      if (moment === 'afterEffect') {
        await runSql(database.ownerUrl, `DELETE FROM merchant WHERE id = '${body.id}'`);
      }
      journal[moment] = async () => {
        await database.db.knex()('idempotency_key').where({ key }).update({ created_at: new Date() });
      };
      const second = await create(body, key);
      expect(second.text).toBe(first.text);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(await merchants(body.id)).toBe(moment === 'afterEffect' ? 0 : 1);
    },
  );

  test('the same key with another body is a 422', async () => {
    await create(item(), 'reused');
    const response = await create(item(), 'reused');
    expect(response.status).toBe(422);
    expect(response.body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  test.each([
    ['path', '/api/items/1/name', '/api/items/2/name'],
    ['query', '/api/items/1/name?suffix=a', '/api/items/1/name?suffix=b'],
    ['query, which it had none of,', '/api/items/1/name', '/api/items/1/name?suffix=b'],
  ])('a repeated idempotency key with the same body and another %s gets a 422', async (which, first, other) => {
    const request = { body: { name: 'one' }, headers: { 'idempotency-key': `other ${which}` } };
    const made = await http.send('POST', first, request);
    expect(made.status).toBe(200);
    const response = await http.send('POST', other, request);
    expect(response.status).toBe(422);
    expect(response.body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect((await http.send('POST', first, request)).text).toBe(made.text);
  });

  test('the same key of another merchant or environment is independent', async () => {
    const [a, b, live] = [item(), item(), item()];
    expect((await create(a, 'shared')).body.data['id']).toBe(a.id);
    expect((await create(b, 'shared', stubKey('mrc_B'))).body.data['id']).toBe(b.id);
    expect((await create(live, 'shared', stubKey('mrc_A', 'live'))).body.data['id']).toBe(live.id);
  });

  test('the same key of a merchant and of each of its customers is independent', () => {
    const scope = { merchantId: 'mrc_A', environment: 'sandbox' } as const;
    const callers: Caller[] = [
      { ...scope, kind: 'key', keyId: 'key_1', scopes: [] },
      ...['cs_1', 'cs_2'].map((sessionId) => ({ ...scope, kind: 'client' as const, sessionId })),
    ];
    const request = { key: 'same', route: 'pay', url: '/', rawBody: '' };
    expect(new Set(callers.map((caller) => readIdempotentCall({ ...request, caller })?.route)).size).toBe(3);
  });

  test('requests without a key have an effect each', async () => {
    await http.send('POST', '/api/items', { body: item() });
    await http.send('POST', '/api/items', { body: item() });
    expect(journal.runs).toBe(2);
  });

  test.each(['', 'x'.repeat(256), 'tab\there'])('the malformed idempotency key %j gets a 400', async (key) => {
    const response = await create(item(), key);
    expect(response.status).toBe(400);
    expect(response.body.error.details[0]?.field).toBe('Idempotency-Key');
  });

  test.each([
    ['item', 'item'],
    ['rejected', 'item'],
    ['rejected', 'rejected'],
  ])('a key can be used again after 24 hours: for an item that was %s, then for one that is %s', async (old, name) => {
    const body = item({ name });
    await create(item({ name: old }), body.id);
    await age(body.id);
    const first = await create(body, body.id);
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([name === 'item' ? 201 : 409, null]);
    expect((await create(body, body.id)).headers.get('idempotent-replayed')).toBe('true');
  });

  test('the periodic job deletes responses older than 24 hours only', async () => {
    for (const key of ['old', 'fresh']) await create(item(), key);
    await age('old');
    expect(await deleteOldIdempotencyKeys(database.db)).toBe(1);
    expect(await database.db.knex()('idempotency_key').where({ key: 'fresh' })).toHaveLength(1);
  });
});

describe('stored responses', () => {
  test('a business error is stored and replayed', async () => {
    const body = item({ name: 'rejected' });
    const first = await create(body, 'rejected');
    const second = await create(body, 'rejected');
    expect(first.status).toBe(409);
    expect(first.body.error.code).toBe('INVALID_STATE');
    expect(second.text).toBe(first.text);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
  });

  test('a validation error and an internal error leave the key free', async () => {
    const body = item();
    expect((await create({ wrong: 1 }, 'free')).status).toBe(400);
    journal.afterEffect = () => Promise.reject(new Error('no disk'));
    expect((await create(body, 'free')).status).toBe(500);
    journal.afterEffect = undefined;
    expect((await create(body, 'free')).status).toBe(201);
  });

  test('a crash before the commit leaves no effect and no response, and the key free', async () => {
    const body = item();
    journal.afterEffect = async () => {
      const [{ pid }] = (
        await database.db
          .knex()
          .raw(`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`)
      ).rows;
      await database.db.knex().raw('SELECT pg_terminate_backend(?)', [pid]);
    };
    expect((await create(body, 'crash')).status).toBe(503);
    expect(await merchants(body.id)).toBe(0);
    expect(await database.db.knex()('idempotency_key').where({ key: 'crash' })).toHaveLength(0);
    journal.afterEffect = undefined;
    expect((await create(body, 'crash')).status).toBe(201);
  });

  test('responses are stored encrypted', async () => {
    await create(item({ name: 'planted-secret' }), 'sealed');
    const [{ responseBody }] = await database.db.knex()('idempotency_key').where({ key: 'sealed' });
    expect(responseBody.toString()).not.toContain('planted-secret');
  });

  test('a repeat gets the result that `afterCommit` has changed', async () => {
    const body = item({ afterCommit: 'adds' });
    const first = await create(body, 'finished');
    expect(first.body.data['name']).toBe('finished');
    expect((await create(body, 'finished')).text).toBe(first.text);
  });

  test('when `afterCommit` fails, the committed response is sent and stored', async () => {
    const body = item({ afterCommit: 'fails' });
    const first = await create(body, 'unfinished');
    expect(first.status).toBe(201);
    expect((await create(body, 'unfinished')).text).toBe(first.text);
  });
});

test.each([
  ['with a key', { 'idempotency-key': 'deadlock' }],
  ['without a key', {}],
])('a transaction that PostgreSQL aborts in a deadlock runs again, %s', async (_, headers) => {
  const body = item();
  journal.beforeEffect = async () => {
    journal.beforeEffect = undefined;
    throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
  };
  const response = await http.send('POST', '/api/items', { body, headers });
  expect([response.status, response.body.data]).toEqual([201, { id: body.id, name: body.name }]);
  expect([journal.runs, await merchants(body.id)]).toEqual([1, 1]);
});

test('an idempotent change costs two statements more than without a key', async () => {
  const statements: string[] = [];
  const listen = (query: { sql: string }): void => void statements.push(query.sql);
  database.db.events.on('statement', listen);
  await create(item(), 'counted');
  database.db.events.off('statement', listen);
  expect(statements).toHaveLength(3);
});

test('two processes share the keys: the second one replays what the first one did', async () => {
  const other = await startTestServer(
    testServerDeps(database.db, {
      routes: itemRoutes({ runs: 0 }),
      runInTransaction: createTransactionRunner(database.db, () => {}),
    }),
    stubKey('mrc_A'),
  );
  const body = item();
  const request = { body, headers: { 'idempotency-key': 'two' } };
  const first = await http.send('POST', '/api/items', request);
  expect((await other.send('POST', '/api/items', request)).text).toBe(first.text);
  await other.close();
});
