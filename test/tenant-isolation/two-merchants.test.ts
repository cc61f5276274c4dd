import { SCOPES_BEFORE_VERIFICATION } from '../../src/http/route.ts';
import { newId, type IdPrefix } from '../../src/lib/ids.ts';
import type { HttpResponse } from '../support/http.ts';
import { createMerchantWithEverything, untilIdle, type Merchant } from './belongings.ts';
import { readOperations, type Operation } from './contract.ts';
import { readRows } from './rows.ts';
import { ownedNames, pathWith, validBody, validQuery } from './samples.ts';
import { startTestService, type TestService } from './service.ts';

let service: TestService;
/** The operations of merchants, and those of operators only. */
let operations: Operation[];
let operatorsOnly: Operation[];
let scope: Merchant;
let stranger: Merchant;

beforeAll(async () => {
  service = await startTestService();
  const all = await readOperations(service);
  operations = all.filter(({ by }) => by !== 'operator');
  operatorsOnly = all.filter(({ by }) => by === 'operator');
  [scope, stranger] = await Promise.all([
    createMerchantWithEverything(service, 'HOLDER'),
    createMerchantWithEverything(service, 'STRANGER'),
  ]);
  await untilIdle(service);
}, 90_000);
afterAll(() => service.close(), 60_000);

const call = (operation: Operation, ids: Record<string, string>, key: string | null) =>
  service.send(operation.method, pathWith(operation, ids) + validQuery(operation), { key, body: validBody(operation) });

/** An id of each kind. */
const firstIds = (merchant: Merchant): Record<string, string> =>
  Object.fromEntries(Object.entries(merchant.ids).map(([name, [id = '']]) => [name, id]));

/** Ids of the same kinds that do not exist. */
const inventedIds = (): Record<string, string> =>
  Object.fromEntries(Object.entries(firstIds(scope)).map(([name, id]) => [name, newId(id.split('_')[0] as IdPrefix)]));

/** A response without the values that differ between any two responses. */
function comparable({ status, body }: HttpResponse, ids: Record<string, string>): unknown {
  const { requestId: _, timestamp: __, ...rest } = body;
  const text = Object.entries(ids).reduce((all, [name, id]) => all.replaceAll(id, `<${name}>`), JSON.stringify(rest));
  return { status, body: JSON.parse(text) };
}

test('a request for an id of another merchant gets the response of an id that does not exist, and changes nothing', async () => {
  const before = await readRows(service.fixture.db);
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
      const inexistent = await call(operation, invented, stranger.key);
      expect({ route: operation.name, status: theirs.status, code: theirs.body.error?.code }).toEqual({
        route: operation.name,
        status: 404,
        code: 'NOT_FOUND',
      });
      expect(comparable(theirs, ids)).toEqual(comparable(inexistent, invented));
    }
  }
  expect(walked.length).toBeGreaterThanOrEqual(18);
  expect(await readRows(service.fixture.db)).toEqual(before);
}, 60_000);

test('the merchant itself gets a 200 where the other merchant got an error', async () => {
  for (const operation of operations.filter(({ method, by }) => method === 'GET' && by !== 'public')) {
    const response = await call(operation, firstIds(scope), scope.key);
    expect({ route: operation.name, status: response.status }).toEqual({ route: operation.name, status: 200 });
  }
});

test("another merchant's id in a query or a body gets the response of an id that does not exist, and changes no row of that merchant", async () => {
  const before = await readRows(service.fixture.db, scope.merchantId);
  const walked: string[] = [];
  for (const operation of operations) {
    const names = [...operation.queryNames, ...operation.bodyNames].filter((name) => Object.hasOwn(scope.ids, name));
    for (const name of names) {
      walked.push(`${operation.name} ${name}`);
      const requestWith = async (id: string): Promise<unknown> => {
        const inQuery = operation.queryNames.includes(name);
        const path = pathWith(operation, firstIds(stranger)) + validQuery(operation, inQuery ? { [name]: id } : {});
        const body = inQuery ? validBody(operation) : { ...validBody(operation), [name]: id };
        const response = await service.send(operation.method, path, { key: stranger.key, body });
        const made = typeof response.body.data?.jobId === 'string' ? { jobId: response.body.data.jobId as string } : {};
        return comparable(response, { [name]: id, ...made });
      };
      const [theirs = ''] = scope.ids[name] ?? [];
      expect({ route: operation.name, name, response: await requestWith(theirs) }).toEqual({
        route: operation.name,
        name,
        response: await requestWith(inventedIds()[name] ?? ''),
      });
    }
  }
  expect(walked.length).toBeGreaterThanOrEqual(6);
  await untilIdle(service);
  expect(await readRows(service.fixture.db, scope.merchantId)).toEqual(before);
});

test('no response to a merchant contains data of another merchant', async () => {
  for (const operation of operations.filter(({ method }) => method === 'GET')) {
    const observed = await call(operation, firstIds(stranger), stranger.key);
    const leaked = scope.marks.filter((mark) => observed.text.includes(mark));
    expect({ route: operation.name, status: observed.status, leaked }).toEqual({
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

test('no receiver gets events of another merchant', () => {
  for (const { path, body } of [...service.healthy.requests, ...service.failing.requests]) {
    const [own, other] = path.endsWith('/HOLDER') ? [scope, stranger] : [stranger, scope];
    expect(body.toString()).toContain(own.merchantId);
    expect(other.marks.filter((mark) => body.toString().includes(mark))).toEqual([]);
  }
});

describe('access to operations', () => {
  const guarded = () => operations.filter(({ by }) => by !== 'public');

  test('only the operations documented as public return data without a key', async () => {
    const open = operations.filter(({ by }) => by === 'public').map(({ name }) => name);
    expect(open.toSorted()).toEqual(['GET /livez', 'GET /readyz', 'POST /api/invitations/accept']);
    const before = await readRows(service.fixture.db);
    for (const operation of guarded()) {
      for (const key of [null, 'sk_test_wrong', `${scope.key}x`]) {
        const { status } = await call(operation, firstIds(scope), key);
        expect({ route: operation.name, status }).toEqual({ route: operation.name, status: 401 });
      }
    }
    expect(await readRows(service.fixture.db)).toEqual(before);
  });

  test('a live key can use only the operations of the verification until the merchant is verified', async () => {
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

  test('a key with all scopes except the required one gets an error that names that scope', async () => {
    const before = await readRows(service.fixture.db);
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
    expect(await readRows(service.fixture.db)).toEqual(before);
  });

  test("operators' routes reject merchants' keys and requests without a key", async () => {
    const before = await readRows(service.fixture.db);
    for (const operation of operatorsOnly) {
      const path = pathWith(operation, firstIds(scope));
      const requestWith = async (key: string | null) =>
        (await service.send(operation.method, path, { key, body: operation.method === 'GET' ? undefined : {} })).status;
      const statuses = [
        await requestWith(scope.key),
        await requestWith(scope.liveKey),
        await requestWith(null),
        await requestWith('ok_wrong'),
      ];
      expect({ route: operation.name, statuses }).toEqual({ route: operation.name, statuses: [403, 403, 401, 401] });
    }
    expect(operatorsOnly.length).toBeGreaterThanOrEqual(15);
    expect(await readRows(service.fixture.db)).toEqual(before);
  });

  test("merchants' routes reject an operator's key", async () => {
    const key = await service.newOperatorKey();
    const before = await readRows(service.fixture.db);
    for (const operation of guarded()) {
      const { status, body } = await call(operation, firstIds(scope), key);
      expect({ route: operation.name, status, code: body.error?.code }).toEqual({
        route: operation.name,
        status: 403,
        code: 'INSUFFICIENT_SCOPE',
      });
    }
    expect(await readRows(service.fixture.db)).toEqual(before);
  });

  test("a session's token gives access to that session only", async () => {
    const headers = { 'x-client-token': scope.clientToken };
    const others = [...stranger.ids['sessionId']!, scope.ids['sessionId']![1]!, newId('cs')];
    const before = await readRows(service.fixture.db);
    for (const operation of guarded()) {
      const isSessions = operation.by === 'key-or-client-token';
      for (const sessionId of isSessions ? others : [scope.ids['sessionId']![0]!]) {
        const path = pathWith(operation, { ...firstIds(scope), sessionId }) + validQuery(operation);
        const { status } = await service.send(operation.method, path, { headers, body: validBody(operation) });
        expect({ route: operation.name, status }).toEqual({ route: operation.name, status: 401 });
      }
    }
    expect(await readRows(service.fixture.db)).toEqual(before);
    const own = `/api/checkout/hooks/status/${scope.ids['sessionId']![0]}`;
    expect((await service.send('GET', own, { headers })).status).toBe(200);
  });
});

describe('undocumented input', () => {
  test('an undocumented query parameter or body field is rejected by name', async () => {
    const before = await readRows(service.fixture.db);
    const expectRefused = (operation: Operation, { status, body }: HttpResponse): void => {
      expect({ route: operation.name, status, code: body.error?.code }).toEqual({
        route: operation.name,
        status: 400,
        code: 'VALIDATION_ERROR',
      });
      expect(body.error.details).toContainEqual({
        field: 'surplus',
        issue: expect.stringContaining('is not a'),
        code: 'unknown_field',
      });
      expect(body.message).toContain('surplus');
    };
    for (const operation of operations) {
      const path = pathWith(operation, firstIds(scope));
      const body = validBody(operation);
      const surplus = validQuery(operation, { surplus: '1' });
      expectRefused(operation, await service.send(operation.method, path + surplus, { key: scope.key, body }));
      if (!body || body instanceof Blob) continue;
      const more = { key: scope.key, body: { ...body, surplus: 1 } };
      expectRefused(operation, await service.send(operation.method, path + validQuery(operation), more));
    }
    expect(await readRows(service.fixture.db)).toEqual(before);
  });

  test('a documented path accepts only its documented methods', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
    for (const path of new Set(operations.map((operation) => operation.path))) {
      const documented = operations.filter((operation) => operation.path === path).map(({ method }) => method);
      const example = operations.find((operation) => operation.path === path)!;
      for (const method of methods.filter((other) => !documented.includes(other))) {
        const response = await service.send(method, pathWith(example, firstIds(scope)), { key: scope.key });
        const takenByOther = operations.some(
          (operation) => operation.method === method && matches(operation.path, pathWith(example, firstIds(scope))),
        );
        if (takenByOther) continue;
        expect({ path, method, status: response.status }).toEqual({ path, method, status: 405 });
        const allowed =
          response.headers
            .get('allow')
            ?.split(', ')
            .filter((name) => name !== 'HEAD') ?? [];
        expect(allowed).toEqual(expect.arrayContaining(documented));
      }
    }
  });
});

/** Whether a documented path matches the address: /txns/{transactionId} also matches /txns/get_all_txns. */
function matches(path: string, address: string): boolean {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(address);
}
