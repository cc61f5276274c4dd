import { createRegistry } from '../../src/http/metrics.ts';
import { DAY_MS } from '../../src/lib/dates.ts';
import { openDatabase } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { measurePayments } from '../../src/payments/monitoring.ts';
import {
  buildAttempt,
  buildMerchant,
  buildPendingPayment,
  buildFixture,
  declined,
  PAID,
  UNKNOWN,
  ACCEPTED,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const GAUGES = ['meskot_payments_held', 'meskot_payments_duplicate', 'meskot_transactions_unreconciled'];

describe('monitoring of payments that need an operator', () => {
  let database: TestDatabase;
  let fixture: Fixture;
  let scope: MerchantScope;
  let lines: Record<string, unknown>[];

  beforeEach(async () => {
    database = await createTestDatabase();
    scope = await buildMerchant(database.db);
    lines = [];
    const log = createLogger('warn', 'test', { destination: { write: (line) => void lines.push(JSON.parse(line)) } });
    fixture = buildFixture(database.db, { log });
  });
  afterEach(() => database.drop());

  const check = async (attemptId: string) => fixture.checkAttempt(attemptId, { notifyWorkflow: true });

  async function figures(): Promise<number[]> {
    const registry = createRegistry('worker');
    measurePayments(registry, database.db);
    const text = await registry.metrics();
    return GAUGES.map((name) => Number(new RegExp(`^${name}\\{role="worker"\\} (\\S+)$`, 'm').exec(text)?.[1]));
  }

  /** Exactly one warning, with these ids and nothing of the customer. */
  function expectWarning(payment: { attemptId: string; transactionId: string }, says: RegExp): void {
    const { attemptId, transactionId } = payment;
    expect(lines).toEqual([
      { level: 40, role: 'test', time: expect.any(String), msg: expect.stringMatching(says), attemptId, transactionId },
    ]);
  }

  test('a held payment is logged once and counted', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns({ ...PAID, amountSantim: 1n });
    await Promise.all([check(payment.attemptId), check(payment.attemptId)]);
    await check(payment.attemptId);
    expectWarning(payment, /held/);
    expect(await figures()).toEqual([1, 0, 0]);
  });

  test('a second payment is logged once and counted', async () => {
    const first = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(declined(true), ACCEPTED, PAID);
    await check(first.attemptId);
    fixture.pass(1_000);
    const second = await buildAttempt(fixture, { ...scope, sessionId: first.sessionId });
    await check(second);
    await check(second);
    expect(await figures()).toEqual([0, 0, 0]);
    await check(first.attemptId);
    await check(first.attemptId);
    expectWarning(first, /twice/);
    expect(await figures()).toEqual([0, 1, 0]);
  });

  test('a payment that expired with an unknown outcome is logged once, and counted until it is confirmed', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    fixture.provider.returns(UNKNOWN);
    fixture.pass(2 * DAY_MS);
    await fixture.expireAttempt(payment.attemptId, fixture.clock());
    await fixture.expireAttempt(payment.attemptId, fixture.clock());
    expectWarning(payment, /needs reconciliation/);
    expect(await figures()).toEqual([0, 0, 1]);
    fixture.provider.returns(PAID);
    await check(payment.attemptId);
    expect(await figures()).toEqual([0, 0, 0]);
  });

  test('pending payments are counted by age', async () => {
    const minutes = [0.5, 2, 3, 20, 45];
    for (const age of minutes) {
      const { attemptId } = await buildPendingPayment(fixture, scope);
      const createdAt = new Date(Date.now() - age * 60_000);
      await database.db.knex()('paymentAttempt').where({ id: attemptId }).update({ createdAt });
    }
    const registry = createRegistry('worker');
    measurePayments(registry, database.db);
    const text = await registry.metrics();
    const counted = [...text.matchAll(/^meskot_payments_pending\{age="([^"]+)",role="worker"\} (\d+)$/gm)];
    expect(Object.fromEntries(counted.map(([, age, count]) => [age, count]))).toEqual({
      'under 1 min': '1',
      '1 to 5 min': '2',
      '5 to 30 min': '1',
      'over 30 min': '1',
    });
  });

  test('no figures are reported while the database is unavailable', async () => {
    const db = openDatabase({ url: 'postgresql://127.0.0.1:1/away', poolMax: 1, applicationName: 'test' });
    const registry = createRegistry('worker');
    measurePayments(registry, db);
    const text = await registry.metrics().finally(() => db.destroy());
    for (const name of GAUGES) expect(text).toMatch(new RegExp(`${name}\\{role="worker"\\} (NaN|Nan)\\n`));
  });
});
