import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createSyncAttempt } from '../../src/payments/sync.ts';
import type { ProviderOutcome } from '../../src/providers/provider.ts';
import {
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

/** As in src/payments/sync.ts. */
const LEASE_MS = 10_000;
/** The longest `…_TIMEOUT_MS`. */
const TIMEOUT_MS_MAX = 4_500;
const SUCCESS_EVENTS = ['checkout.completed', 'payment.created', 'payment.succeeded'];

describe('checking an attempt', () => {
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

  test('an attempt not yet sent is initiated once, then only queried', async () => {
    const session = await buildSession(fixture, scope);
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
    expect(await check(attemptId)).toMatchObject({
      attemptStatus: 'PENDING',
      transactionStatus: 'PENDING',
      sessionStatus: 'PROCESSING',
      final: false,
      outcomeKind: 'accepted',
      redirectUrl: 'https://pay.example/confirm',
    });
    fixture.provider.returns(PENDING);
    expect(await check(attemptId)).toMatchObject({
      outcomeKind: 'pending',
      redirectUrl: 'https://pay.example/confirm',
    });
    expect(fixture.provider.queries.map((one) => one.operation)).toEqual(['initiate', 'query']);
    expect(fixture.provider.queries[0]?.order).toMatchObject({
      orderId: attemptId,
      amountSantim: 10_050n,
      phone: '251911000001',
      returnUrl: `https://checkout.example/checkout/${session.sessionId}`,
    });
  });

  test('an order with an unknown outcome is sent again under the same id', async () => {
    const session = await buildSession(fixture, scope);
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
    fixture.provider.returns(UNKNOWN);
    expect(await check(attemptId)).toMatchObject({ attemptStatus: 'CREATED', final: false, outcomeKind: 'unknown' });
    await check(attemptId);
    expect(fixture.provider.queries.map((one) => one.operation)).toEqual(['initiate', 'initiate']);
    expect(await stateOfSession(database.db, session.sessionId)).toMatchObject({
      session: 'PROCESSING',
      transaction: 'PENDING',
    });
  });

  const failure = { code: 'REJECTED', message: 'used', providerCode: 'E17', retryable: false } as const;

  test('a rejection of the first submission ends the attempt', async () => {
    fixture = buildFixture(database.db, { clock: () => new Date(Date.now() + (ticks += 1)) });
    let ticks = 0;
    const session = await buildSession(fixture, scope);
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
    fixture.provider.returns({ kind: 'declined', failure }, PENDING);
    expect(await check(attemptId)).toMatchObject({ attemptStatus: 'DECLINED', transactionStatus: 'FAILED' });
  });

  test('a rejection of a repeated submission ends nothing: the first one is queried', async () => {
    const session = await buildSession(fixture, scope);
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
    fixture.provider.returns(UNKNOWN, { kind: 'declined', failure }, PAID);
    await check(attemptId);
    fixture.pass(2_000);
    expect(await check(attemptId)).toMatchObject({ attemptStatus: 'SUCCEEDED', outcomeKind: 'succeeded' });
    expect(fixture.provider.queries.map((one) => one.operation)).toEqual(['initiate', 'initiate', 'query']);
    expect(new Set(fixture.provider.queries.map((one) => one.orderId))).toEqual(new Set([attemptId]));
  });

  test('the lease outlasts a rejected repeat and its query, each as long as a call may take', async () => {
    const session = await buildSession(fixture, scope);
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
    const afterTheLongest = (outcome: ProviderOutcome) => () => {
      fixture.pass(TIMEOUT_MS_MAX);
      return Promise.resolve(outcome);
    };
    fixture.provider.returns(UNKNOWN, afterTheLongest({ kind: 'declined', failure }), async () => {
      fixture.pass(TIMEOUT_MS_MAX);
      const meanwhile = await fixture.checkAttempt(attemptId, { minIntervalMs: 1_000, notifyWorkflow: true });
      expect(meanwhile).toMatchObject({ queried: false });
      return PENDING;
    });
    await check(attemptId);
    expect(await check(attemptId)).toMatchObject({ outcomeKind: 'pending' });
    expect(fixture.provider.queries.map((one) => one.operation)).toEqual(['initiate', 'initiate', 'query']);
  });

  describe.each(['circuit-open', 'rate-limit', 'not-configured'] as const)(
    'a submission that is held back (%s)',
    (reason) => {
      const heldBack = { kind: 'unknown', reason, message: 'not sent' } as const;

      test('is none: a rejection of the next one ends the attempt', async () => {
        const session = await buildSession(fixture, scope);
        const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
        fixture.provider.returns(heldBack, { kind: 'declined', failure });
        expect(await check(attemptId)).toMatchObject({ attemptStatus: 'CREATED', initiatedAt: null });
        fixture.pass(2_000);
        expect(await check(attemptId)).toMatchObject({ attemptStatus: 'DECLINED' });
      });

      test('does not undo an earlier one, not even at the same time', async () => {
        const session = await buildSession(fixture, scope);
        const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
        const options = { notifyWorkflow: true, now: fixture.clock() };
        fixture.provider.returns(UNKNOWN, heldBack, { kind: 'declined', failure }, PAID);
        for (let checks = 0; checks < 2; checks += 1) await fixture.checkAttempt(attemptId, options);
        expect(await fixture.checkAttempt(attemptId, options)).toMatchObject({ attemptStatus: 'SUCCEEDED' });
        expect(fixture.provider.queries.map((one) => one.operation)).toEqual([
          'initiate',
          'initiate',
          'initiate',
          'query',
        ]);
      });
    },
  );

  test('a submission that is held back after its lease has expired does not undo the one of the next lease', async () => {
    const session = await buildSession(fixture, scope);
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
    const heldBack = { kind: 'unknown', reason: 'rate-limit', message: 'not sent' } as const;
    fixture.provider.returns(async () => {
      fixture.pass(LEASE_MS + 1);
      await check(attemptId);
      return heldBack;
    }, UNKNOWN);
    expect(await check(attemptId)).toMatchObject({ initiatedAt: expect.any(Date) });
  });

  test('fifty concurrent checks query the provider once and confirm once', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(PAID);
    const queried = fixture.provider.queries.length;
    const states = await Promise.all(Array.from({ length: 50 }, () => check(payment.attemptId)));
    expect(new Set(states.map((state) => state.transactionStatus))).toEqual(new Set(['SUCCESS']));
    expect(fixture.provider.queries.length).toBe(queried + 1);
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({ events: SUCCESS_EVENTS });
  });

  test('fifty processes that check concurrently confirm once, and all get the result', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(PAID);
    const gateway = Array.from({ length: 50 }, () => createSyncAttempt(fixture));
    const queried = fixture.provider.queries.length;
    const states = await Promise.all(
      gateway.map((one) => untilServed(() => one(payment.attemptId, { notifyWorkflow: true }))),
    );
    expect(states.every((state) => state.transactionStatus === 'SUCCESS')).toBe(true);
    expect(fixture.provider.queries.length).toBe(queried + 1);
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({ events: SUCCESS_EVENTS });
  });

  test('a report causes no query within the minimum interval; a callback does', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(PENDING);
    const queried = () => fixture.provider.queries.length;
    const before = queried();
    await fixture.checkAttempt(payment.attemptId, { minIntervalMs: 2_000, notifyWorkflow: true });
    expect(queried()).toBe(before);
    await fixture.checkAttempt(payment.attemptId, { minIntervalMs: 0, notifyWorkflow: true });
    expect(queried()).toBe(before + 1);
    fixture.pass(2_000);
    await fixture.checkAttempt(payment.attemptId, { minIntervalMs: 2_000, notifyWorkflow: true });
    expect(queried()).toBe(before + 2);
  });

  test.each([
    ['pending', PENDING],
    ['a no', declined(false)],
  ])('a callback during an earlier query that returns %s causes a second query', async (_what, outcome) => {
    const payment = await buildPendingPayment(fixture, scope);
    let release: (outcome: ProviderOutcome) => void = () => undefined;
    fixture.provider.returns(() => new Promise((resolve) => (release = resolve)), PAID);
    const older = check(payment.attemptId);
    while (fixture.provider.queries.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const proof = check(payment.attemptId);
    release(outcome);
    expect(await older).toMatchObject({ outcomeKind: outcome.kind });
    expect(await proof).toMatchObject({ queried: true, transactionStatus: 'SUCCESS' });
  });

  test('an attempt leased by a dead process is queried again after the lease', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    await rows(database.db, 'UPDATE payment_attempt SET lease_until = :until WHERE id = :id', {
      id: payment.attemptId,
      until: new Date(fixture.clock().getTime() + LEASE_MS),
    });
    fixture.pass(LEASE_MS + 1);
    fixture.provider.returns(PAID);
    expect(await check(payment.attemptId)).toMatchObject({ transactionStatus: 'SUCCESS' });
  });

  test('a check that fails after the response releases its lease', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(PAID);
    const broken = createSyncAttempt({
      ...fixture,
      runInTransaction: () => Promise.reject(new Error('the database is away')),
    });
    await expect(broken(payment.attemptId, { notifyWorkflow: true })).rejects.toThrow('the database is away');
    const queried = fixture.provider.queries.length;
    expect(await check(payment.attemptId)).toMatchObject({ queried: true, transactionStatus: 'SUCCESS' });
    expect(fixture.provider.queries.length).toBe(queried + 1);
  });

  test('a check that fails without a response releases its lease', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(() => Promise.reject(new Error('a defect of ours')), PAID);
    await expect(check(payment.attemptId)).rejects.toThrow('a defect of ours');
    expect(await check(payment.attemptId)).toMatchObject({ transactionStatus: 'SUCCESS' });
  });

  test('a check is marked as queried only if it queried the provider itself', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(PENDING);
    fixture.pass(2_000);
    const claim = async () => fixture.checkAttempt(payment.attemptId, { minIntervalMs: 2_000, notifyWorkflow: true });
    const before = fixture.provider.queries.length;
    const states = await Promise.all([claim(), claim(), claim()]);
    expect(states.filter(({ queried }) => queried)).toHaveLength(1);
    expect(fixture.provider.queries.length).toBe(before + 1);
    expect(await claim()).toMatchObject({ queried: false, outcomeKind: 'pending' });
  });

  test('repeated equal results are one timeline entry', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(PENDING);
    for (let polls = 0; polls < 3; polls += 1) await check(payment.attemptId);
    const { timeline } = await stateOfSession(database.db, payment.sessionId);
    expect(timeline).toEqual(['session.created', 'attempt.started', 'provider.responded', 'provider.responded']);
  });
});
