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
  standing,
  UNKNOWN,
  type World,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { rows } from '../../src/lib/db.ts';
import type { Owner } from '../../src/channels/queries.ts';
import { createCheckAttempt } from '../../src/transactions/check.ts';
import type { ProviderOutcome } from '../../src/providers/provider.ts';

const SUCCESS_EVENTS = ['checkout.completed', 'payment.created', 'payment.succeeded'];

describe('checking an attempt', () => {
  let database: TestDatabase;
  let world: World;
  let owner: Owner;

  beforeAll(async () => {
    database = await createTestDatabase();
    owner = await buildMerchant(database.db);
  });
  beforeEach(() => {
    world = buildWorld(database.db);
  });
  afterAll(() => database.drop());

  const check = (attemptId: string, tellWorkflow = true) => world.checkAttempt(attemptId, { tellWorkflow });

  test('an attempt not yet sent is initiated once, then only queried', async () => {
    const session = await buildSession(world, owner);
    const attemptId = await buildAttempt(world, owner, session.sessionId);
    expect(await check(attemptId)).toMatchObject({
      attemptStatus: 'PENDING',
      transactionStatus: 'PENDING',
      sessionStatus: 'PROCESSING',
      final: false,
      outcomeKind: 'accepted',
      redirectUrl: 'https://pay.example/confirm',
    });
    world.provider.answers(PENDING);
    expect(await check(attemptId)).toMatchObject({
      outcomeKind: 'pending',
      redirectUrl: 'https://pay.example/confirm',
    });
    expect(world.provider.asked.map((one) => one.question)).toEqual(['initiate', 'query']);
    expect(world.provider.asked[0]?.order).toMatchObject({
      orderId: attemptId,
      amountSantim: 10_050n,
      phone: '251911000001',
      returnUrl: `https://checkout.example/checkout/${session.sessionId}`,
    });
  });

  test('an order whose fate is unknown is sent again under the same id, and nothing is assumed', async () => {
    const session = await buildSession(world, owner);
    const attemptId = await buildAttempt(world, owner, session.sessionId);
    world.provider.answers(UNKNOWN);
    expect(await check(attemptId)).toMatchObject({ attemptStatus: 'CREATED', final: false, outcomeKind: 'unknown' });
    await check(attemptId);
    expect(world.provider.asked.map((one) => one.question)).toEqual(['initiate', 'initiate']);
    expect(await standing(database.db, session.sessionId)).toMatchObject({
      session: 'PROCESSING',
      transaction: 'PENDING',
    });
  });

  test('a payment confirmed with amount and currency as asked is SUCCESS with its two events', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(PAID);
    expect(await check(payment.attemptId)).toMatchObject({
      attemptStatus: 'SUCCEEDED',
      transactionStatus: 'SUCCESS',
      sessionStatus: 'COMPLETED',
      final: true,
    });
    expect(await standing(database.db, payment.sessionId)).toMatchObject({
      session: 'COMPLETED',
      transaction: 'SUCCESS',
      lateConfirmation: false,
      events: SUCCESS_EVENTS,
      timeline: ['session.created', 'attempt.started', 'provider.answer', 'payment.succeeded'],
    });
    expect(world.told.at(-1)).toMatchObject({
      kind: 'signal',
      signal: 'settled',
      workflowId: `payment-${payment.attemptId}`,
    });
  });

  test('the event carries the whole transaction as it became', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(PAID);
    await check(payment.attemptId);
    const [event] = await rows<{ payload: Buffer }>(
      database.db,
      `SELECT payload FROM webhook_event WHERE resource_id = :id AND event = 'payment.succeeded'`,
      { id: payment.transactionId },
    );
    expect(JSON.parse(String(event?.payload)).data).toEqual({
      object: 'transaction',
      environment: 'sandbox',
      merchantId: owner.merchantId,
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
      providerReference: 'PROV-1',
      completedAt: '2026-03-02T09:00:00.000Z',
    });
  });

  test('confirming takes at most four statements, lease, events and outbox included', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(PAID);
    const statements: string[] = [];
    const count = ({ sql }: { sql: string }) => /^(BEGIN|COMMIT)/i.test(sql) || statements.push(sql);
    database.db.on('query', count);
    await check(payment.attemptId);
    database.db.off('query', count);
    expect(statements.length).toBe(4);
  });

  test('a decline that may be tried again opens the session for another try, without an event', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(declined(true));
    expect(await check(payment.attemptId)).toMatchObject({
      attemptStatus: 'DECLINED',
      sessionStatus: 'OPEN',
      final: true,
    });
    expect(await standing(database.db, payment.sessionId)).toMatchObject({
      session: 'OPEN',
      transaction: 'PENDING',
      events: ['payment.created'],
    });
  });

  test('a hard decline fails the transaction', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(declined(false));
    await check(payment.attemptId);
    expect(await standing(database.db, payment.sessionId)).toMatchObject({
      session: 'FAILED',
      transaction: 'FAILED',
      events: ['checkout.failed', 'payment.created'],
    });
  });

  test('the third decline fails the transaction, however soft', async () => {
    const session = await buildSession(world, owner);
    for (let tries = 0; tries < 3; tries += 1) {
      const attemptId = await buildAttempt(world, owner, session.sessionId);
      world.provider.answers(ACCEPTED, declined(true));
      await check(attemptId);
      await check(attemptId);
      world.pass(1_000);
    }
    expect(await standing(database.db, session.sessionId)).toMatchObject({
      session: 'FAILED',
      attempts: ['DECLINED', 'DECLINED', 'DECLINED'],
      events: ['checkout.failed', 'payment.created'],
    });
  });

  test('a soft decline after the time is over expires the session', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.pass(31 * 60_000);
    world.provider.answers(declined(true));
    await check(payment.attemptId);
    expect(await standing(database.db, payment.sessionId)).toMatchObject({
      session: 'EXPIRED',
      transaction: 'EXPIRED',
      events: ['checkout.expired', 'payment.created'],
    });
  });

  test.each([
    ['another amount', { ...PAID, amountSantim: 10_049n } as ProviderOutcome, 'WRONG_AMOUNT'],
    ['another currency', { ...PAID, currency: 'USD' } as ProviderOutcome, 'WRONG_CURRENCY'],
  ])('%s than asked is held and never SUCCESS by itself', async (_what, outcome, held) => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(outcome);
    expect(await check(payment.attemptId)).toMatchObject({
      attemptStatus: 'HELD',
      transactionStatus: 'PENDING',
      final: true,
    });
    await check(payment.attemptId);
    expect(await standing(database.db, payment.sessionId)).toMatchObject({
      session: 'PROCESSING',
      transaction: 'PENDING',
      held,
      events: ['payment.created'],
    });
  });

  test('money that comes after the session expired is booked and flagged', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.pass(31 * 60_000);
    world.provider.answers(PENDING);
    await check(payment.attemptId);
    await world.expireAttempt(payment.attemptId, world.clock());
    expect(await standing(database.db, payment.sessionId)).toMatchObject({
      session: 'EXPIRED',
      attempts: ['ABANDONED'],
    });
    world.provider.answers(PAID);
    await check(payment.attemptId);
    expect(await standing(database.db, payment.sessionId)).toMatchObject({
      session: 'COMPLETED',
      transaction: 'SUCCESS',
      lateConfirmation: true,
      attempts: ['SUCCEEDED'],
      events: ['checkout.completed', 'checkout.expired', 'payment.created', 'payment.succeeded'],
    });
  });

  test('money that comes after a decline or a cancellation is booked too', async () => {
    const failed = await buildPendingPayment(world, owner);
    world.provider.answers(declined(false), PAID);
    await check(failed.attemptId);
    await check(failed.attemptId);
    const cancelled = await buildPendingPayment(world, owner);
    world.provider.answers(PENDING);
    await world.endUnpaid(cancelled.sessionId, 'CANCELLED');
    world.provider.answers(PAID);
    await check(cancelled.attemptId);
    for (const { sessionId } of [failed, cancelled]) {
      expect(await standing(database.db, sessionId)).toMatchObject({ transaction: 'SUCCESS', lateConfirmation: true });
    }
  });

  test('a second attempt that turns out paid too is a duplicate, and changes nothing else', async () => {
    const first = await buildPendingPayment(world, owner);
    world.provider.answers(declined(true));
    await check(first.attemptId);
    world.pass(1_000);
    const second = await buildAttempt(world, owner, first.sessionId);
    world.provider.answers(ACCEPTED, PAID);
    await check(second);
    await check(second);
    expect(await check(first.attemptId)).toMatchObject({ attemptStatus: 'DUPLICATE', transactionStatus: 'SUCCESS' });
    const stands = await standing(database.db, first.sessionId);
    expect(stands).toMatchObject({ attempts: ['DUPLICATE', 'SUCCEEDED'], events: SUCCESS_EVENTS, version: 4 });
    expect(stands['timeline']).toContain('payment.duplicate');
  });

  test('SUCCESS never changes: what is asked afterwards asks nobody', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(PAID);
    await check(payment.attemptId);
    const asked = world.provider.asked.length;
    world.provider.answers(declined(false));
    expect(await check(payment.attemptId)).toMatchObject({ attemptStatus: 'SUCCEEDED', final: true });
    expect(world.provider.asked.length).toBe(asked);
  });

  test('fifty checks at once ask the provider once and confirm once', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(PAID);
    const asked = world.provider.asked.length;
    const states = await Promise.all(Array.from({ length: 50 }, () => check(payment.attemptId)));
    expect(new Set(states.map((state) => state.transactionStatus))).toEqual(new Set(['SUCCESS']));
    expect(world.provider.asked.length).toBe(asked + 1);
    expect(await standing(database.db, payment.sessionId)).toMatchObject({ events: SUCCESS_EVENTS });
  });

  test('fifty processes that check at once confirm once, and all learn of it', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(PAID);
    const processes = Array.from({ length: 50 }, () => createCheckAttempt(world));
    const asked = world.provider.asked.length;
    const states = await Promise.all(processes.map((one) => one(payment.attemptId, { tellWorkflow: true })));
    expect(states.every((state) => state.transactionStatus === 'SUCCESS')).toBe(true);
    expect(world.provider.asked.length).toBe(asked + 1);
    expect(await standing(database.db, payment.sessionId)).toMatchObject({ events: SUCCESS_EVENTS });
  });

  test('a claim does not ask again within its interval; a proof does', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(PENDING);
    const asked = () => world.provider.asked.length;
    const before = asked();
    await world.checkAttempt(payment.attemptId, { minIntervalMs: 2_000, tellWorkflow: true });
    expect(asked()).toBe(before);
    await world.checkAttempt(payment.attemptId, { minIntervalMs: 0, tellWorkflow: true });
    expect(asked()).toBe(before + 1);
    world.pass(2_000);
    await world.checkAttempt(payment.attemptId, { minIntervalMs: 2_000, tellWorkflow: true });
    expect(asked()).toBe(before + 2);
  });

  test('a proof that comes while an older question is under way has the provider asked again', async () => {
    const payment = await buildPendingPayment(world, owner);
    let release: (outcome: ProviderOutcome) => void = () => undefined;
    world.provider.answers(() => new Promise((resolve) => (release = resolve)), PAID);
    const older = check(payment.attemptId);
    while (world.provider.asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const proof = check(payment.attemptId);
    release(PENDING);
    expect(await older).toMatchObject({ transactionStatus: 'PENDING' });
    expect(await proof).toMatchObject({ transactionStatus: 'SUCCESS' });
  });

  test('what a dead process held is asked again when its lease is over', async () => {
    const payment = await buildPendingPayment(world, owner);
    await rows(database.db, 'UPDATE payment_attempt SET lease_until = :until WHERE id = :id', {
      id: payment.attemptId,
      until: new Date(world.clock().getTime() + 15_000),
    });
    world.pass(15_001);
    world.provider.answers(PAID);
    expect(await check(payment.attemptId)).toMatchObject({ transactionStatus: 'SUCCESS' });
  });

  test('polling that changes nothing leaves one entry in the timeline', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(PENDING);
    for (let polls = 0; polls < 3; polls += 1) await check(payment.attemptId);
    const { timeline } = await standing(database.db, payment.sessionId);
    expect(timeline).toEqual(['session.created', 'attempt.started', 'provider.answer', 'provider.answer']);
  });
});
