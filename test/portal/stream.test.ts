import { setTimeout as sleep } from 'node:timers/promises';

import type { OperatorRole } from '../../src/http/route.ts';
import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildAttempt, buildFixture, buildSession, PAID, type Fixture } from '../support/build.ts';
import { until } from '../support/until.ts';
import { fund } from '../support/withdrawals.ts';
import { signInOperator } from './console.ts';
import { startPortalService, usePortalService, type Browser } from './portal.ts';

const portal = usePortalService();
let fixture: Fixture;
let scope: MerchantScope;

beforeAll(async () => {
  fixture = buildFixture(portal.db, { clock: () => new Date() });
  scope = { merchantId: await portal.newMerchant('Abyssinia Coffee'), environment: 'sandbox' };
});

const WITHDRAWAL = {
  requestId: 'WD-1',
  amount: 100,
  channel: 'TELEBIRR',
  destination: { phone: '0911000001', accountName: 'Hana Girma' },
};

type Change = { kind: string; id: string | null; status: string | null; at: string };

const OF_PORTAL = '/api/portal/stream';
const OF_CONSOLE = '/api/ops/stream?environment=sandbox';

/** Opens a stream as the portal's page does, or the console's, and collects its changes. */
async function follow(browser: Browser, url = portal.url, path = OF_PORTAL) {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const leaving = new AbortController();
  const response = await fetch(url + path, {
    headers: { cookie, 'x-meskot-environment': 'sandbox' },
    signal: leaving.signal,
  });
  const changes: Change[] = [];
  const state = { ended: false };
  const read = async (): Promise<void> => {
    let text = '';
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const messages = (text + part).split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages.filter((one) => one.startsWith('data: '))) {
        changes.push(...(JSON.parse(message.slice(6)) as Change[]));
      }
    }
  };
  const ended = read()
    .catch(() => {})
    .finally(() => {
      state.ended = true;
    });
  const leave = async (): Promise<void> => {
    leaving.abort();
    await ended;
  };
  return { response, changes, state, leave };
}

/** Pays a new session. Returns the ids of its transaction and of the events about it. */
async function pay(of: MerchantScope): Promise<string> {
  const amountSantim = 10_000n;
  const { sessionId, transactionId } = await buildSession(fixture, of, { amountSantim });
  const attemptId = await buildAttempt(fixture, { ...of, sessionId }, { channel: 'TELEBIRR' });
  fixture.provider.returns({ ...PAID, amountSantim });
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  return transactionId;
}

test('a stream has the payment of its merchant with its statuses, its events, and nothing of another merchant', async () => {
  const other: MerchantScope = { merchantId: await portal.newMerchant(), environment: 'sandbox' };
  const person = await portal.signedIn(scope.merchantId, 'viewer');
  const stranger = await portal.signedIn(other.merchantId, 'owner');
  const [own, theirs] = [await follow(person), await follow(stranger)];
  expect(own.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const { transactionId } = await buildSession(fixture, scope);
  await until('the new transaction', () => own.changes.some(({ id }) => id === transactionId));
  expect(own.changes).toEqual([
    { kind: 'transaction', id: transactionId, status: 'PENDING', at: expect.stringMatching(/Z$/) },
  ]);
  const [paid, foreign] = [await pay(scope), await pay(other)];
  const isPaid = (of: Change[], wanted: string) => of.some(({ id, status }) => id === wanted && status === 'SUCCESS');
  await until('both payments', () => isPaid(own.changes, paid) && isPaid(theirs.changes, foreign));
  await until('the events of both', () =>
    [own, theirs].every(({ changes }) => changes.filter(({ kind }) => kind === 'event').length >= 3),
  );
  expect(own.changes.find(({ kind }) => kind === 'event')?.status).toBe('NO_SUBSCRIBERS');
  expect(own.changes.filter(({ id }) => theirs.changes.some((their) => their.id === id))).toEqual([]);
  expect(theirs.changes.filter(({ kind }) => kind === 'transaction').every(({ id }) => id === foreign)).toBe(true);
  await Promise.all([own.leave(), theirs.leave()]);
});

test('a transaction that commits after later ones is in the stream', async () => {
  const person = await portal.signedIn(scope.merchantId, 'support');
  const { changes, leave } = await follow(person);
  const { transactionId: late } = await buildSession(fixture, scope);
  await until('the first', () => changes.some(({ id }) => id === late));
  changes.length = 0;
  let later = '';
  await portal.db.transaction(async (trx) => {
    const sql = `INSERT INTO timeline (resource_id, kind, occurred_at) VALUES (:late, 'payment.held', now())`;
    await rows(trx, sql, { late });
    later = (await buildSession(fixture, scope)).transactionId;
    await until('the later one', () => changes.some(({ id }) => id === later));
  });
  await until('the one before it', () => changes.some(({ id }) => id === late));
  expect(changes.map(({ id }) => id)).toEqual([later, late]);
  await leave();
});

test('the events of a refund are in the stream', async () => {
  const path = `/api/checkout/txns/${await pay(scope)}/refunds`;
  const owner = await portal.signedIn(scope.merchantId, 'owner');
  const { changes, leave } = await follow(owner);
  const { body } = await owner.send('POST', path, { body: { reference: 'R-1', amount: 20 } });
  const sql = 'SELECT id FROM webhook_event WHERE resource_id = :refundId';
  const [event] = await rows<{ id: string }>(portal.db, sql, { refundId: body.data.refundId });
  await until('the event of the refund', () => changes.some(({ id }) => id === event?.id));
  await leave();
});

test('a role gets only the kinds that it may read', async () => {
  await fund(fixture, scope, 500_000n);
  const [finance, support] = [
    await follow(await portal.signedIn(scope.merchantId, 'finance')),
    await follow(await portal.signedIn(scope.merchantId, 'support')),
  ];
  const owner = await portal.signedIn(scope.merchantId, 'owner');
  const created = await owner.send('POST', '/api/checkout/withdrawal', { body: WITHDRAWAL });
  expect(created.status).toBe(202);
  const withdrawalId: string = created.body.data.withdrawalRequestId;
  await until('the withdrawal', () => finance.changes.some(({ id }) => id === withdrawalId));
  const { transactionId } = await buildSession(fixture, scope);
  await until('the transaction', () => support.changes.some(({ id }) => id === transactionId));
  expect(new Set(support.changes.map(({ kind }) => kind))).toEqual(new Set(['event', 'transaction']));
  await Promise.all([finance.leave(), support.leave()]);
});

test('the stream of live is closed to a merchant that is not verified', async () => {
  const person = await portal.signedIn(scope.merchantId, 'developer');
  const { status, body } = await person.send('GET', '/api/portal/stream', { environment: 'live' });
  expect([status, body.error.code]).toEqual([403, 'KYC_REQUIRED']);
});

test.each([
  ['the session ends', 'UPDATE user_session SET ended_at = now() WHERE user_id = :userId'],
  ['the member is removed', 'UPDATE membership SET removed_at = now() WHERE user_id = :userId'],
  ['the role changes', `UPDATE membership SET role = 'viewer' WHERE user_id = :userId`],
  [
    'the merchant is suspended',
    `UPDATE merchant SET status = 'SUSPENDED'
     WHERE id IN (SELECT merchant_id FROM membership WHERE user_id = :userId)`,
  ],
])('a stream ends within seconds when %s', async (_when, sql) => {
  const person = await portal.signedIn(await portal.newMerchant(), 'admin');
  const { userId } = (await person.send('GET', '/api/portal/me')).body.data.user;
  const { state } = await follow(person);
  await rows(portal.db, sql, { userId });
  await until('the end of the stream', () => state.ended);
});

test('a person has at most five streams, and one that ends makes room', async () => {
  const person = await portal.signedIn(scope.merchantId, 'owner');
  const open = await Promise.all([1, 2, 3, 4, 5].map(() => follow(person)));
  const refused = await follow(person);
  expect(refused.response.status).toBe(429);
  expect(refused.response.headers.get('retry-after')).toBe('15');
  await open[0]?.leave();
  await until('room for another', async () => {
    const another = await follow(person);
    await another.leave();
    return another.response.status === 200;
  });
  await Promise.all(open.map(({ leave }) => leave()));
});

test('a server that stops ends its streams, and does not read for them any more', async () => {
  const warnings: string[] = [];
  const log = createLogger('warn', 'test', { destination: { write: (line) => void warnings.push(line) } });
  const service = await startPortalService({}, log);
  const person = await service.signedIn(await service.newMerchant(), 'owner');
  const { state } = await follow(person, service.url);
  await service.close();
  await until('the end of the stream', () => state.ended);
  // Two intervals of reading.
  await sleep(500);
  expect(warnings).toEqual([]);
});

describe('the stream of an operator', () => {
  const followAsOperator = async (role: OperatorRole, path = OF_CONSOLE) => {
    const operator = await signInOperator(portal, role);
    return { operator, ...(await follow(operator, portal.consoleUrl, path)) };
  };

  test('it has the changes of all merchants in its environment, beside a stream of one of them', async () => {
    const other: MerchantScope = { merchantId: await portal.newMerchant(), environment: 'sandbox' };
    const viewer = await followAsOperator('viewer');
    const live = await followAsOperator('support', '/api/ops/stream?environment=live');
    const owner = await follow(await portal.signedIn(scope.merchantId, 'owner'));
    const [own, theirs] = [await pay(scope), await pay(other)];
    const has = (of: Change[], wanted: string) => of.some(({ id, status }) => id === wanted && status === 'SUCCESS');
    await until('both payments', () => has(viewer.changes, own) && has(viewer.changes, theirs));
    await until('the own payment', () => has(owner.changes, own));
    expect(owner.changes.some(({ id }) => id === theirs)).toBe(false);
    expect(live.changes).toEqual([]);
    await Promise.all([viewer.leave(), live.leave(), owner.leave()]);
  });

  test.each([
    [
      'the session ends',
      `UPDATE user_session s SET ended_at = now() FROM user_account u
                          WHERE u.id = s.user_id AND u.email = :email`,
    ],
    ['the role changes', `UPDATE operator SET role = 'viewer' WHERE email = :email`],
    ['the operator is deactivated', 'UPDATE operator SET active = false WHERE email = :email'],
  ])('it ends within seconds when %s', async (_when, sql) => {
    const { operator, state } = await followAsOperator('finance');
    await rows(portal.db, sql, { email: operator.email });
    await until('the end of the stream', () => state.ended);
  });

  test('an operator has at most five, and a key has none', async () => {
    const { operator, leave } = await followAsOperator('support');
    const open = await Promise.all([2, 3, 4, 5].map(() => follow(operator, portal.consoleUrl, OF_CONSOLE)));
    expect((await follow(operator, portal.consoleUrl, OF_CONSOLE)).response.status).toBe(429);
    await Promise.all([leave(), ...open.map((one) => one.leave())]);
    const created = await operator.send('POST', '/api/ops/keys', { body: {} });
    const byKey = await fetch(portal.consoleUrl + OF_CONSOLE, { headers: { 'x-api-key': created.body.data.secret } });
    expect(byKey.status).toBe(403);
  });
});
