import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Registry } from '../../src/http/metrics.ts';
import { DAY_MS } from '../../src/lib/dates.ts';
import { first } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { connectLive } from './live.ts';
import { anOrder, aPayout } from './sandbox.ts';

const WAITS = { kind: 'unknown', reason: 'rate-limit' };
const HELD_BACK = { kind: 'unknown', reason: 'circuit-open' };
const KNOWN = { state: 'PENDING', resultCode: '0' };

type Reply = { status: number; retryAfter?: string };

let database: TestDatabase;
let connection: ReturnType<typeof connectLive>;
let nowMs: number;
/** Of the next calls; afterwards every order is PENDING. */
let replies: Reply[];
let calls: string[];

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { transactionId, tillCode } = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>;
  calls.push(`${request.url} ${tillCode}`);
  const { status, retryAfter } = replies.shift() ?? { status: 200 };
  response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
  response.end(JSON.stringify({ ...KNOWN, transactionId }));
});

beforeAll(async () => {
  database = await createTestDatabase();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  await database.drop();
});
beforeEach(() => {
  [nowMs, replies, calls] = [Date.now(), [], []];
  const settings = {
    CBE_BIRR_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    CBE_BIRR_TILL_CODE: '100',
    CBE_BIRR_PAYOUT_TILL_CODE: '101',
  };
  const monitor = { registry: new Registry(), db: database.db, log: createLogger('silent', 'test') };
  connection = connectLive('http://127.0.0.1:1', { clock: () => new Date(nowMs), settings, monitor });
});
afterEach(() => connection.close());

const live = () => connection.live('CBE_BIRR');
const query = async () => live().query(anOrder('').orderId);
const queryPayout = async () => live().queryPayout(aPayout('').orderId);
const statement = async () => live().statement('2026-01-05', '100/');

test.each([
  ['seconds', '2', 2_000],
  ['a date', new Date(Date.now() + DAY_MS).toUTCString(), 300_000],
  ['more than five minutes', '86400', 300_000],
])('after a 429 with Retry-After of %s the account waits so long, at most five minutes', async (_, retryAfter, ms) => {
  replies = [{ status: 429, retryAfter }];
  // The order may have been taken all the same: its protocol does not show it.
  expect(await live().initiate(anOrder(''))).toMatchObject({ kind: 'unknown', reason: 'http', status: 429 });
  expect(await query()).toMatchObject(WAITS);
  expect(await statement()).toMatchObject(WAITS);
  nowMs += ms - 1;
  expect(await query()).toMatchObject(WAITS);
  expect(await queryPayout()).toMatchObject({ kind: 'pending' });
  nowMs += 1;
  expect(await query()).toMatchObject({ kind: 'pending' });
  expect(calls).toEqual(['/push 100', '/payout-status 101', '/status 100']);
});

test.each([
  ['no Retry-After', {}],
  ['Retry-After 0', { retryAfter: '0' }],
  ['an unreadable one', { retryAfter: 'soon' }],
])('after a 429 with %s the next call is made', async (_, header) => {
  replies = [{ status: 429, ...header }];
  await query();
  expect(await query()).toMatchObject({ kind: 'pending' });
});

const secondsLeft = async () =>
  (await first<{ left: number | null }>(
    database.db,
    `SELECT CAST(extract(epoch FROM live_unavailable_until - now()) AS integer) AS left FROM channel WHERE id = 'CBE_BIRR'`,
  ))!.left ?? 0;

test('after a 503 with Retry-After payments wait so long and the channel is unavailable, payouts go on', async () => {
  replies = [{ status: 503, retryAfter: '120' }];
  await query();
  expect(await query()).toMatchObject(HELD_BACK);
  expect(await queryPayout()).toMatchObject({ kind: 'pending' });
  await until('the outage to be stored', async () => (await secondsLeft()) > 100);
  nowMs += 119_999;
  expect(await query()).toMatchObject(HELD_BACK);
  nowMs += 1;
  expect(await query()).toMatchObject({ kind: 'pending' });
  await until('the channel to be available', async () => (await secondsLeft()) <= 0);
});

test('after a 503 with Retry-After statements and payouts wait, and the channel stays available for payments', async () => {
  replies = [
    { status: 503, retryAfter: '120' },
    { status: 503, retryAfter: '120' },
  ];
  await statement();
  await queryPayout();
  expect(await statement()).toMatchObject(HELD_BACK);
  expect(await queryPayout()).toMatchObject(HELD_BACK);
  expect(await query()).toMatchObject({ kind: 'pending' });
  expect(await secondsLeft()).toBeLessThanOrEqual(0);
});
