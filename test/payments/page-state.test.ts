import { request, type ClientRequest } from 'node:http';

import { createLimits } from '../../src/http/limits.ts';
import { openDatabase } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createCheckoutPages } from '../../src/payments/checkout-page/routes.ts';
import { createReadState, pageState } from '../../src/payments/session-state.ts';
import { createTokenAuthenticator, findSession } from '../../src/payments/session.ts';
import {
  ACCEPTED,
  buildAttempt,
  buildFixture,
  buildMerchant,
  buildSession,
  declined,
  PENDING,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NO_LIMITS, startTestServer, testServerDeps, type TestServer } from '../support/http.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;
let server: TestServer;
let statements: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db, { clock: () => new Date() });
  scope = await buildMerchant(database.db);
  server = await serve();
  database.db.events.on('statement', ({ sql }) => void statements.push(sql));
});
afterAll(async () => {
  await server.close();
  await database.drop();
});
beforeEach(() => {
  statements = [];
});

async function serve(): Promise<TestServer> {
  const tokens = createTokenAuthenticator(fixture);
  const pages = createCheckoutPages({ ...fixture, limits: createLimits(NO_LIMITS), tokens });
  return startTestServer(testServerDeps(database.db, { ...tokens, routes: [], routers: [pages] }));
}

type Opened = Awaited<ReturnType<typeof buildSession>>;
const pathOf = ({ sessionId }: Opened, since = '', wait = 25) =>
  `/checkout/${sessionId}/state?since=${since}&wait=${wait}`;
const cookieOf = ({ clientToken }: Opened) => ({ cookie: `meskot_checkout=${clientToken}` });
const ask = async (session: Opened, since?: string, wait?: number) => askOf(server, session, { since, wait });
const askOf = async (
  from: TestServer,
  session: Opened,
  { since, wait }: { since?: string | undefined; wait?: number | undefined },
) => from.send('GET', pathOf(session, since, wait), { headers: cookieOf(session) });
const versionOf = async (session: Opened): Promise<string> => (await ask(session)).body.version;
const reads = () => statements.filter((sql) => sql.includes('LEFT JOIN LATERAL')).length;

/** Opens a wait that is never read to its end. */
function openWait(session: Opened, since: string): ClientRequest {
  const call = request(server.url + pathOf(session, since), { headers: cookieOf(session) });
  call.on('error', () => {}).end();
  return call;
}

test('the state is status, version and seconds left, in about 60 bytes', async () => {
  const answer = await ask(await buildSession(fixture, scope, { expiresInMinutes: 5 }));
  expect(answer.body).toEqual({ status: 'OPEN', version: expect.any(String), secondsLeft: expect.any(Number) });
  expect(answer.body.secondsLeft).toBeGreaterThan(290);
  expect(answer.text.length).toBeLessThan(70);
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test('a request without the cookie of the page learns nothing', async () => {
  const [session, other] = [await buildSession(fixture, scope), await buildSession(fixture, scope)];
  for (const headers of [{}, cookieOf(other)]) {
    const answer = await server.send('GET', pathOf(session), { headers });
    expect([answer.status, answer.body]).toEqual([404, undefined]);
  }
});

test('every change that the page shows ends a wait, made by any process', async () => {
  const other = await serve();
  const session = await buildSession(fixture, scope);
  const wait = async (since: string) => askOf(other, session, { since, wait: 10 });
  const seen: string[] = [];
  let version = await versionOf(session);
  let attempt = '';
  const steps = [
    async () => void (attempt = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId })),
    async () => check(PENDING),
    async () => check(declined(true)),
    async () => void (attempt = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId })),
    async () => check(ACCEPTED),
    async () => void (await fixture.closeUnpaid(session.sessionId, 'CANCELLED')),
  ];
  async function check(outcome: typeof PENDING) {
    fixture.provider.returns(outcome);
    await fixture.checkAttempt(attempt, { notifyWorkflow: false });
  }
  for (const step of steps) {
    const [answer] = await Promise.all([wait(version), step()]);
    seen.push(answer.body.status);
    expect(answer.body.version).not.toBe(version);
    version = answer.body.version;
  }
  expect(seen).toEqual(['PROCESSING', 'PROCESSING', 'OPEN', 'PROCESSING', 'PROCESSING', 'CANCELLED']);
  await other.close();
});

test('the version of the page and of its state are the same', async () => {
  const session = await buildSession(fixture, scope);
  const stored = await findSession(database.db, { ...scope, sessionId: session.sessionId });
  expect(await versionOf(session)).toBe(pageState(stored, fixture.clock()).version);
});

test('the end of the time to pay ends a wait', async () => {
  const session = await buildSession(fixture, scope);
  const waiting = ask(session, await versionOf(session), 10);
  await database.db.knex()('checkoutSession').where({ id: session.sessionId }).update({ expiresAt: new Date() });
  expect((await waiting).body).toMatchObject({ status: 'EXPIRED', secondsLeft: 0 });
});

test('hundreds of waits share one statement every 500 ms and hold no connection', async () => {
  const sessions: Awaited<ReturnType<typeof buildSession>>[] = [];
  const ten = Array.from({ length: 10 });
  while (sessions.length < 100) {
    sessions.push(...(await Promise.all(ten.map(() => buildSession(fixture, scope)))));
  }
  const versions = await Promise.all(sessions.map(versionOf));
  statements = [];
  const startedAt = performance.now();
  const waits = [0, 1, 2].flatMap(() => sessions.map((one, index) => ask(one, versions[index], 2)));
  await until('all to wait', async () => reads() >= 2);
  await until('no connection to be in use', async () => database.db.pool.totalCount === database.db.pool.idleCount);
  const answers = await Promise.all(waits);
  expect(answers.every(({ status, body }, index) => status === 200 && body.version === versions[index % 100])).toBe(
    true,
  );
  expect(reads()).toBeLessThanOrEqual(Math.ceil((performance.now() - startedAt) / 500));
  // Beside those each request is authenticated, once.
  expect(statements.length - reads()).toBe(waits.length);
});

test('a closed connection ends its wait', async () => {
  const session = await buildSession(fixture, scope);
  const version = await versionOf(session);
  statements = [];
  const calls = [1, 2, 3, 4].map(() => openWait(session, version));
  await until('all to wait', async () => reads() >= 2);
  expect((await ask(session, '', 0)).status).toBe(429);
  for (const call of calls) call.destroy();
  await until('the waits to end', async () => (await ask(session, '', 0)).status === 200);
  statements = [];
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(statements).toEqual([]);
});

test('waits of one page are limited, with Retry-After', async () => {
  const session = await buildSession(fixture, scope);
  const version = await versionOf(session);
  const answers = await Promise.all([1, 1, 1, 1, 1].map((wait) => ask(session, version, wait)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 429]);
  expect(Number(answers.find(({ status }) => status === 429)?.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('waits end when the process stops', async () => {
  const stopping = await serve();
  const session = await buildSession(fixture, scope);
  const version = await versionOf(session);
  statements = [];
  const waiting = askOf(stopping, session, { since: version });
  await until('it to wait', async () => reads() >= 2);
  const startedAt = performance.now();
  await stopping.close();
  expect((await waiting).status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test('an unavailable database fails the waits', async () => {
  const db = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', poolMax: 1, applicationName: 'test' });
  await expect(createReadState({ db, clock: fixture.clock }, 500)('cs_1')).rejects.toThrow('ECONNREFUSED');
  await db.destroy();
});
