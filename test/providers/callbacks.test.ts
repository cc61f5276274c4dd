import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type Server, request } from 'node:http';
import type { AddressInfo } from 'node:net';

import Koa from 'koa';

import { createLimits } from '../../src/http/limits.ts';
import { rows } from '../../src/lib/db.ts';
import { AppError } from '../../src/lib/errors.ts';
import { newId } from '../../src/lib/ids.ts';
import {
  callbackUrl,
  createCallbackRouter,
  storeCallback,
  type CallbackAttempt,
  type CallbackPayout,
  type CallbackRow,
} from '../../src/providers/callbacks.ts';
import { signCbeBirr } from '../../src/providers/cbe-birr/signing.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NO_LIMITS } from '../support/http.ts';
import { SANDBOX_CBE_BIRR } from '../support/sandbox-accounts.ts';
import { connectAdapters } from './sandbox.ts';

const SECRET = 'secret-part-of-the-path-'.padEnd(32, 'x');
const PAYOUT_SECRET = 'secret-part-of-another-path'.padEnd(32, 'x');
const GUESSES_MAX = 6;
const ORDER = { channel: 'CBE_BIRR', environment: 'sandbox', merchantId: 'mrc_1', sentAt: new Date() } as const;
const WITHDRAWAL: CallbackPayout = { ...ORDER, kind: 'withdrawal', payoutId: 'wd_01JD0000000000000000000000' };

let database: TestDatabase;
let server: Server;
let attempt: CallbackAttempt;
let checks: { attemptId: string; verified: boolean; storedBefore: number }[];
let payoutsStored: CallbackRow[];
let payoutChecks: { payoutId: string; verified: boolean; storedBefore: number }[];
let looked: number;
const logged: string[] = [];
let counted: string[] = [];
let problem: 'store' | 'check' | 'doubt' | null;
const adapters = connectAdapters('http://127.0.0.1:1');

type Stored = { body: Buffer; verified: boolean; rejectionReason: string | null };
const stored = () =>
  rows<Stored>(
    database.db,
    'SELECT body, verified, rejection_reason FROM provider_callback WHERE attempt_id = :id ORDER BY id',
    {
      id: attempt.attemptId,
    },
  );

beforeAll(async () => {
  database = await createTestDatabase();
  const router = createCallbackRouter({
    findOrderBySecret: async (secret) => {
      looked += 1;
      if (secret === PAYOUT_SECRET) return WITHDRAWAL;
      return secret === SECRET ? attempt : null;
    },
    findProvider: adapters.find,
    async storeCallback(row) {
      if (problem === 'store') throw new Error('the database is away');
      if ('payoutId' in row) return payoutsStored.push(row) > 0;
      return storeCallback(database.db, row);
    },
    async onCallback(order, { verified }) {
      const { attemptId, payoutId } = order as CallbackAttempt & CallbackPayout;
      if (payoutId) payoutChecks.push({ payoutId, verified, storedBefore: payoutsStored.length });
      else checks.push({ attemptId, verified, storedBefore: (await stored()).length });
      if (problem === 'check') throw new Error('the check failed');
      return problem !== 'doubt';
    },
    unknown: createLimits({ ...NO_LIMITS, failedAuthPerMinute: GUESSES_MAX }).unknownCallbacks,
    count: ({ result }) => void counted.push(result),
    log: { info() {}, error: (details: object) => void logged.push(JSON.stringify(details)) },
  });
  const app = new Koa({ proxy: true });
  app.silent = true;
  server = app.use(answerRefusals).use(router.routes()).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await adapters.close();
  await database.drop();
});

beforeEach(async () => {
  problem = null;
  counted = [];
  looked = 0;
  checks = [];
  payoutsStored = [];
  payoutChecks = [];
  attempt = { ...ORDER, attemptId: await insertAttempt() };
});

test('a verified callback is stored byte for byte, then checked, then acknowledged', async () => {
  const body = ` ${genuine(attempt.attemptId)}\n`;
  const answer = await post(SECRET, body);
  expect([answer.status, await answer.text()]).toEqual([200, '{"resultCode":"0"}']);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(await stored()).toEqual([{ body: Buffer.from(body), verified: true, rejectionReason: null }]);
  expect(checks).toEqual([{ attemptId: attempt.attemptId, verified: true, storedBefore: 1 }]);
});

test.each([
  ['unsigned', () => JSON.stringify({ transactionId: attempt.attemptId }), /signature/],
  ['nonsense', () => '<xml/>', /JSON/],
  ['empty', () => '', /JSON/],
  ['genuine, but of another order', () => genuine('pat_00000000000000000000000000'), /another order/],
])('a callback that is %s is stored as unverified, and still only triggers the check', async (_what, body, why) => {
  const answer = await post(SECRET, body());
  expect(answer.status).toBe(200);
  expect(await stored()).toMatchObject([{ verified: false, rejectionReason: expect.stringMatching(why) }]);
  expect(checks).toMatchObject([{ verified: false }]);
});

test("a payout's callback is stored, checked and acknowledged like a payment's, under the withdrawal's id", async () => {
  const { payoutId } = WITHDRAWAL;
  const answer = await post(PAYOUT_SECRET, genuine(payoutId));
  expect([answer.status, await answer.text()]).toEqual([200, '{"resultCode":"0"}']);
  expect(payoutsStored).toMatchObject([{ payoutId, channel: 'CBE_BIRR', verified: true }]);
  expect(payoutChecks).toEqual([{ payoutId, verified: true, storedBefore: 1 }]);

  expect((await post(PAYOUT_SECRET, genuine(attempt.attemptId))).status).toBe(200);
  expect(payoutsStored[1]).toMatchObject({ verified: false, rejectionReason: 'it names another order' });
  problem = 'doubt';
  expect((await post(PAYOUT_SECRET, genuine(payoutId))).status).toBe(500);
  expect(checks).toEqual([]);
  expect(await stored()).toEqual([]);
});

test('a body of binary bytes is stored unchanged, each time it is sent', async () => {
  const bytes = Buffer.from([0, 255, 254, 10, 0]);
  await post(SECRET, bytes);
  await post(SECRET, bytes);
  expect((await stored()).map(({ body }) => body)).toEqual([bytes, bytes]);
  expect(checks).toHaveLength(2);
});

test('a callback to an unknown address of any kind gets 404 and is not stored', async () => {
  const at = (path: string) => fetch(address(path), { method: 'POST', body: genuine(attempt.attemptId) });
  for (const path of [
    `/api/providers/CBE_BIRR/callback/${'another-secret'.padEnd(32, 'x')}`,
    `/api/providers/TELEBIRR/callback/${SECRET}`,
    `/api/providers/constructor/callback/${SECRET}`,
    `/api/providers/CBE_BIRR/callback/${'x'.repeat(5_000)}`,
  ]) {
    const answer = await at(path);
    expect([answer.status, await answer.text()]).toEqual([404, 'Not found']);
  }
  expect(await stored()).toEqual([]);
  expect(checks).toEqual([]);
});

test('callbacks of an order without a usable account are to be repeated, and do not limit those of other orders', async () => {
  const other = attempt;
  attempt = { ...attempt, environment: 'live' };
  for (let times = 0; times <= GUESSES_MAX; times += 1) {
    expect((await post(SECRET, genuine(attempt.attemptId))).status).toBe(500);
  }
  expect(logged.at(-1)).toContain(attempt.attemptId);
  attempt = other;
  expect((await post(SECRET, genuine(attempt.attemptId))).status).toBe(200);
});

test('a malformed callback address gets 404 without a query or log line', async () => {
  for (const path of ['CBE_BIRR/callback/%00', 'CBE_BIRR/callback/planted', `planted/callback/${SECRET}`]) {
    expect((await fetch(address(`/api/providers/${path}`), { method: 'POST' })).status).toBe(404);
  }
  expect(looked).toBe(0);
  expect(logged.join()).not.toContain('planted');
});

test('calls to unknown addresses are limited by caller, and cost no query beyond the limit', async () => {
  const guess = (from: string, secret = randomBytes(24).toString('base64url')) =>
    fetch(address(`/api/providers/CBE_BIRR/callback/${secret}`), {
      method: 'POST',
      headers: { 'x-forwarded-for': from },
      body: genuine(attempt.attemptId),
    });
  const network = (n: number) => `2001:db8:1:2::${n.toString(16)}`;
  const statuses = [];
  for (let n = 1; n <= 8; n += 1) statuses.push((await guess(network(n))).status);
  expect(statuses).toEqual([404, 404, 404, 404, 404, 404, 429, 429]);
  expect(looked).toBe(GUESSES_MAX);
  expect((await guess('2001:db8:1:3::1', SECRET)).status).toBe(200);
});

test.each([
  ['could not be stored', 'store', 0],
  ['was stored, but not checked,', 'check', 1],
] as const)('a callback that %s is not acknowledged', async (_what, problemOfIt, storedOfIt) => {
  problem = problemOfIt;
  expect((await post(SECRET, genuine(attempt.attemptId))).status).toBe(500);
  expect(await stored()).toHaveLength(storedOfIt);
});

test('a verified callback with an inconclusive check gets 500, so that it is repeated; an unverified one gets 200', async () => {
  problem = 'doubt';
  expect((await post(SECRET, genuine(attempt.attemptId))).status).toBe(500);
  expect((await post(SECRET, 'nonsense')).status).toBe(200);
  expect(await stored()).toHaveLength(2);
});

test('a body over 64 KiB is rejected, with or without a Content-Length', async () => {
  expect((await post(SECRET, 'x'.repeat(65_536))).status).toBe(200);
  expect((await post(SECRET, 'x'.repeat(65_537))).status).toBe(413);
  expect(await postChunked('x'.repeat(200_000))).toBe(413);
  expect(await stored()).toHaveLength(1);
});

test('callbackUrl gives the address of the callback route', async () => {
  const url = callbackUrl(`${address('')}/`, { channel: 'CBE_BIRR', secret: SECRET });
  const answer = await fetch(url, { method: 'POST', body: genuine(attempt.attemptId) });
  expect(answer.status).toBe(200);
});

test('of one order 20 unverified callbacks are stored, of a channel 600 a minute; all are checked, verified ones stored', async () => {
  for (let sent = 0; sent < 25; sent += 1) await post(SECRET, 'nonsense');
  expect((await post(SECRET, genuine(attempt.attemptId))).status).toBe(200);
  expect((await stored()).map(({ verified }) => verified)).toEqual([...Array<boolean>(20).fill(false), true]);
  expect([checks.length, counted.filter((result) => result === 'unstored').length]).toEqual([26, 5]);
  counted = [];
  for (let sent = 0; sent < 620; sent += 20) {
    await Promise.all(Array.from({ length: 20 }, () => post(PAYOUT_SECRET, 'nonsense')));
  }
  expect(payoutsStored.length).toBeLessThan(600);
  expect(payoutsStored.length + counted.filter((result) => result === 'unstored').length).toBe(620);
  expect(payoutChecks).toHaveLength(620);
});

const answerRefusals: Koa.Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    ctx.status = error.status;
    ctx.body = error.message;
  }
};

function genuine(orderId: string): string {
  const { hashKey, ...till } = SANDBOX_CBE_BIRR;
  const message = { ...till, transactionId: orderId, amount: '100.50', state: 'COMPLETED' };
  return JSON.stringify({ ...message, signature: signCbeBirr(message, hashKey) });
}

function address(path: string): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
}

function post(secret: string, body: string | Buffer): Promise<Response> {
  const payload = typeof body === 'string' ? body : new Uint8Array(body);
  return fetch(address(`/api/providers/CBE_BIRR/callback/${secret}`), { method: 'POST', body: payload });
}

function postChunked(body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = request(address(`/api/providers/CBE_BIRR/callback/${SECRET}`), { method: 'POST' }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    call.on('error', reject);
    call.write(body.slice(0, 1_000));
    call.end(body.slice(1_000));
  });
}

async function insertAttempt(): Promise<string> {
  const [merchantId, sessionId, transactionId, attemptId] = [newId('mrc'), newId('cs'), newId('txn'), newId('pat')];
  const ids = { merchantId, sessionId, transactionId, attemptId };
  await database.db.transaction(async (trx) => {
    await rows(trx, `INSERT INTO merchant (id, name) VALUES (:merchantId, 'Abyssinia Coffee')`, ids);
    await rows(
      trx,
      `INSERT INTO transaction (id, session_id, merchant_id, environment, checkout_order_no, amount_santim, currency, type, status)
       VALUES (:transactionId, :sessionId, :merchantId, 'sandbox', '7', 10050, 'ETB', 'API', 'PENDING')`,
      ids,
    );
    await rows(
      trx,
      `INSERT INTO checkout_session (id, transaction_id, merchant_id, environment, status, channels, client_token_hash, expires_at)
       VALUES (:sessionId, :transactionId, :merchantId, 'sandbox', 'PROCESSING', '{CBE_BIRR}', '', now() + interval '1 hour')`,
      ids,
    );
    await rows(
      trx,
      `INSERT INTO payment_attempt (id, session_id, transaction_id, merchant_id, environment, channel, phone, amount_santim, currency, status, callback_secret)
       VALUES (:attemptId, :sessionId, :transactionId, :merchantId, 'sandbox', 'CBE_BIRR', '251911000001', 10050, 'ETB', 'PENDING', :attemptId)`,
      ids,
    );
  });
  return attemptId;
}
