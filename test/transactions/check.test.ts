import { rows } from '../../src/lib/db.ts';
import type { Owner } from '../../src/lib/owner.ts';
import type { ProviderOutcome } from '../../src/providers/provider.ts';
import { LEASE_MS, createCheckAttempt } from '../../src/transactions/check.ts';
import {
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
  untilServed,
  type World,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

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
    const attemptId = await buildAttempt(world, { ...owner, sessionId: session.sessionId });
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
    const attemptId = await buildAttempt(world, { ...owner, sessionId: session.sessionId });
    world.provider.answers(UNKNOWN);
    expect(await check(attemptId)).toMatchObject({ attemptStatus: 'CREATED', final: false, outcomeKind: 'unknown' });
    await check(attemptId);
    expect(world.provider.asked.map((one) => one.question)).toEqual(['initiate', 'initiate']);
    expect(await standing(database.db, session.sessionId)).toMatchObject({
      session: 'PROCESSING',
      transaction: 'PENDING',
    });
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
    const states = await Promise.all(
      processes.map((one) => untilServed(() => one(payment.attemptId, { tellWorkflow: true }))),
    );
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

  test.each([
    ['pending', PENDING],
    ['a no', declined(false)],
  ])('a proof that comes while an older question fetches %s has the provider asked again', async (_what, outcome) => {
    const payment = await buildPendingPayment(world, owner);
    let release: (outcome: ProviderOutcome) => void = () => undefined;
    world.provider.answers(() => new Promise((resolve) => (release = resolve)), PAID);
    const older = check(payment.attemptId);
    while (world.provider.asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const proof = check(payment.attemptId);
    release(outcome);
    expect(await older).toMatchObject({ outcomeKind: outcome.kind });
    expect(await proof).toMatchObject({ asked: true, transactionStatus: 'SUCCESS' });
  });

  test('what a dead process held is asked again when its lease is over', async () => {
    const payment = await buildPendingPayment(world, owner);
    await rows(database.db, 'UPDATE payment_attempt SET lease_until = :until WHERE id = :id', {
      id: payment.attemptId,
      until: new Date(world.clock().getTime() + LEASE_MS),
    });
    world.pass(LEASE_MS + 1);
    world.provider.answers(PAID);
    expect(await check(payment.attemptId)).toMatchObject({ transactionStatus: 'SUCCESS' });
  });

  test('a check that fails after the answer gives its lease back: the next one asks at once', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(PAID);
    const broken = createCheckAttempt({ ...world, runChange: () => Promise.reject(new Error('the database is away')) });
    await expect(broken(payment.attemptId, { tellWorkflow: true })).rejects.toThrow('the database is away');
    const asked = world.provider.asked.length;
    expect(await check(payment.attemptId)).toMatchObject({ asked: true, transactionStatus: 'SUCCESS' });
    expect(world.provider.asked.length).toBe(asked + 1);
  });

  test('a check that fails for want of an answer gives its lease back too', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(() => Promise.reject(new Error('a defect of ours')), PAID);
    await expect(check(payment.attemptId)).rejects.toThrow('a defect of ours');
    expect(await check(payment.attemptId)).toMatchObject({ transactionStatus: 'SUCCESS' });
  });

  test('a check says that it asked only when it did, not when it shares what another heard', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(PENDING);
    world.pass(2_000);
    const claim = async () => world.checkAttempt(payment.attemptId, { minIntervalMs: 2_000, tellWorkflow: true });
    expect((await Promise.all([claim(), claim(), claim()])).map(({ asked }) => asked)).toEqual([true, false, false]);
    expect(await claim()).toMatchObject({ asked: false, outcomeKind: 'pending' });
  });

  test('polling that changes nothing leaves one entry in the timeline', async () => {
    const payment = await buildPendingPayment(world, owner);
    world.provider.answers(PENDING);
    for (let polls = 0; polls < 3; polls += 1) await check(payment.attemptId);
    const { timeline } = await standing(database.db, payment.sessionId);
    expect(timeline).toEqual(['session.created', 'attempt.started', 'provider.answer', 'provider.answer']);
  });
});
