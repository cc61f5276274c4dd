import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import {
  buildMerchant,
  buildPendingPayment,
  buildFixture,
  declined,
  PAID,
  PENDING,
  type Fixture,
} from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

type Payment = { attemptId: string; sessionId: string };
type End = (fixture: Fixture, payment: Payment) => Promise<unknown>;

const ENDS: [string, End][] = [
  [
    'is paid',
    async (fixture, { attemptId }) => {
      fixture.provider.returns(PAID);
      return fixture.checkAttempt(attemptId, { notifyWorkflow: true });
    },
  ],
  [
    'is declined',
    async (fixture, { attemptId }) => {
      fixture.provider.returns(declined(true));
      return fixture.checkAttempt(attemptId, { notifyWorkflow: true });
    },
  ],
  [
    'is cancelled',
    async (fixture, { sessionId }) => {
      fixture.pass(2_000);
      fixture.provider.returns(PENDING);
      return fixture.closeUnpaid(sessionId, 'CANCELLED');
    },
  ],
];

describe.each(ENDS)('the workflow of a payment that %s', (_how, end) => {
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

  const inOutbox = async ({ attemptId }: Payment): Promise<string[]> => {
    const sql = 'SELECT kind FROM outbox WHERE workflow_id = :id ORDER BY kind';
    return (await rows<{ kind: string }>(database.db, sql, { id: `payment-${attemptId}` })).map(({ kind }) => kind);
  };
  const signals = () => fixture.enqueued.flatMap(({ signal }) => signal ?? []);

  test('is started when its first poll is due, and not if the payment is over by then', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    const [start] = await rows<{ dueInSeconds: number; isFree: boolean }>(
      database.db,
      `SELECT CAST(round(extract(epoch FROM available_at - created_at)) AS integer) AS due_in_seconds,
              lease_until IS NULL AS is_free
       FROM outbox WHERE workflow_id = :id`,
      { id: `payment-${payment.attemptId}` },
    );
    expect(start).toEqual({ dueInSeconds: 2, isFree: true });
    await end(fixture, payment);
    expect(await inOutbox(payment)).toEqual([]);
    expect(signals()).toEqual([]);
  });

  test('is signalled if it was started', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    await rows(database.db, `DELETE FROM outbox WHERE kind = 'start'`);
    await end(fixture, payment);
    expect(await inOutbox(payment)).toEqual(['signal']);
    expect(signals()).toEqual(['attemptUpdated']);
  });

  test('is signalled if a worker is just starting it', async () => {
    const payment = await buildPendingPayment(fixture, scope);
    await rows(database.db, `UPDATE outbox SET lease_until = now() + interval '5 seconds'`);
    await end(fixture, payment);
    expect(await inOutbox(payment)).toEqual(['signal', 'start']);
    expect(signals()).toEqual(['attemptUpdated']);
  });
});
