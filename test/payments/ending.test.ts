import { rows } from '../../src/lib/db.ts';
import { AppError } from '../../src/lib/errors.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { closeSession, createCloseUnpaid, expireDueSessions } from '../../src/payments/close-session.ts';
import { startPayment } from '../../src/payments/pay.ts';
import { readSession } from '../../src/payments/session.ts';
import {
  ACCEPTED,
  buildAttempt,
  buildMerchant,
  buildPendingPayment,
  buildSession,
  buildFixture,
  declined,
  PAID,
  PENDING,
  stateOfSession,
  UNKNOWN,
  untilServed,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const MINUTE_MS = 60_000;

describe('closing a session without a payment', () => {
  let database: TestDatabase;
  let fixture: Fixture;
  let scope: MerchantScope;

  beforeAll(async () => {
    database = await createTestDatabase();
    scope = await buildMerchant(database.db);
  });
  beforeEach(() => {
    fixture = buildFixture(database.db);
  });
  afterAll(() => database.drop());

  test('sessions past their expiry expire in batches, oldest first, and others stay open', async () => {
    const due = [];
    for (let count = 0; count < 3; count += 1)
      due.push(await buildSession(fixture, scope, { expiresInMinutes: 5 + count }));
    const later = await buildSession(fixture, scope, { expiresInMinutes: 60 });
    fixture.pass(10 * MINUTE_MS);
    expect(await expireDueSessions(fixture.runInTransaction, fixture.clock(), 2)).toBe(2);
    expect(await stateOfSession(database.db, due[2]?.sessionId ?? '')).toMatchObject({ session: 'OPEN' });
    expect(await expireDueSessions(fixture.runInTransaction, fixture.clock(), 2)).toBe(1);
    for (const { sessionId } of due) {
      expect(await stateOfSession(database.db, sessionId)).toMatchObject({
        session: 'EXPIRED',
        transaction: 'EXPIRED',
        needsReconciliation: false,
        events: ['checkout.expired'],
        timeline: ['session.created', 'session.expired'],
      });
    }
    expect(await stateOfSession(database.db, later.sessionId)).toMatchObject({ session: 'OPEN', events: null });
  });

  test('a session expires at the end of its time, not a millisecond before, by the job and by a read alike', async () => {
    const [byJob, byRead] = [await buildSession(fixture, scope), await buildSession(fixture, scope)];
    const expire = async () => [
      (await readSession(fixture, { ...scope, sessionId: byRead.sessionId })).status,
      await expireDueSessions(fixture.runInTransaction, fixture.clock(), 100),
    ];
    fixture.pass(30 * MINUTE_MS - 1);
    expect(await expire()).toEqual(['OPEN', 0]);
    fixture.pass(1);
    expect(await expire()).toEqual(['EXPIRED', 1]);
    expect(await stateOfSession(database.db, byJob.sessionId)).toMatchObject({ session: 'EXPIRED' });
  });

  test('ten concurrent expiry jobs expire each session once', async () => {
    const sessions = await Promise.all(
      Array.from({ length: 20 }, () => untilServed(() => buildSession(fixture, scope, { expiresInMinutes: 5 }))),
    );
    fixture.pass(6 * MINUTE_MS);
    const counts = await Promise.all(
      Array.from({ length: 10 }, () =>
        untilServed(() => expireDueSessions(fixture.runInTransaction, fixture.clock(), 100)),
      ),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
    for (const { sessionId } of sessions) {
      expect(await stateOfSession(database.db, sessionId)).toMatchObject({ events: ['checkout.expired'] });
    }
  });

  test('of fifty concurrent cancels, expiries and payments of one session exactly one succeeds', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { sessionId } = await buildSession(fixture, scope);
      const at = new Date(fixture.clock().getTime() + 30 * MINUTE_MS);
      const key = { ...scope, sessionId };
      const wanted = { channel: 'TELEBIRR' as const, phone: '0911000001' };
      const callers = Array.from({ length: 50 }, (_, index) => async (): Promise<boolean> => {
        if (index % 3 === 0) {
          return fixture.runInTransaction((tx) => closeSession(tx, sessionId, { status: 'EXPIRED', at }));
        }
        if (index % 3 === 1) {
          const end = { status: 'CANCELLED' as const, needsReconciliation: false, at: fixture.clock() };
          return fixture.runInTransaction((tx) => closeSession(tx, sessionId, end));
        }
        return fixture
          .runInTransaction((tx) => startPayment({ ...fixture, tx }, key, wanted))
          .then(() => false, refusedByState);
      });
      const wins = (await Promise.all(callers.map((call) => untilServed(call)))).filter(Boolean).length;
      const stands = await stateOfSession(database.db, sessionId);
      expect(stands['events']).toHaveLength(1);
      expect(stands['session'] === 'PROCESSING' ? wins === 0 : wins === 1).toBe(true);
    }
  });

  test('fifty concurrent equal payments of one session are one attempt; of different ones one succeeds and the others fail', async () => {
    const { sessionId } = await buildSession(fixture, scope);
    const alike = Array.from({ length: 50 }, () => untilServed(() => buildAttempt(fixture, { ...scope, sessionId })));
    expect(new Set(await Promise.all(alike)).size).toBe(1);
    const other = await buildSession(fixture, scope);
    const channels = ['TELEBIRR', 'CBE_BIRR', 'AWASH'] as const;
    const differing = await Promise.allSettled(
      channels.map((channel) => buildAttempt(fixture, { ...scope, sessionId: other.sessionId }, { channel })),
    );
    expect(differing.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    for (const one of differing) if (one.status === 'rejected') expect(one.reason.code).toBe('INVALID_STATE');
    expect(await stateOfSession(database.db, other.sessionId)).toMatchObject({ events: ['payment.created'] });
  });

  test('cancelling with a payment in flight succeeds only after the provider reports it unpaid', async () => {
    const unpaid = await buildPendingPayment(fixture, scope);
    fixture.pass(2_000);
    fixture.provider.returns(PENDING);
    expect(await fixture.closeUnpaid(unpaid.sessionId, 'CANCELLED')).toBe('CANCELLED');
    expect(await stateOfSession(database.db, unpaid.sessionId)).toMatchObject({
      attempts: ['ABANDONED'],
      events: ['checkout.canceled', 'payment.created'],
    });

    const uncertain = await buildPendingPayment(fixture, scope);
    fixture.pass(2_000);
    fixture.provider.returns(UNKNOWN);
    expect(await fixture.closeUnpaid(uncertain.sessionId, 'CANCELLED')).toBe('PROCESSING');

    const paid = await buildPendingPayment(fixture, scope);
    fixture.pass(2_000);
    fixture.provider.returns(PAID);
    expect(await fixture.closeUnpaid(paid.sessionId, 'CANCELLED')).toBe('COMPLETED');
  });

  test('fifty processes that cancel a payment in flight record one set of events', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.pass(2_000);
    fixture.provider.returns(PENDING);
    const cancels = Array.from({ length: 50 }, () =>
      untilServed(() => createCloseUnpaid(fixture)(payment.sessionId, 'CANCELLED')),
    );
    expect(new Set(await Promise.all(cancels))).toEqual(new Set(['CANCELLED']));
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      events: ['checkout.canceled', 'payment.created'],
    });
  });

  test('an attempt expires with its session after a definite result, and not before the expiry', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    const early = await fixture.expireAttempt(payment.attemptId, fixture.clock());
    expect(early).toMatchObject({ final: false, sessionStatus: 'PROCESSING' });
    fixture.pass(30 * MINUTE_MS);
    fixture.provider.returns(PENDING);
    const state = await fixture.expireAttempt(payment.attemptId, fixture.clock());
    expect(state).toMatchObject({
      queried: true,
      final: true,
      attemptStatus: 'ABANDONED',
      transactionStatus: 'EXPIRED',
    });
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      needsReconciliation: false,
      events: ['checkout.expired', 'payment.created'],
    });
  });

  test('an earlier result does not expire an attempt: a new query is needed', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.pass(30 * MINUTE_MS);
    const expire = async () => fixture.expireAttempt(payment.attemptId, fixture.clock());
    const lease = async (until: Date | null) =>
      rows(database.db, 'UPDATE payment_attempt SET lease_until = :until WHERE id = :id', {
        id: payment.attemptId,
        until,
      });
    // Somebody else is asking and gets no answer in the time that is waited for it.
    await lease(new Date(fixture.clock().getTime() + MINUTE_MS));
    expect(await expire()).toMatchObject({ queried: false, final: false, outcomeKind: 'accepted' });
    await lease(null);
    // It was queried a second ago.
    fixture.provider.returns(PENDING);
    await fixture.checkAttempt(payment.attemptId, { notifyWorkflow: true });
    fixture.pass(1_000);
    expect(await expire()).toMatchObject({ queried: false, final: false, outcomeKind: 'pending' });
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({ session: 'PROCESSING' });
    fixture.pass(1_000);
    expect(await expire()).toMatchObject({ queried: true, final: true, transactionStatus: 'EXPIRED' });
  });

  test('a cancellation is not based on an earlier result while another query is in progress', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.pass(2_000);
    await rows(database.db, 'UPDATE payment_attempt SET lease_until = :until WHERE id = :id', {
      id: payment.attemptId,
      until: new Date(fixture.clock().getTime() + MINUTE_MS),
    });
    expect(await fixture.closeUnpaid(payment.sessionId, 'CANCELLED')).toBe('PROCESSING');
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({ attempts: ['PENDING'] });
  });

  test('a cancellation is based on a result of the last 2 s', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    const asked = fixture.provider.queries.length;
    fixture.pass(1_999);
    expect(await fixture.closeUnpaid(payment.sessionId, 'CANCELLED')).toBe('CANCELLED');
    expect(fixture.provider.queries.length).toBe(asked);
  });

  test('an open attempt of a session that another attempt has paid is only abandoned', async () => {
    const first = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(declined(true), ACCEPTED, PAID);
    await fixture.checkAttempt(first.attemptId, { notifyWorkflow: true });
    fixture.pass(1_000);
    const second = await buildAttempt(fixture, { ...scope, sessionId: first.sessionId });
    await fixture.checkAttempt(second, { notifyWorkflow: true });
    await fixture.checkAttempt(first.attemptId, { notifyWorkflow: true });
    expect(await stateOfSession(database.db, first.sessionId)).toMatchObject({ attempts: ['SUCCEEDED', 'PENDING'] });
    fixture.provider.returns(PENDING);
    fixture.pass(30 * MINUTE_MS);
    expect(await fixture.expireAttempt(second, fixture.clock())).toMatchObject({ attemptStatus: 'ABANDONED' });
    expect(await stateOfSession(database.db, first.sessionId)).toMatchObject({
      session: 'COMPLETED',
      transaction: 'SUCCESS',
      events: ['checkout.completed', 'payment.created', 'payment.succeeded'],
    });
  });

  test('a payment with an unknown outcome stays pending for 24 h and then needs reconciliation', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(UNKNOWN);
    fixture.pass(30 * MINUTE_MS);
    expect(await fixture.expireAttempt(payment.attemptId, fixture.clock())).toMatchObject({ final: false });
    fixture.pass(24 * 60 * MINUTE_MS - 1);
    expect(await fixture.expireAttempt(payment.attemptId, fixture.clock())).toMatchObject({ final: false });
    fixture.pass(2_000);
    expect(await fixture.expireAttempt(payment.attemptId, fixture.clock())).toMatchObject({ final: true });
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      transaction: 'EXPIRED',
      needsReconciliation: true,
    });
  });

  test('an order that was never sent expires without being sent after the expiry', async () => {
    const { sessionId } = await buildSession(fixture, scope);
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId });
    fixture.pass(30 * MINUTE_MS);
    expect(await fixture.expireAttempt(attemptId, fixture.clock())).toMatchObject({ transactionStatus: 'EXPIRED' });
    expect(fixture.provider.queries).toEqual([]);
    expect(await stateOfSession(database.db, sessionId)).toMatchObject({ needsReconciliation: false });
  });

  test('an order that may have been sent is queried after the expiry, not sent again', async () => {
    const { sessionId } = await buildSession(fixture, scope);
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId });
    fixture.provider.returns(UNKNOWN, PAID);
    await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
    fixture.pass(30 * MINUTE_MS);
    await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
    expect(fixture.provider.queries.map((one) => one.operation)).toEqual(['initiate', 'query']);
    expect(await stateOfSession(database.db, sessionId)).toMatchObject({ transaction: 'SUCCESS' });
  });
});

/** Losing to another caller is a 409; anything else that goes wrong is no mere loss. */
function refusedByState(error: unknown): false {
  if (error instanceof AppError && error.code === 'INVALID_STATE') return false;
  throw error;
}
