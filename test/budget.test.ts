import {
  budget,
  countConfirmPayment,
  countCreateSession,
  countCreateWithdrawal,
  countDelivery,
} from './bench/counts.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { startReceiver } from './support/receiver.ts';
import { resultOf } from './support/temporal.ts';
import { until } from './support/until.ts';
import { createWorkerFixture, readDelivery } from './support/worker.ts';

describe('the statements of an operation, BEGIN and COMMIT aside', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  test(`creating a session, with an Idempotency-Key, takes at most ${budget.createSession}`, async () => {
    const { statements } = await countCreateSession(database.db);
    expect(statements.length).toBeGreaterThan(0);
    expect(firstOf(budget.createSession, statements)).toEqual(statements);
  });

  test(`confirming a payment takes at most ${budget.confirmPayment}`, async () => {
    const { statements } = (await countConfirmPayment(database.db)).confirmed;
    expect(statements.length).toBeGreaterThan(0);
    expect(firstOf(budget.confirmPayment, statements)).toEqual(statements);
  });

  test(`creating a withdrawal takes at most ${budget.createWithdrawal}`, async () => {
    const { statements } = await countCreateWithdrawal(database.db);
    expect(statements.length).toBeGreaterThan(0);
    expect(firstOf(budget.createWithdrawal, statements)).toEqual(statements);
  });

  test.each(['every', 'failed'] as const)(
    `a delivery that succeeds at once takes at most ${budget.firstTryDelivery}, in mode "%s"`,
    async (workflows) => {
      const { statements } = await countDelivery(database.db, workflows);
      expect(statements.length).toBeGreaterThan(0);
      expect(firstOf(budget.firstTryDelivery, statements)).toEqual(statements);
    },
  );
});

test(`a delivery that succeeds at once leaves at most ${budget.historyEvents} events in its workflow's history`, async () => {
  const fixture = await createWorkerFixture({ TASK_QUEUES: 'webhooks' });
  const receiver = await startReceiver();
  try {
    await fixture.startWorker().ready;
    const scope = await fixture.newMerchant();
    await fixture.subscribe(scope, { url: receiver.url });
    const { workflowId } = await readDelivery(fixture.db, await fixture.record(scope));
    const handle = fixture.temporal.client.workflow.getHandle(workflowId);
    await until('the workflow to be there', () => handle.describe().catch(() => null));
    expect(await resultOf(handle)).toBe('DELIVERED');
    const { events = [] } = await handle.fetchHistory();
    expect(events?.length).toBeGreaterThan(0);
    expect(events?.length).toBeLessThanOrEqual(budget.historyEvents);
  } finally {
    await receiver.close();
    await fixture.close();
  }
}, 60_000);

/** The first `most` of them: comparing with all of them then names the extra ones. */
const firstOf = (most: number, statements: string[]): string[] => statements.slice(0, most);
