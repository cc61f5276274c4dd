import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';

import { createOperatorKey } from '../../src/access/api-keys.ts';
import { createOperator } from '../../src/access/operators.ts';
import { startApi, type RunningApi } from '../../src/app/api.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/log.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { LOCAL_PEPPER } from '../../src/lib/secrets.ts';
import { productRoutes } from '../docs/document.ts';
import { buildMerchant } from '../support/build.ts';
import { runCommandLine } from '../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const ROUTES = productRoutes().map(({ method, path, auth }) => ({
  method,
  path: path.replaceAll(/:\w+/g, () => newId('req')),
  by: auth.by,
}));
const OF_OPERATORS = ROUTES.filter(({ by }) => by === 'operator');
const OF_OTHERS = ROUTES.filter(({ by }) => by !== 'operator' && by !== 'public');

let database: TestDatabase;
/** Without a console. */
let api: RunningApi;
/** With the operators' routes on its public listener. */
let open: RunningApi;
let key: string;

async function start(settings: Record<string, string>): Promise<RunningApi> {
  const ports = {
    API_PORT: await anyFreePort(),
    METRICS_PORT: await anyFreePort(),
    PORTAL_PORT: await anyFreePort(),
    CONSOLE_PORT: await anyFreePort(),
  };
  const config = readConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0',
    ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
    PORTAL_URL: `http://localhost:${ports.PORTAL_PORT}`,
    ...settings,
  });
  return startApi(config, { log: createLogger('silent', 'test'), project: PROJECT, version: 'test' });
}

beforeAll(async () => {
  database = await createTestDatabase();
  [api, open] = [await start({}), await start({ OPERATORS_ON_PUBLIC_API: 'true' })];
  key = await database.db.transaction(async (trx) => {
    const { id } = await createOperator(trx, { name: 'Admin', email: 'admin@meskot.example', role: 'admin' });
    const deps = { trx, pepper: LOCAL_PEPPER, clock: () => new Date() };
    return (await createOperatorKey(deps, { operatorId: id })).secret;
  });
});
afterAll(async () => {
  await Promise.all([api.stop(), open.stop()]);
  await database.drop();
});

type Request = { headers?: Record<string, string>; body?: object };

async function ask(url: string, method: string, { headers = {}, body }: Request = {}) {
  const json = body && { body: JSON.stringify(body) };
  const response = await fetch(url, { method, headers: { ...(json && JSON_TYPE), ...headers }, ...json });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  // The expectations declare its shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  return { status: response.status, text, body: (isJson ? JSON.parse(text) : undefined) as any };
}
const JSON_TYPE = { 'content-type': 'application/json' };
const withKey = () => ({ headers: { 'x-api-key': key } });

test("the public listener and the portal have none of the operators' routes, and answer the same with a valid key", async () => {
  expect(OF_OPERATORS.length).toBeGreaterThan(90);
  for (const url of [api.url, api.portalUrl]) {
    for (const { method, path } of OF_OPERATORS) {
      const answers = await Promise.all([ask(url + path, method), ask(url + path, method, withKey())]);
      const seen = answers.map(({ status, body }) => [status, body.error.code, body.message]);
      const unknown = [404, 'NOT_FOUND', `There is no ${method} ${path}. All paths are listed at /docs.`];
      expect({ method, path, seen }).toEqual({ method, path, seen: [unknown, unknown] });
    }
  }
});

test("the operators' listener has all of their routes without a console, and none of merchants and people", async () => {
  for (const { method, path } of OF_OPERATORS) {
    const { status, body } = await ask(api.operatorsUrl + path, method);
    expect({ method, path, status, code: body.error.code }).toEqual({
      method,
      path,
      status: 401,
      code: 'AUTHENTICATION_REQUIRED',
    });
  }
  for (const { method, path } of OF_OTHERS) {
    expect({ method, path, ...(await ask(api.operatorsUrl + path, method, withKey())) }).toMatchObject({
      method,
      path,
      status: 404,
    });
  }
  const me = await ask(`${api.operatorsUrl}/api/ops/me`, 'GET', withKey());
  expect([me.status, me.body.data.role]).toEqual([200, 'admin']);
  expect((await ask(`${api.operatorsUrl}/sign-in`, 'GET')).status).toBe(404);
});

test("a setting adds the operators' routes to the public listener, and leaves their own", async () => {
  for (const url of [open.url, open.operatorsUrl]) {
    expect((await ask(`${url}/api/ops/me`, 'GET', withKey())).body.data.role).toBe('admin');
    expect((await ask(`${url}/api/ops/me`, 'GET')).status).toBe(401);
  }
});

test("each listener's docs have its own routes only: those of merchants do not mention operators", async () => {
  const documentOf = (url: string) => ask(`${url}/openapi.json`, 'GET');
  for (const url of [api.url, open.url]) {
    expect((await documentOf(url)).text).not.toMatch(/[/]api[/]ops|operatorKey|consoleSession/);
    expect((await ask(`${url}/docs`, 'GET')).text).not.toContain('/api/ops');
    expect((await ask(`${url}/docs/api/operators-queue`, 'GET')).status).toBe(404);
  }
  expect((await documentOf(api.url)).body.servers).toEqual([{ url: 'http://localhost:4000' }]);
  const { servers, paths } = (await documentOf(api.operatorsUrl)).body;
  // Their own, whatever its address is: not that of merchants.
  expect(servers).toEqual([{ url: '/' }]);
  const ofOperators = Object.keys(paths);
  expect(ofOperators.filter((path) => !path.startsWith('/api/ops/'))).toEqual([
    '/livez',
    '/readyz',
    '/api/invitations/accept',
  ]);
  expect(ofOperators.length).toBeGreaterThan(80);
  expect((await ask(`${api.operatorsUrl}/docs/api/operators-queue`, 'GET')).status).toBe(200);
});

describe('an invitation', () => {
  const post = async (path: string, body: object) =>
    (await ask(`${api.operatorsUrl}/api/ops/${path}`, 'POST', { ...withKey(), body })).body.data;
  const accept = async (url: string, token: string) => {
    const { status, body } = await ask(`${url}/api/invitations/accept`, 'POST', { body: { token } });
    return { status, secret: body.data?.secret, message: body.message };
  };
  const invited = async (name: string): Promise<string> =>
    (await post('operators', { name, email: `${name}@meskot.example`, role: 'viewer' })).invitation.token;
  const invitedMerchant = async (): Promise<string> => {
    const { merchantId } = await buildMerchant(database.db);
    return (await post(`merchants/${merchantId}/key-invitations`, { environment: 'sandbox' })).token;
  };

  test('of an operator is accepted at their listener only, and is not used up by the public one', async () => {
    const token = await invited('selam');
    const refused = await accept(api.url, token);
    expect([refused.status, refused]).toEqual([401, await accept(api.url, 'invite_none')]);
    expect(await accept(api.operatorsUrl, token)).toMatchObject({
      status: 201,
      secret: expect.stringMatching(/^ok_/),
    });
  });

  test('of a merchant is accepted at the public listener only', async () => {
    const token = await invitedMerchant();
    expect((await accept(api.operatorsUrl, token)).status).toBe(401);
    expect(await accept(api.url, token)).toMatchObject({ status: 201, secret: expect.stringMatching(/^sk_test_/) });
  });

  test('of either is accepted at a public listener that serves operators, too', async () => {
    for (const token of [await invited('hirut'), await invitedMerchant()]) {
      expect((await accept(open.url, token)).status).toBe(201);
    }
  });
});

test("the operators' listener is alive and ready as the others are, and counts requests in the same metrics", async () => {
  for (const path of ['/livez', '/readyz']) expect((await ask(api.operatorsUrl + path, 'GET')).status).toBe(200);
  await ask(`${api.operatorsUrl}/api/ops/overview`, 'GET');
  const { text } = await ask(String(api.metricsUrl), 'GET');
  expect(text).toMatch(/route="GET \/api\/ops\/overview",status="401"|status="401",route="GET \/api\/ops\/overview"/);
});

test("a command that reaches a listener without operators names the operators' one and both settings", async () => {
  const { exitCode, notes } = await runCommandLine({ url: api.url, key }, ['work', 'list']);
  expect(exitCode).toBe(4);
  expect(notes).toContain(
    "Next: set MESKOT_URL to the operators' listener (CONSOLE_PORT, 4004). This address serves no operators, unless its API " +
      'has OPERATORS_ON_PUBLIC_API=true.',
  );
  expect((await runCommandLine({ url: api.operatorsUrl, key }, ['work', 'list'])).exitCode).toBe(0);
  const missing = await runCommandLine({ url: api.operatorsUrl, key }, ['merchants', 'get', newId('mrc')]);
  expect([missing.exitCode, missing.notes.includes('OPERATORS_ON_PUBLIC_API')]).toEqual([4, false]);
});

test('wrong keys at the listener of operators are limited by address, as at the others', async () => {
  const limited = await start({ RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '2' });
  try {
    const guess = async (url: string) =>
      (await ask(`${url}/api/ops/me`, 'GET', { headers: { 'x-api-key': 'ok_guess' } })).status;
    expect([await guess(limited.operatorsUrl), await guess(limited.operatorsUrl)]).toEqual([401, 401]);
    expect(await guess(limited.operatorsUrl)).toBe(429);
    const channels = await ask(`${limited.url}/api/checkout/channels`, 'GET', {
      headers: { 'x-api-key': 'sk_test_guess' },
    });
    expect(channels.status).toBe(429);
  } finally {
    await limited.stop();
  }
});

test("the operators' listener stays on loopback when the others listen on every address", async () => {
  const exposed = await start({
    MESKOT_MODE: 'production',
    API_KEY_PEPPER: randomBytes(24).toString('hex'),
    ENCRYPTION_KEYS: `own:${randomBytes(32).toString('base64')}`,
    PUBLIC_BASE_URL: 'https://pay.example.et',
    PORTAL_URL: 'https://portal.example.et',
    SMTP_URL: 'smtp://mail.example.et',
    KYC_DOCUMENTS_DIR: tmpdir(),
    REPORTS_DIR: tmpdir(),
    SHUTDOWN_DELAY_SECONDS: '0',
    LISTEN_HOST: '0.0.0.0',
  });
  try {
    expect([exposed.url, exposed.portalUrl, exposed.operatorsUrl].map((url) => new URL(String(url)).hostname)).toEqual([
      '0.0.0.0',
      '0.0.0.0',
      '127.0.0.1',
    ]);
  } finally {
    await exposed.stop();
  }
});
