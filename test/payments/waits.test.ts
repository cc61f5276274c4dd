import { request, type ClientRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { openDatabase } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { createReadState } from '../../src/payments/session-state.ts';
import { createTokenAuthenticator } from '../../src/payments/session.ts';
import { buildMerchant, buildSession, buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;
let http: TestServer;
let asked: string[];
const note = ({ sql }: { sql: string }): void => void asked.push(sql);

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db, { clock: () => new Date() });
  scope = await buildMerchant(database.db);
  http = await startTestServer(
    {
      ...testServerDeps(database.db, { routes: checkoutRoutes(fixture) }),
      ...createTokenAuthenticator(fixture),
    },
    stubKey(scope.merchantId),
  );
  database.db.events.on('statement', note);
});
afterAll(async () => {
  await http.close();
  await database.drop();
});
beforeEach(() => {
  asked = [];
});

const pathOf = (sessionId: string, wait: number) => `/api/checkout/hooks/status/${sessionId}?wait=${wait}`;
const readsOf = () => asked.filter((sql) => sql.includes('FROM checkout_session')).length;

/** Opens a wait that is never read to its end. */
function openWait(sessionId: string): ClientRequest {
  const call = request(http.url + pathOf(sessionId, 10), { headers: { 'x-api-key': stubKey(scope.merchantId) } });
  call.on('error', () => {}).end();
  return call;
}

test('a closed connection ends its wait, and no statement follows', async () => {
  const sessions = await Promise.all(Array.from({ length: 5 }, () => buildSession(fixture, scope)));
  asked = [];
  const calls = Array.from({ length: 30 }, (_, i) => openWait(sessions[i % 5]?.sessionId ?? ''));
  await until('every call to be waiting', async () => readsOf() > 30);
  for (const call of calls) call.destroy();
  // A busy machine notices a closed connection late; the waits themselves would end after 10 s.
  for (let tries = 0; tries < 4; tries += 1) {
    asked = [];
    await sleep(1_200);
    if (asked.length === 0) break;
  }
  expect(asked).toEqual([]);
});

test('all waits of a process share one statement every 250 ms', async () => {
  const sessions = await Promise.all(Array.from({ length: 10 }, () => buildSession(fixture, scope)));
  asked = [];
  const startedAt = performance.now();
  const waits = sessions.flatMap(({ sessionId }) => [0, 1, 2].map(() => http.send('GET', pathOf(sessionId, 2))));
  const answers = await Promise.all(waits);
  const polls = Math.ceil((performance.now() - startedAt) / 250);
  expect(answers.map(({ body }) => body.data.final)).toEqual(answers.map(() => false));
  // One read by each, before; polled by each it would be eight.
  expect(readsOf()).toBeLessThanOrEqual(answers.length + polls);
  expect(readsOf()).toBeGreaterThan(answers.length);
});

test('every wait ends as soon as its session is final or expired', async () => {
  const [cancelled, late] = [await buildSession(fixture, scope), await buildSession(fixture, scope)];
  const waits = [cancelled, cancelled, late].map(({ sessionId }) => http.send('GET', pathOf(sessionId, 10)));
  await until('every call to be waiting', async () => readsOf() > 3);
  await fixture.closeUnpaid(cancelled.sessionId, 'CANCELLED');
  await database.db.knex()('checkoutSession').where({ id: late.sessionId }).update({ expiresAt: new Date() });
  const startedAt = performance.now();
  const answers = await Promise.all(waits);
  expect(answers.map(({ body }) => body.data.status)).toEqual(['CANCELLED', 'CANCELLED', 'EXPIRED']);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

test('concurrent waits of one token are limited, with Retry-After', async () => {
  const { sessionId, clientToken } = await buildSession(fixture, scope);
  const ask = (wait: number) =>
    http.send('GET', pathOf(sessionId, wait), { key: null, headers: { 'x-client-token': clientToken } });
  const answers = await Promise.all([1, 1, 1, 1, 1, 0].map(ask));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 200, 429]);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body.error.code).toBe('RATE_LIMITED');
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await ask(1)).status).toBe(200);
});

test('an unavailable database fails the waits', async () => {
  const db = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', poolMax: 1, applicationName: 'test' });
  const readState = createReadState({ db, clock: () => new Date() }, 250);
  await expect(readState('cs_1')).rejects.toThrow('ECONNREFUSED');
  await db.destroy();
});
