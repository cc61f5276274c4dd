import { Writable } from 'node:stream';

import { readBalance } from '../../src/ledger/balance.ts';
import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { acceptHeldPayment } from '../../src/payments/holds.ts';
import { PAYMENT_REVIEW_ITEMS } from '../../src/payments/monitoring.ts';
import {
  buildMerchant,
  buildPendingPayment,
  buildFixture,
  PAID,
  stateOfSession,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { until } from '../support/until.ts';
import { acceptHeld, giveHeldBack } from './held-money.ts';

const lines: string[] = [];
const log = createLogger('warn', 'test', {
  destination: new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) }),
});

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  fixture = buildFixture(database.db, { log });
  scope = await buildMerchant(database.db);
});
afterEach(() => expectLedgerHolds(database.db));
afterAll(() => database.drop());

let references = 0;
const newReference = () => `ONCE-${(references += 1)}`;
const check = (attemptId: string) => fixture.checkAttempt(attemptId, { notifyWorkflow: false });
/** A payment that its provider has accepted, in the other environment or over another channel. */
async function pendingElsewhere(elsewhere: { environment?: string; channel?: string }) {
  const payment = await buildPendingPayment(fixture, scope);
  await database.db.knex()('paymentAttempt').where({ id: payment.attemptId }).update(elsewhere);
  await database.db.knex()('transaction').where({ id: payment.transactionId }).update(elsewhere);
  await database.db
    .knex()('checkoutSession')
    .where({ id: payment.sessionId })
    .update({ environment: elsewhere.environment ?? scope.environment });
  return payment;
}
const available = async (of = scope) => (await readBalance(database.db, of)).availableSantim;

test('the second transaction reported paid by one reference is held and never SUCCESS', async () => {
  const [first, second] = [await buildPendingPayment(fixture, scope), await buildPendingPayment(fixture, scope)];
  fixture.provider.returns({ ...PAID, providerReference: newReference() });
  expect(await check(first.attemptId)).toMatchObject({ transactionStatus: 'SUCCESS' });
  const paid = await available();
  expect(await check(second.attemptId)).toMatchObject({
    attemptStatus: 'HELD',
    transactionStatus: 'PENDING',
    final: true,
  });
  expect(await check(second.attemptId)).toMatchObject({ attemptStatus: 'HELD' });
  expect(await available()).toBe(paid);
  expect(await stateOfSession(database.db, second.sessionId)).toMatchObject({
    session: 'PROCESSING',
    transaction: 'PENDING',
    holdReason: 'REFERENCE_USED',
    events: ['payment.created'],
  });
  const queue = await rows<{ id: string; kind: string; what: string }>(
    database.db,
    `SELECT id, kind, what FROM (${PAYMENT_REVIEW_ITEMS.sql}) q WHERE id = :attemptId`,
    second,
  );
  expect(queue).toEqual([
    { id: second.attemptId, kind: 'PAYMENT_HELD', what: expect.stringContaining('has paid another transaction') },
  ]);

  await expect(acceptHeld(fixture, second)).rejects.toMatchObject({
    code: 'INVALID_STATE',
    message: expect.stringContaining(`which has paid ${first.transactionId}: it can only be returned`),
  });
  const { transaction } = await giveHeldBack(fixture, second);
  expect(transaction).toMatchObject({ status: 'FAILED', holdReason: null });
  expect(await available()).toBe(paid);
});

test('of fifty transactions reported paid by one reference at once, one is SUCCESS', async () => {
  const payments = [];
  for (let index = 0; index < 50; index += 1) payments.push(await buildPendingPayment(fixture, scope));
  fixture.provider.returns({ ...PAID, providerReference: newReference() });
  const states = await Promise.all(payments.map(({ attemptId }) => check(attemptId)));
  const statuses = states.map(({ attemptStatus }) => attemptStatus).toSorted();
  expect(statuses).toEqual([...Array.from({ length: 49 }, () => 'HELD'), 'SUCCEEDED']);
});

test('the same reference in the other environment or of another channel is another payment', async () => {
  const providerReference = newReference();
  const payment = await buildPendingPayment(fixture, scope);
  fixture.provider.returns({ ...PAID, providerReference });
  await check(payment.attemptId);
  for (const elsewhere of [{ environment: 'live' }, { channel: 'AWASH' }]) {
    const other = await pendingElsewhere(elsewhere);
    fixture.provider.returns({ ...PAID, providerReference });
    expect(await check(other.attemptId)).toMatchObject({ transactionStatus: 'SUCCESS' });
  }
});

test.each([
  ['in the other environment', { environment: 'live' }],
  ['over another channel', { channel: 'AWASH' }],
])('held money can be accepted after its reference has paid a transaction %s', async (_, elsewhere) => {
  const providerReference = newReference();
  const [held, paid] = [await buildPendingPayment(fixture, scope), await pendingElsewhere(elsewhere)];
  fixture.provider.returns({ ...PAID, providerReference });
  expect(await check(paid.attemptId)).toMatchObject({ transactionStatus: 'SUCCESS' });
  fixture.provider.returns({ ...PAID, providerReference, amountSantim: 8_000n });
  expect(await check(held.attemptId)).toMatchObject({ attemptStatus: 'HELD' });
  expect((await acceptHeld(fixture, held)).transaction).toMatchObject({ status: 'SUCCESS', receivedSantim: 8_000n });
});

test('held money of another amount is not accepted once its reference has paid another transaction', async () => {
  const providerReference = newReference();
  const [held, paid] = [await buildPendingPayment(fixture, scope), await buildPendingPayment(fixture, scope)];
  fixture.provider.returns({ ...PAID, providerReference, amountSantim: 8_000n });
  await check(held.attemptId);
  fixture.provider.returns({ ...PAID, providerReference });
  expect(await check(paid.attemptId)).toMatchObject({ transactionStatus: 'SUCCESS' });
  await expect(acceptHeld(fixture, held)).rejects.toMatchObject({ code: 'INVALID_STATE' });
  await giveHeldBack(fixture, held);
});

test('of two held payments with one reference that are accepted at once, the second is refused like a repeat', async () => {
  const [first, second] = [await buildPendingPayment(fixture, scope), await buildPendingPayment(fixture, scope)];
  fixture.provider.returns({ ...PAID, providerReference: newReference(), amountSantim: 8_000n });
  for (const { attemptId } of [first, second]) await check(attemptId);
  const { refused } = await fixture.runInTransaction(async (tx) => {
    await acceptHeldPayment(tx, { ...first, at: fixture.clock() });
    const accepting = acceptHeld(fixture, second).catch((error: unknown) => error);
    const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await until('the second decision to wait', async () => (await rows(database.db, waiting)).length > 0);
    return { refused: accepting };
  });
  const refusal = { code: 'INVALID_STATE', message: expect.stringContaining('it can only be returned') };
  expect(await refused).toMatchObject(refusal);
  await expect(acceptHeld(fixture, second)).rejects.toMatchObject(refusal);
});

test('a reply about another order changes nothing and is logged', async () => {
  const payment = await buildPendingPayment(fixture, scope);
  fixture.provider.returns({ kind: 'unknown', reason: 'other-order', message: 'the answer is about another order' });
  lines.length = 0;
  expect(await check(payment.attemptId)).toMatchObject({ transactionStatus: 'PENDING', outcomeKind: 'unknown' });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ attemptId: payment.attemptId, reason: 'other-order' }),
  ]);
});
