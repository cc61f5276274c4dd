import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { ProviderOutcome } from '../../src/providers/provider.ts';
import {
  ACCEPTED,
  buildAttempt,
  buildMerchant,
  buildPendingPayment,
  buildSession,
  buildFixture,
  declined,
  PAID,
  paidReference,
  PENDING,
  stateOfSession,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const SUCCESS_EVENTS = ['checkout.completed', 'payment.created', 'payment.succeeded'];

describe("applying a provider's result to a payment", () => {
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

  const check = (attemptId: string, notifyWorkflow = true) => fixture.checkAttempt(attemptId, { notifyWorkflow });

  test('a payment of the expected amount and currency is SUCCESS with its two events', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(PAID);
    expect(await check(payment.attemptId)).toMatchObject({
      attemptStatus: 'SUCCEEDED',
      transactionStatus: 'SUCCESS',
      sessionStatus: 'COMPLETED',
      final: true,
    });
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      session: 'COMPLETED',
      transaction: 'SUCCESS',
      confirmedLate: false,
      events: SUCCESS_EVENTS,
      timeline: ['session.created', 'attempt.started', 'provider.responded', 'payment.succeeded'],
    });
  });

  test('the event contains the whole transaction after the change', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(PAID);
    await check(payment.attemptId);
    const [event] = await rows<{ payload: Buffer }>(
      database.db,
      `SELECT payload FROM webhook_event WHERE resource_id = :id AND event = 'payment.succeeded'`,
      { id: payment.transactionId },
    );
    expect(JSON.parse(String(event?.payload)).data).toEqual({
      object: 'transaction',
      environment: 'sandbox',
      merchantId: scope.merchantId,
      version: 3,
      checkoutOrderNo: payment.checkoutOrderNo,
      amount: 100.5,
      currency: 'ETB',
      transactionThrough: 'telebirr',
      transactionDate: '2026-03-02',
      type: 'API',
      status: 'SUCCESS',
      createdAt: '2026-03-02T09:00:00.000Z',
      sessionId: payment.sessionId,
      transactionId: payment.transactionId,
      fee: 2.51,
      feeTax: 0.38,
      netAmount: 97.61,
      providerReference: paidReference(payment.attemptId),
      completedAt: '2026-03-02T09:00:00.000Z',
    });
  });

  test('a retryable decline opens the session for another attempt, without an event', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(declined(true));
    expect(await check(payment.attemptId)).toMatchObject({
      attemptStatus: 'DECLINED',
      sessionStatus: 'OPEN',
      final: true,
    });
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      session: 'OPEN',
      transaction: 'PENDING',
      events: ['payment.created'],
    });
  });

  test('a hard decline fails the transaction', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(declined(false));
    await check(payment.attemptId);
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      session: 'FAILED',
      transaction: 'FAILED',
      events: ['checkout.failed', 'payment.created'],
    });
  });

  test('the third retryable decline fails the transaction', async () => {
    const session = await buildSession(fixture, scope);
    for (let tries = 0; tries < 3; tries += 1) {
      const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
      fixture.provider.returns(ACCEPTED, declined(true));
      await check(attemptId);
      await check(attemptId);
      fixture.pass(1_000);
    }
    expect(await stateOfSession(database.db, session.sessionId)).toMatchObject({
      session: 'FAILED',
      attempts: ['DECLINED', 'DECLINED', 'DECLINED'],
      events: ['checkout.failed', 'payment.created'],
    });
  });

  test('a retryable decline at the end of the session or later expires it, with an event and an entry in the timeline', async () => {
    for (const minutes of [30, 31]) {
      const payment = await buildPendingPayment(fixture, scope);
      fixture.pass(minutes * 60_000);
      fixture.provider.returns(declined(true));
      await check(payment.attemptId);
      expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
        session: 'EXPIRED',
        transaction: 'EXPIRED',
        events: ['checkout.expired', 'payment.created'],
        timeline: ['session.created', 'attempt.started', 'provider.responded', 'attempt.declined', 'session.expired'],
      });
    }
  });

  test('a retryable decline a millisecond before the end of the session opens it again', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.pass(30 * 60_000 - 1);
    fixture.provider.returns(declined(true));
    await check(payment.attemptId);
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      session: 'OPEN',
      transaction: 'PENDING',
    });
  });

  test.each([
    ['another amount', { ...PAID, amountSantim: 10_049n } as ProviderOutcome, 'WRONG_AMOUNT'],
    ['another currency', { ...PAID, currency: 'USD' } as ProviderOutcome, 'WRONG_CURRENCY'],
  ])('%s than expected is held and never SUCCESS by itself', async (_what, outcome, held) => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(outcome);
    expect(await check(payment.attemptId)).toMatchObject({
      attemptStatus: 'HELD',
      transactionStatus: 'PENDING',
      final: true,
    });
    await check(payment.attemptId);
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      session: 'PROCESSING',
      transaction: 'PENDING',
      holdReason: held,
      events: ['payment.created'],
    });
  });

  test('a payment confirmed after the expiry is booked and flagged as late', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.pass(31 * 60_000);
    fixture.provider.returns(PENDING);
    await fixture.expireAttempt(payment.attemptId, fixture.clock());
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      session: 'EXPIRED',
      attempts: ['ABANDONED'],
    });
    fixture.provider.returns(PAID);
    await check(payment.attemptId);
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      session: 'COMPLETED',
      transaction: 'SUCCESS',
      confirmedLate: true,
      attempts: ['SUCCEEDED'],
      events: ['checkout.completed', 'checkout.expired', 'payment.created', 'payment.succeeded'],
    });
  });

  test('a payment confirmed after a decline or a cancellation is booked too', async () => {
    const failed = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(declined(false), PAID);
    await check(failed.attemptId);
    await check(failed.attemptId);
    const cancelled = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(PENDING);
    await fixture.closeUnpaid(cancelled.sessionId, 'CANCELLED');
    fixture.provider.returns(PAID);
    await check(cancelled.attemptId);
    for (const { sessionId } of [failed, cancelled]) {
      expect(await stateOfSession(database.db, sessionId)).toMatchObject({
        transaction: 'SUCCESS',
        confirmedLate: true,
      });
    }
  });

  test('a second paid attempt is a duplicate and changes nothing else', async () => {
    const first = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(declined(true));
    await check(first.attemptId);
    fixture.pass(1_000);
    const second = await buildAttempt(fixture, { ...scope, sessionId: first.sessionId });
    fixture.provider.returns(ACCEPTED, PAID);
    await check(second);
    await check(second);
    expect(await check(first.attemptId)).toMatchObject({ attemptStatus: 'DUPLICATE', transactionStatus: 'SUCCESS' });
    const stands = await stateOfSession(database.db, first.sessionId);
    expect(stands).toMatchObject({ attempts: ['DUPLICATE', 'SUCCEEDED'], events: SUCCESS_EVENTS, version: 4 });
    expect(stands['timeline']).toContain('payment.duplicate');
  });

  test('SUCCESS never changes: later checks query no provider', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(PAID);
    await check(payment.attemptId);
    const asked = fixture.provider.queries.length;
    fixture.provider.returns(declined(false));
    expect(await check(payment.attemptId)).toMatchObject({ attemptStatus: 'SUCCEEDED', final: true });
    expect(fixture.provider.queries.length).toBe(asked);
  });
});
