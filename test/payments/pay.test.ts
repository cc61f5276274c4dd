import fc from 'fast-check';

import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { normalisePhone } from '../../src/lib/phone.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { awaitProviderResult, startPayment } from '../../src/payments/pay.ts';
import { createTokenAuthenticator } from '../../src/payments/session.ts';
import {
  ACCEPTED,
  buildAttempt,
  buildMerchant,
  buildSession,
  buildFixture,
  stateOfSession,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('paying a session', () => {
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

  test('one transaction contains the attempt, the session, the event and the start of the workflow', async () => {
    const session = await buildSession(fixture, scope);
    const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
    expect(await stateOfSession(database.db, session.sessionId)).toMatchObject({
      session: 'PROCESSING',
      transaction: 'PENDING',
      attempts: ['CREATED'],
      events: ['payment.created'],
    });
    const start = {
      kind: 'start',
      workflowType: 'payment',
      workflowId: `payment-${attemptId}`,
      input: {
        attemptId,
        ...scope,
        channel: 'TELEBIRR',
        expiresAtMs: session.expiresAt.getTime(),
        checkoutOrderNo: 'ORDER-1',
        merchantName: 'Abyssinia Coffee',
      },
    };
    expect(fixture.enqueued).toEqual([expect.objectContaining(start)]);
    const [row] = await rows<{ input: unknown }>(
      database.db,
      'SELECT input FROM outbox WHERE workflow_id = :workflowId',
      start,
    );
    expect(row?.input).toEqual(start.input);
  });

  test('the second attempt of a session records no second payment.created', async () => {
    const session = await buildSession(fixture, scope);
    const first = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
    fixture.provider.returns({
      kind: 'declined',
      failure: { code: 'INSUFFICIENT_FUNDS', message: 'Not enough money.', providerCode: 'X', retryable: true },
    });
    await fixture.checkAttempt(first, { notifyWorkflow: true });
    await buildAttempt(fixture, { ...scope, sessionId: session.sessionId }, { channel: 'AWASH' });
    expect(await stateOfSession(database.db, session.sessionId)).toMatchObject({ events: ['payment.created'] });
  });

  test('an amount outside a limit of the channel is rejected with the limit and stores nothing', async () => {
    const session = await buildSession(fixture, scope, { amountSantim: 10_000_000n });
    const pay = buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
    await expect(pay).rejects.toMatchObject({
      code: 'AMOUNT_ABOVE_MAXIMUM',
      message: 'amount must be at most 75000.00 ETB on TELEBIRR, got 100000.00',
    });
    expect(await stateOfSession(database.db, session.sessionId)).toMatchObject({ session: 'OPEN', attempts: null });
  });

  test("a channel that is not one of the session's is rejected", async () => {
    const session = await buildSession(fixture, scope, { channels: ['AWASH'] });
    const pay = buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
    await expect(pay).rejects.toMatchObject({ code: 'CHANNEL_DISABLED' });
  });

  test('a session after its expiry cannot be paid, before or after the expiry job', async () => {
    const session = await buildSession(fixture, scope);
    fixture.pass(30 * 60_000);
    const pay = buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
    await expect(pay).rejects.toMatchObject({ code: 'INVALID_STATE' });
  });

  test("another merchant's session is not found", async () => {
    const session = await buildSession(fixture, scope);
    const other = await buildMerchant(database.db);
    const pay = buildAttempt(fixture, { ...other, sessionId: session.sessionId });
    await expect(pay).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('a provider that hangs delays the response by two seconds and not the payment', async () => {
    const { sessionId } = await buildSession(fixture, scope);
    let release = (): void => undefined;
    fixture.provider.returns(() => new Promise((resolve) => (release = () => resolve(ACCEPTED))));
    const wanted = { channel: 'TELEBIRR' as const, phone: '0911000001' };
    const payment = await fixture.runInTransaction((tx) =>
      startPayment({ ...fixture, tx }, { ...scope, sessionId }, wanted),
    );
    expect(await awaitProviderResult(fixture.checkAttempt, payment)).toEqual(payment);
    const later = fixture.checkAttempt(payment.attemptId, { minIntervalMs: 2_000, notifyWorkflow: false });
    release();
    expect(await later).toMatchObject({ outcomeKind: 'accepted' });
  });

  test('a client token is valid for its session until an hour after the end', async () => {
    const { sessionId, clientToken } = await buildSession(fixture, scope);
    const { authenticateClientToken: authenticate, isOurToken } = createTokenAuthenticator(fixture);
    expect(await authenticate(sessionId, clientToken)).toEqual({ kind: 'client', ...scope, sessionId });
    expect(isOurToken(sessionId, clientToken)).toBe(true);
    expect(isOurToken(newId('cs'), clientToken)).toBe(false);
    expect(isOurToken(sessionId, 'x'.repeat(43))).toBe(false);
    expect(await authenticate(sessionId, `${clientToken.slice(0, -1)}_`)).toBeNull();
    expect(await authenticate(`${sessionId}\0`, clientToken)).toBeNull();
    await fixture.closeUnpaid(sessionId, 'CANCELLED');
    fixture.pass(60 * 60_000 - 1);
    expect(await authenticate(sessionId, clientToken)).not.toBeNull();
    fixture.pass(1);
    expect(await authenticate(sessionId, clientToken)).toBeNull();
    expect(isOurToken(sessionId, clientToken)).toBe(true);
    const [stored] = await rows<{ text: string }>(
      database.db,
      'SELECT CAST(s AS text) AS text FROM checkout_session s WHERE id = :sessionId',
      { sessionId },
    );
    expect(stored?.text).not.toContain(clientToken);
  });
});

describe('phone numbers', () => {
  test('every common way of writing one becomes 2519… or 2517…', () => {
    const digits = fc.stringMatching(/^[79]\d{8}$/);
    const prefix = fc.constantFrom('0', '', '251', '+251', '+251 ');
    fc.assert(fc.property(digits, prefix, (local, before) => normalisePhone(before + local) === `251${local}`));
  });

  test.each(['', '0811000001', '091100000', '09110000011', '+1 911000001', 'abc', '0911000001; DROP'])(
    '"%s" is none',
    (text) => expect(normalisePhone(text)).toBeNull(),
  );
});
