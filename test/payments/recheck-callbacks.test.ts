import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { isConclusive, recheckAfterCallbacks } from '../../src/payments/sync.ts';
import { storeCallback } from '../../src/providers/callbacks.ts';
import {
  buildMerchant,
  buildPendingPayment,
  buildFixture,
  declined,
  PAID,
  PENDING,
  stateOfSession,
  UNKNOWN,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const MINUTE_MS = 60_000;

describe('a verified callback of a provider', () => {
  let database: TestDatabase;
  let fixture: Fixture;
  let scope: MerchantScope;

  beforeEach(async () => {
    database = await createTestDatabase();
    scope = await buildMerchant(database.db);
    // Callbacks are dated by the database.
    fixture = buildFixture(database.db, { start: new Date() });
  });
  afterEach(() => database.drop());

  async function calledBack(verified = true) {
    const payment = await buildPendingPayment(fixture, scope);
    const problem = verified ? null : 'unsigned';
    const { attemptId } = payment;
    await storeCallback(database.db, {
      attemptId,
      channel: 'TELEBIRR',
      body: Buffer.from('{}'),
      verified,
      rejectionReason: problem,
    });
    return payment;
  }
  const recheck = async (limit = 10) => recheckAfterCallbacks(fixture, limit);
  const proof = async (attemptId: string) =>
    isConclusive(await fixture.checkAttempt(attemptId, { minIntervalMs: 0, notifyWorkflow: true }));

  test.each([
    ['paid', PAID, true],
    ['not yet paid', PENDING, true],
    ['declined', declined(true), true],
    ['nothing', UNKNOWN, false],
  ])('is acknowledged after a query with the outcome "%s": %s', async (_what, outcome, answered) => {
    const { attemptId } = await calledBack();
    fixture.provider.returns(outcome);
    expect(await proof(attemptId)).toBe(answered);
  });

  test('is not acknowledged during another query, and is acknowledged once the payment is booked', async () => {
    const { attemptId } = await calledBack();
    const lease = async (until: Date | null) =>
      rows(database.db, 'UPDATE payment_attempt SET lease_until = :until WHERE id = :attemptId', { attemptId, until });
    await lease(new Date(fixture.clock().getTime() + MINUTE_MS));
    expect(await proof(attemptId)).toBe(false);
    await lease(null);
    fixture.provider.returns(PAID);
    await proof(attemptId);
    fixture.provider.returns(UNKNOWN);
    expect(await proof(attemptId)).toBe(true);
  });

  test("is rechecked until the payment is found paid, also long after the session's end", async () => {
    const payment = await calledBack();
    fixture.provider.returns(UNKNOWN);
    await fixture.checkAttempt(payment.attemptId, { notifyWorkflow: true });
    fixture.provider.returns(declined(false));
    await fixture.checkAttempt(payment.attemptId, { notifyWorkflow: true });
    fixture.pass(2 * MINUTE_MS);
    fixture.provider.returns(PAID);
    expect(await recheck()).toBe(1);
    expect(await stateOfSession(database.db, payment.sessionId)).toMatchObject({
      transaction: 'SUCCESS',
      confirmedLate: true,
    });
    expect(fixture.enqueued.at(-1)).toMatchObject({
      signal: 'attemptUpdated',
      workflowId: `payment-${payment.attemptId}`,
    });
    fixture.pass(2 * MINUTE_MS);
    expect(await recheck()).toBe(0);
  });

  test('is rechecked once a minute at first and then ever more rarely, for 24 h', async () => {
    await calledBack();
    fixture.provider.returns(PENDING);
    const countIn = async (steps: number, stepMs: number): Promise<number> => {
      let count = 0;
      for (let step = 0; step < steps; step += 1) {
        fixture.pass(stepMs);
        count += await recheck();
      }
      return count;
    };
    expect(await countIn(10, MINUTE_MS / 2)).toBe(5);
    fixture.pass(5 * 60 * MINUTE_MS);
    expect(await countIn(60, MINUTE_MS)).toBeLessThanOrEqual(3);
    fixture.pass(19 * 60 * MINUTE_MS);
    expect(await recheck()).toBe(0);
  });

  test('that was not verified is not rechecked', async () => {
    await calledBack(false);
    fixture.pass(2 * MINUTE_MS);
    expect(await recheck()).toBe(0);
  });

  test('is rechecked in batches, and a failing check does not block the others', async () => {
    for (let count = 0; count < 5; count += 1) await calledBack();
    fixture.pass(2 * MINUTE_MS);
    fixture.provider.returns(PENDING);
    expect(await recheck(3)).toBe(3);
    fixture.provider.returns(() => Promise.reject(new Error('a defect of ours')), PAID);
    await expect(recheck(3)).rejects.toThrow('a defect of ours');
    const [paid] = await rows(
      database.db,
      `SELECT count(*)::int AS attempts FROM payment_attempt WHERE status = 'SUCCEEDED'`,
      {},
    );
    expect(paid).toEqual({ attempts: 1 });
  });
});
