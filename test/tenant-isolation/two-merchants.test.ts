import { SCOPES_BEFORE_VERIFICATION } from '../../src/http/route.ts';
import { newId, type IdPrefix } from '../../src/lib/ids.ts';
import type { HttpResponse } from '../support/http.ts';
import { createMerchantWithEverything, settle, type Merchant } from './belongings.ts';
import { readOperations, type Operation } from './contract.ts';
import { readRows } from './rows.ts';
import { ownedNames, pathWith, validBody, validQuery } from './samples.ts';
import { startWalls, type Walls } from './world.ts';

let walls: Walls;
/** What merchants may call, and what only the platform's own people may. */
let operations: Operation[];
let operatorsOnly: Operation[];
let scope: Merchant;
let stranger: Merchant;

beforeAll(async () => {
  walls = await startWalls();
  const all = await readOperations(walls);
  operations = all.filter(({ by }) => by !== 'operator');
  operatorsOnly = all.filter(({ by }) => by === 'operator');
  [scope, stranger] = await Promise.all([
    createMerchantWithEverything(walls, 'HOLDER'),
    createMerchantWithEverything(walls, 'STRANGER'),
  ]);
  await settle(walls);
}, 90_000);
afterAll(() => walls.close(), 60_000);

const call = (operation: Operation, ids: Record<string, string>, key: string | null) =>
  walls.send(operation.method, pathWith(operation, ids) + validQuery(operation), { key, body: validBody(operation) });

/** The first id of each kind. */
const firstIds = (merchant: Merchant): Record<string, string> =>
  Object.fromEntries(Object.entries(merchant.ids).map(([name, [id = '']]) => [name, id]));

/** Ids of the same kinds that nobody ever had. */
const inventedIds = (): Record<string, string> =>
  Object.fromEntries(Object.entries(firstIds(scope)).map(([name, id]) => [name, newId(id.split('_')[0] as IdPrefix)]));

/** An answer without what differs between any two answers. */
function comparable({ status, body }: HttpResponse, ids: Record<string, string>): unknown {
  const { requestId: _, timestamp: __, ...rest } = body;
  const text = Object.entries(ids).reduce((all, [name, id]) => all.replaceAll(id, `<${name}>`), JSON.stringify(rest));
  return { status, body: JSON.parse(text) };
}

test('another merchant gets for every id the answer of an id that never was, and changes nothing', async () => {
  const before = await readRows(walls.world.db);
  const walked: string[] = [];
  for (const operation of operations) {
    const owned = ownedNames(operation, scope);
    if (owned.length === 0) continue;
    walked.push(operation.name);
    for (const index of [0, 1]) {
      const ids = Object.fromEntries(
        owned.map((name) => [name, (scope.ids[name]?.[index] ?? scope.ids[name]?.[0]) || '']),
      );
      const theirs = await call(operation, ids, stranger.key);
      const invented = inventedIds();
      const nobodys = await call(operation, invented, stranger.key);
      expect({ route: operation.name, status: theirs.status, code: theirs.body.error?.code }).toEqual({
        route: operation.name,
        status: 404,
        code: 'NOT_FOUND',
      });
      expect(comparable(theirs, ids)).toEqual(comparable(nobodys, invented));
    }
  }
  expect(walked.length).toBeGreaterThanOrEqual(18);
  expect(await readRows(walls.world.db)).toEqual(before);
}, 60_000);

test('the owner gets an answer where the other merchant got none', async () => {
  for (const operation of operations.filter(({ method, by }) => method === 'GET' && by !== 'public')) {
    const answer = await call(operation, firstIds(scope), scope.key);
    expect({ route: operation.name, status: answer.status }).toEqual({ route: operation.name, status: 200 });
  }
});

test("an id of another merchant in a query or a body is answered like one that never was, and touches none of the other's rows", async () => {
  const before = await readRows(walls.world.db, scope.merchantId);
  const walked: string[] = [];
  for (const operation of operations) {
    const names = [...operation.queryNames, ...operation.bodyNames].filter((name) => Object.hasOwn(scope.ids, name));
    for (const name of names) {
      walked.push(`${operation.name} ${name}`);
      const ask = async (id: string): Promise<unknown> => {
        const inQuery = operation.queryNames.includes(name);
        const path = pathWith(operation, firstIds(stranger)) + validQuery(operation, inQuery ? { [name]: id } : {});
        const body = inQuery ? validBody(operation) : { ...validBody(operation), [name]: id };
        const answer = await walls.send(operation.method, path, { key: stranger.key, body });
        const made = typeof answer.body.data?.jobId === 'string' ? { jobId: answer.body.data.jobId as string } : {};
        return comparable(answer, { [name]: id, ...made });
      };
      const [theirs = ''] = scope.ids[name] ?? [];
      expect({ route: operation.name, name, answer: await ask(theirs) }).toEqual({
        route: operation.name,
        name,
        answer: await ask(inventedIds()[name] ?? ''),
      });
    }
  }
  expect(walked.length).toBeGreaterThanOrEqual(6);
  await settle(walls);
  expect(await readRows(walls.world.db, scope.merchantId)).toEqual(before);
});

test("no list and no answer about one's own things shows anything of another merchant", async () => {
  for (const operation of operations.filter(({ method }) => method === 'GET')) {
    const seen = await call(operation, firstIds(stranger), stranger.key);
    const leaked = scope.marks.filter((mark) => seen.text.includes(mark));
    expect({ route: operation.name, status: seen.status, leaked }).toEqual({
      route: operation.name,
      status: 200,
      leaked: [],
    });
    if (!operation.paginated) continue;
    const own = await call(operation, firstIds(scope), scope.key);
    const shows = scope.marks.some((mark) => own.text.includes(mark));
    expect({ route: operation.name, shows, ...(!shows && { own: own.text.slice(0, 300) }) }).toEqual({
      route: operation.name,
      shows: true,
    });
  }
});

test('nothing arrives at a receiver that is not its own', () => {
  for (const { path, body } of [...walls.healthy.requests, ...walls.failing.requests]) {
    const [own, other] = path.endsWith('/HOLDER') ? [scope, stranger] : [stranger, scope];
    expect(body.toString()).toContain(own.merchantId);
    expect(other.marks.filter((mark) => body.toString().includes(mark))).toEqual([]);
  }
});

describe('who may call', () => {
  const guarded = () => operations.filter(({ by }) => by !== 'public');

  test('only the documented routes answer without a key', async () => {
    const open = operations.filter(({ by }) => by === 'public').map(({ name }) => name);
    expect(open.toSorted()).toEqual(['GET /livez', 'GET /readyz', 'POST /api/invitations/accept']);
    const before = await readRows(walls.world.db);
    for (const operation of guarded()) {
      for (const key of [null, 'sk_test_wrong', `${scope.key}x`]) {
        const { status } = await call(operation, firstIds(scope), key);
        expect({ route: operation.name, status }).toEqual({ route: operation.name, status: 401 });
      }
    }
    expect(await readRows(walls.world.db)).toEqual(before);
  });

  test('a live key does nothing until the merchant is verified, but for what verification takes', async () => {
    for (const operation of guarded()) {
      if (operation.scope !== null && SCOPES_BEFORE_VERIFICATION.includes(operation.scope)) continue;
      const { status, body } = await call(operation, firstIds(scope), scope.liveKey);
      const { code } = body.error;
      expect({ route: operation.name, status, code }).toEqual({
        route: operation.name,
        status: 403,
        code: operation.scope === null ? 'INSUFFICIENT_SCOPE' : 'KYC_REQUIRED',
      });
    }
  });

  test('a key with all scopes but the one it needs is told which', async () => {
    const before = await readRows(walls.world.db);
    for (const operation of guarded()) {
      const { scope: needed } = operation;
      if (needed === null) throw new Error(`${operation.name} does not say which scope it needs`);
      const { status, body } = await call(operation, firstIds(scope), scope.without[needed]);
      expect({ route: operation.name, status, code: body.error?.code }).toEqual({
        route: operation.name,
        status: 403,
        code: 'INSUFFICIENT_SCOPE',
      });
      expect(body.message).toContain(needed);
    }
    expect(await readRows(walls.world.db)).toEqual(before);
  });

  test("an operator's routes are closed to merchants and to who has no key", async () => {
    const before = await readRows(walls.world.db);
    for (const operation of operatorsOnly) {
      const path = pathWith(operation, firstIds(scope));
      const ask = async (key: string | null) =>
        (await walls.send(operation.method, path, { key, body: operation.method === 'GET' ? undefined : {} })).status;
      const statuses = [await ask(scope.key), await ask(scope.liveKey), await ask(null), await ask('ok_wrong')];
      expect({ route: operation.name, statuses }).toEqual({ route: operation.name, statuses: [403, 403, 401, 401] });
    }
    expect(operatorsOnly.length).toBeGreaterThanOrEqual(15);
    expect(await readRows(walls.world.db)).toEqual(before);
  });

  test("an operator's key opens no merchant's route", async () => {
    const key = await walls.newOperatorKey();
    const before = await readRows(walls.world.db);
    for (const operation of guarded()) {
      const { status, body } = await call(operation, firstIds(scope), key);
      expect({ route: operation.name, status, code: body.error?.code }).toEqual({
        route: operation.name,
        status: 403,
        code: 'INSUFFICIENT_SCOPE',
      });
    }
    expect(await readRows(walls.world.db)).toEqual(before);
  });

  test("a session's token opens nothing but that session", async () => {
    const headers = { 'x-client-token': scope.clientToken };
    const others = [...stranger.ids['sessionId']!, scope.ids['sessionId']![1]!, newId('cs')];
    const before = await readRows(walls.world.db);
    for (const operation of guarded()) {
      const isSessions = operation.by === 'key-or-client-token';
      for (const sessionId of isSessions ? others : [scope.ids['sessionId']![0]!]) {
        const path = pathWith(operation, { ...firstIds(scope), sessionId }) + validQuery(operation);
        const { status } = await walls.send(operation.method, path, { headers, body: validBody(operation) });
        expect({ route: operation.name, status }).toEqual({ route: operation.name, status: 401 });
      }
    }
    expect(await readRows(walls.world.db)).toEqual(before);
    const own = `/api/checkout/hooks/status/${scope.ids['sessionId']![0]}`;
    expect((await walls.send('GET', own, { headers })).status).toBe(200);
  });
});

describe('the contract is all there is', () => {
  test('a query parameter or body field that no route has is refused by its name', async () => {
    const before = await readRows(walls.world.db);
    const expectRefused = (operation: Operation, { status, body }: HttpResponse): void => {
      expect({ route: operation.name, status, code: body.error?.code }).toEqual({
        route: operation.name,
        status: 400,
        code: 'VALIDATION_ERROR',
      });
      expect(body.error.details).toContainEqual({ field: 'surplus', issue: expect.stringContaining('is not a') });
      expect(body.message).toContain('surplus');
    };
    for (const operation of operations) {
      const path = pathWith(operation, firstIds(scope));
      const body = validBody(operation);
      const surplus = validQuery(operation, { surplus: '1' });
      expectRefused(operation, await walls.send(operation.method, path + surplus, { key: scope.key, body }));
      if (!body || body instanceof Blob) continue;
      const more = { key: scope.key, body: { ...body, surplus: 1 } };
      expectRefused(operation, await walls.send(operation.method, path + validQuery(operation), more));
    }
    expect(await readRows(walls.world.db)).toEqual(before);
  });

  test('a path takes the methods that are documented, and no other', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
    for (const path of new Set(operations.map((operation) => operation.path))) {
      const documented = operations.filter((operation) => operation.path === path).map(({ method }) => method);
      const example = operations.find((operation) => operation.path === path)!;
      for (const method of methods.filter((other) => !documented.includes(other))) {
        const answer = await walls.send(method, pathWith(example, firstIds(scope)), { key: scope.key });
        const takenByOther = operations.some(
          (operation) => operation.method === method && matches(operation.path, pathWith(example, firstIds(scope))),
        );
        if (takenByOther) continue;
        expect({ path, method, status: answer.status }).toEqual({ path, method, status: 405 });
        const allowed =
          answer.headers
            .get('allow')
            ?.split(', ')
            .filter((name) => name !== 'HEAD') ?? [];
        expect(allowed).toEqual(expect.arrayContaining(documented));
      }
    }
  });
});

/** Whether a documented path is that of this address: /txns/{transactionId} is one for /txns/get_all_txns too. */
function matches(path: string, address: string): boolean {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(address);
}
