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
  buildWorld,
  declined,
  PAID,
  PENDING,
  stateOfSession,
  UNKNOWN,
  untilServed,
  type World,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const MINUTE_MS = 60_000;

describe('closing a session without a payment', () => {
  let database: TestDatabase;
  let world: World;
  let scope: MerchantScope;

  beforeAll(async () => {
    database = await createTestDatabase();
    scope = await buildMerchant(database.db);
  });
  beforeEach(() => {
    world = buildWorld(database.db);
  });
  afterAll(() => database.drop());

  test('sessions past their expiry expire in batches, oldest first, and others stay open', async () => {
    const due = [];
    for (let count = 0; count < 3; count += 1)
      due.push(await buildSession(world, scope, { expiresInMinutes: 5 + count }));
    const later = await buildSession(world, scope, { expiresInMinutes: 60 });
    world.pass(10 * MINUTE_MS);
    expect(await expireDueSessions(world.runInTransaction, world.clock(), 2)).toBe(2);
    expect(await stateOfSession(database.db, due[2]?.sessionId ?? '')).toMatchObject({ session: 'OPEN' });
    expect(await expireDueSessions(world.runInTransaction, world.clock(), 2)).toBe(1);
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
    const [byJob, byRead] = [await buildSession(world, scope), await buildSession(world, scope)];
    const expire = async () => [
      (await readSession(world, { ...scope, sessionId: byRead.sessionId })).status,
      await expireDueSessions(world.runInTransaction, world.clock(), 100),
    ];
    world.pass(30 * MINUTE_MS - 1);
    expect(await expire()).toEqual(['OPEN', 0]);
    world.pass(1);
    expect(await expire()).toEqual(['EXPIRED', 1]);
    expect(await stateOfSession(database.db, byJob.sessionId)).toMatchObject({ session: 'EXPIRED' });
  });

  test('ten concurrent expiry jobs expire each session once', async () => {
    const sessions = await Promise.all(
      Array.from({ length: 20 }, () => untilServed(() => buildSession(world, scope, { expiresInMinutes: 5 }))),
    );
    world.pass(6 * MINUTE_MS);
    const counts = await Promise.all(
      Array.from({ length: 10 }, () =>
        untilServed(() => expireDueSessions(world.runInTransaction, world.clock(), 100)),
      ),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
    for (const { sessionId } of sessions) {
      expect(await stateOfSession(database.db, sessionId)).toMatchObject({ events: ['checkout.expired'] });
    }
  });

  test('of fifty concurrent cancels, expiries and payments of one session exactly one succeeds', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { sessionId } = await buildSession(world, scope);
      const at = new Date(world.clock().getTime() + 30 * MINUTE_MS);
      const key = { ...scope, sessionId };
      const wanted = { channel: 'TELEBIRR' as const, phone: '0911000001' };
      const callers = Array.from({ length: 50 }, (_, index) => async (): Promise<boolean> => {
        if (index % 3 === 0) {
          return world.runInTransaction((tx) => closeSession(tx, sessionId, { status: 'EXPIRED', at }));
        }
        if (index % 3 === 1) {
          const end = { status: 'CANCELLED' as const, needsReconciliation: false, at: world.clock() };
          return world.runInTransaction((tx) => closeSession(tx, sessionId, end));
        }
        return world
          .runInTransaction((tx) => startPayment({ ...world, tx }, key, wanted))
          .then(() => false, refusedByState);
      });
      const wins = (await Promise.all(callers.map((call) => untilServed(call)))).filter(Boolean).length;
      const stands = await stateOfSession(database.db, sessionId);
      expect(stands['events']).toHaveLength(1);
      expect(stands['session'] === 'PROCESSING' ? wins === 0 : wins === 1).toBe(true);
    }
  });

  test('fifty concurrent equal payments of one session are one attempt; of different ones one succeeds and the others fail', async () => {
    const { sessionId } = await buildSession(world, scope);
    const alike = Array.from({ length: 50 }, () => untilServed(() => buildAttempt(world, { ...scope, sessionId })));
    expect(new Set(await Promise.all(alike)).size).toBe(1);
    const other = await buildSession(world, scope);
    const channels = ['TELEBIRR', 'CBE_BIRR', 'AWASH'] as const;
    const differing = await Promise.allSettled(
      channels.map((channel) => buildAttempt(world, { ...scope, sessionId: other.sessionId }, { channel })),
    );
    expect(differing.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    for (const one of differing) if (one.status === 'rejected') expect(one.reason.code).toBe('INVALID_STATE');
    expect(await stateOfSession(database.db, other.sessionId)).toMatchObject({ events: ['payment.created'] });
  });

  test('cancelling with a payment in flight succeeds only after the provider reports it unpaid', async () => {
    const unpaid = await buildPendingPayment(world, scope);
    world.pass(2_000);
    world.provider.returns(PENDING);
    expect(await world.endUnpaid(unpaid.sessionId, 'CANCELLED')).toBe('CANCELLED');
    expect(await stateOfSession(database.db, unpaid.sessionId)).toMatchObject({
      attempts: ['ABANDONED'],
      events: ['checkout.canceled', 'payment.created'],
    });

    const uncertain = await buildPendingPayment(world, scope);
    world.pass(2_000);
    world.provider.returns(UNKNOWN);
    expect(await world.endUnpaid(uncertain.sessionId, 'CANCELLED')).toBe('PROCESSING');

    const paid = await buildPendingPayment(world, scope);
    world.pass(2_000);
    world.provider.returns(PAID);
    expect(await world.endUnpaid(paid.sessionId, 'CANCELLED')).toBe('COMPLETED');
  });

  test('fifty processes that cancel a payment in flight record one set of events', async () => {
    const payment = await buildPendingPayment(world, scope);
    world.pass(2_000);
    world.provider.returns(PENDING);
    const cancels = Array.from({ length: 50 }, () =>
      untilServed(() => createCloseUnpaid(world)(payment.sessionId, 'CANCELLED')),
    );
    expect(new Set(await Promise.all(cancels))).toEqual(new Set(['CANCELLED']));
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      events: ['checkout.canceled', 'payment.created'],
    });
  });

  test('an attempt expires with its session after a definite result, and not before the expiry', async () => {
    const payment = await buildPendingPayment(world, scope);
    const early = await world.expireAttempt(payment.attemptId, world.clock());
    expect(early).toMatchObject({ final: false, sessionStatus: 'PROCESSING' });
    world.pass(30 * MINUTE_MS);
    world.provider.returns(PENDING);
    const state = await world.expireAttempt(payment.attemptId, world.clock());
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
    const payment = await buildPendingPayment(world, scope);
    world.pass(30 * MINUTE_MS);
    const expire = async () => world.expireAttempt(payment.attemptId, world.clock());
    const lease = async (until: Date | null) =>
      rows(database.db, 'UPDATE payment_attempt SET lease_until = :until WHERE id = :id', {
        id: payment.attemptId,
        until,
      });
    // Somebody else is asking and gets no answer in the time that is waited for it.
    await lease(new Date(world.clock().getTime() + MINUTE_MS));
    expect(await expire()).toMatchObject({ queried: false, final: false, outcomeKind: 'accepted' });
    await lease(null);
    // Somebody asked a second ago.
    world.provider.returns(PENDING);
    await world.checkAttempt(payment.attemptId, { notifyWorkflow: true });
    world.pass(1_000);
    expect(await expire()).toMatchObject({ queried: false, final: false, outcomeKind: 'pending' });
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({ session: 'PROCESSING' });
    world.pass(1_000);
    expect(await expire()).toMatchObject({ queried: true, final: true, transactionStatus: 'EXPIRED' });
  });

  test('a cancellation is not based on an earlier result while another query is in progress', async () => {
    const payment = await buildPendingPayment(world, scope);
    world.pass(2_000);
    await rows(database.db, 'UPDATE payment_attempt SET lease_until = :until WHERE id = :id', {
      id: payment.attemptId,
      until: new Date(world.clock().getTime() + MINUTE_MS),
    });
    expect(await world.endUnpaid(payment.sessionId, 'CANCELLED')).toBe('PROCESSING');
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({ attempts: ['PENDING'] });
  });

  test('a cancellation is based on a result of the last 2 s', async () => {
    const payment = await buildPendingPayment(world, scope);
    const asked = world.provider.queries.length;
    world.pass(1_999);
    expect(await world.endUnpaid(payment.sessionId, 'CANCELLED')).toBe('CANCELLED');
    expect(world.provider.queries.length).toBe(asked);
  });

  test('an open attempt of a session that another attempt has paid is only abandoned', async () => {
    const first = await buildPendingPayment(world, scope);
    world.provider.returns(declined(true), ACCEPTED, PAID);
    await world.checkAttempt(first.attemptId, { notifyWorkflow: true });
    world.pass(1_000);
    const second = await buildAttempt(world, { ...scope, sessionId: first.sessionId });
    await world.checkAttempt(second, { notifyWorkflow: true });
    await world.checkAttempt(first.attemptId, { notifyWorkflow: true });
    expect(await stateOfSession(database.db, first.sessionId)).toMatchObject({ attempts: ['SUCCEEDED', 'PENDING'] });
    world.provider.returns(PENDING);
    world.pass(30 * MINUTE_MS);
    expect(await world.expireAttempt(second, world.clock())).toMatchObject({ attemptStatus: 'ABANDONED' });
    expect(await stateOfSession(database.db, first.sessionId)).toMatchObject({
      session: 'COMPLETED',
      transaction: 'SUCCESS',
      events: ['checkout.completed', 'payment.created', 'payment.succeeded'],
    });
  });

  test('a payment with an unknown outcome stays pending for 24 h and then needs reconciliation', async () => {
    const payment = await buildPendingPayment(world, scope);
    world.provider.returns(UNKNOWN);
    world.pass(30 * MINUTE_MS);
    expect(await world.expireAttempt(payment.attemptId, world.clock())).toMatchObject({ final: false });
    world.pass(24 * 60 * MINUTE_MS - 1);
    expect(await world.expireAttempt(payment.attemptId, world.clock())).toMatchObject({ final: false });
    world.pass(2_000);
    expect(await world.expireAttempt(payment.attemptId, world.clock())).toMatchObject({ final: true });
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      transaction: 'EXPIRED',
      needsReconciliation: true,
    });
  });

  test('an order that was never sent expires without being sent after the expiry', async () => {
    const { sessionId } = await buildSession(world, scope);
    const attemptId = await buildAttempt(world, { ...scope, sessionId });
    world.pass(30 * MINUTE_MS);
    expect(await world.expireAttempt(attemptId, world.clock())).toMatchObject({ transactionStatus: 'EXPIRED' });
    expect(world.provider.queries).toEqual([]);
    expect(await stateOfSession(database.db, sessionId)).toMatchObject({ needsReconciliation: false });
  });

  test('an order that may have been sent is queried after the expiry, not sent again', async () => {
    const { sessionId } = await buildSession(world, scope);
    const attemptId = await buildAttempt(world, { ...scope, sessionId });
    world.provider.returns(UNKNOWN, PAID);
    await world.checkAttempt(attemptId, { notifyWorkflow: false });
    world.pass(30 * MINUTE_MS);
    await world.checkAttempt(attemptId, { notifyWorkflow: false });
    expect(world.provider.queries.map((one) => one.operation)).toEqual(['initiate', 'query']);
    expect(await stateOfSession(database.db, sessionId)).toMatchObject({ transaction: 'SUCCESS' });
  });
});

/** Losing to another caller is a 409; anything else that goes wrong is no mere loss. */
function refusedByState(error: unknown): false {
  if (error instanceof AppError && error.code === 'INVALID_STATE') return false;
  throw error;
}
