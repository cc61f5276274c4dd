import { WorkflowNotFoundError } from '@temporalio/common';

import type { PaymentInput } from '../../activities/payments.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { closeAttempt } from '../../src/payments/close-session.ts';
import { createSession } from '../../src/payments/create-session.ts';
import { startPayment } from '../../src/payments/pay.ts';
import { MIN_QUERY_INTERVAL_MS, createSyncAttempt } from '../../src/payments/sync.ts';
import { paymentWorkflowId } from '../../src/payments/workflow.ts';
import { storeCallback } from '../../src/providers/callbacks.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { stateOfSession } from '../support/build.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { skipTime, resultOf } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

const MINUTE_MS = 60_000;
const EXPIRES_IN_MINUTES = 10;

let simulator: TestSimulator;
let fixture: WorkerFixture;
let scope: MerchantScope;
let orders = 0;
const http = createHttpClient();
const clock = () => new Date();

beforeAll(async () => {
  simulator = await startTestSimulator();
  // No server listens there: callbacks are lost, as while our API is unavailable.
  fixture = await createWorkerFixture({
    TASK_QUEUES: 'payments',
    SIMULATOR_URL: simulator.url,
    PUBLIC_BASE_URL: 'http://127.0.0.1:9',
  });
  await fixture.startWorker().ready;
  scope = await fixture.newMerchant();
});
afterEach(async () => simulator.clearFaults());
afterAll(async () => {
  await fixture.close();
  await Promise.all([simulator.close(), http.close()]);
});

const findProvider = (...request: Parameters<ReturnType<typeof createFindProvider>>) =>
  createFindProvider({ http, clock, simulatorUrl: simulator.url })(...request);

/** A payment started like by the API, without the API's own first query. */
async function pay(
  phone: string,
  expiresInMinutes = EXPIRES_IN_MINUTES,
): Promise<{ sessionId: string; attemptId: string; workflowId: string }> {
  orders += 1;
  const wanted = {
    checkoutOrderNo: `FLOW-${orders}`,
    amountSantim: 10_050n,
    currency: 'ETB',
    type: 'API',
    expiresInMinutes,
  } as const;
  const deps = {
    db: fixture.db,
    findProvider,
    clock,
    baseUrl: fixture.config.PUBLIC_BASE_URL,
    pepper: fixture.config.API_KEY_PEPPER,
  };
  const { sessionId } = await fixture.runInTransaction((tx) => createSession({ ...deps, tx }, scope, wanted));
  const key = { ...scope, sessionId };
  const payment = await fixture.runInTransaction((tx) =>
    startPayment({ ...deps, tx }, key, { channel: 'TELEBIRR', phone }),
  );
  return { sessionId, attemptId: payment.attemptId, workflowId: paymentWorkflowId(payment.attemptId) };
}

/** The workflow's published progress. */
async function details(workflowId: string): Promise<string> {
  const handle = fixture.temporal.client.workflow.getHandle(workflowId);
  const notYetThere = {};
  const metadata = await handle.query('__temporal_workflow_metadata').catch(() => notYetThere);
  return (metadata as { currentDetails?: string }).currentDetails ?? '';
}

const checkAsApi = () =>
  createSyncAttempt({
    db: fixture.db,
    runInTransaction: fixture.runInTransaction,
    findProvider,
    clock,
    baseUrl: fixture.config.PUBLIC_BASE_URL,
    log: createLogger('silent', 'test'),
  });

const stands = async (sessionId: string, status: string) =>
  until(`transaction ${status}`, async () => {
    const now = await stateOfSession(fixture.db, sessionId);
    return now['transaction'] === status && now;
  });
const untilQueried = async (attemptId: string) =>
  until('the provider has the order', async () => simulator.orderOf(attemptId));
const result = async (workflowId: string) => resultOf(fixture.temporal.client.workflow.getHandle(workflowId));

describe('the clock of a payment attempt', () => {
  test('a payment whose callback is lost is found by polling', async () => {
    const { sessionId, attemptId, workflowId } = await pay('0911000007');
    await untilQueried(attemptId);
    await stands(sessionId, 'SUCCESS');
    expect(await result(workflowId)).toBe('SUCCEEDED');
    expect((await untilQueried(attemptId)).state).toBe('PAID');
  });

  test('a payment approved after two minutes without a callback is found by polling', async () => {
    const { sessionId, attemptId, workflowId } = await pay('0911000005');
    await untilQueried(attemptId);
    await simulator.advance(2 * MINUTE_MS + 1_000);
    await skipTime(fixture.temporal.client, workflowId, 3 * MINUTE_MS);
    await stands(sessionId, 'SUCCESS');
    expect(await result(workflowId)).toBe('SUCCEEDED');
  });

  test('a payment without a definite outcome is polled at growing intervals, a last time at the end, and expires', async () => {
    const { sessionId, attemptId, workflowId } = await pay('0911000004');
    await untilQueried(attemptId);
    await simulator.advance(EXPIRES_IN_MINUTES * MINUTE_MS);
    await skipTime(fixture.temporal.client, workflowId, (EXPIRES_IN_MINUTES + 1) * MINUTE_MS);
    const now = await stands(sessionId, 'EXPIRED');
    expect(now).toMatchObject({ session: 'EXPIRED', attempts: ['ABANDONED'], needsReconciliation: false });
    expect(await result(workflowId)).toBe('ABANDONED');
    const { events } = await fixture.temporal.client.workflow.getHandle(workflowId).fetchHistory();
    const timers = (events ?? []).flatMap((event) => {
      const seconds = event.timerStartedEventAttributes?.startToFireTimeout?.seconds;
      return seconds === undefined || seconds === null ? [] : [Number(seconds)];
    });
    expect(timers.slice(0, 5)).toEqual([4, 8, 16, 32, 60]);
    expect(new Set(timers.slice(5, -1))).toEqual(new Set([60]));
    // Until the session's end, 2 s less than a minute after the last poll, and then no other one.
    expect(timers.at(-1)).toBeGreaterThan(2);
    expect(timers.at(-1)).toBeLessThan(60);
  });

  test('a payment whose outcome the provider does not know stays PENDING for up to 24 h after the session has ended, then expires for reconciliation', async () => {
    const { sessionId, attemptId, workflowId } = await pay('0911000004');
    await untilQueried(attemptId);
    await simulator.fault({ kind: 'serverError', on: 'query' });
    await skipTime(fixture.temporal.client, workflowId, (EXPIRES_IN_MINUTES + 10) * MINUTE_MS);
    expect(await stateOfSession(fixture.db, sessionId)).toMatchObject({
      transaction: 'PENDING',
      session: 'PROCESSING',
    });
    await skipTime(fixture.temporal.client, workflowId, 25 * 60 * MINUTE_MS);
    const now = await stands(sessionId, 'EXPIRED');
    expect(now).toMatchObject({ session: 'EXPIRED', needsReconciliation: true });
    expect(await result(workflowId)).toBe('ABANDONED');
  }, 60_000);

  test('a payment that is confirmed while its outcome is unknown is posted, not expired', async () => {
    const { sessionId, attemptId, workflowId } = await pay('0911000005');
    await untilQueried(attemptId);
    await simulator.fault({ kind: 'serverError', on: 'query' });
    await skipTime(fixture.temporal.client, workflowId, (EXPIRES_IN_MINUTES + 30) * MINUTE_MS);
    await simulator.advance(3 * MINUTE_MS);
    await simulator.clearFaults();
    await skipTime(fixture.temporal.client, workflowId, 60 * MINUTE_MS);
    const now = await stands(sessionId, 'SUCCESS');
    expect(now).toMatchObject({ session: 'COMPLETED', confirmedLate: false });
  });

  test('an attempt that ends in the API process ends its workflow at once', async () => {
    const { sessionId, attemptId, workflowId } = await pay('0911000005');
    await untilQueried(attemptId);
    await simulator.advance(2 * MINUTE_MS + 1_000);
    const check = checkAsApi();
    await until('the check finds the attempt free', async () => {
      const state = await check(attemptId, { notifyWorkflow: true });
      return state.final && state;
    });
    expect(await result(workflowId)).toBe('SUCCEEDED');
    expect(await stateOfSession(fixture.db, sessionId)).toMatchObject({
      transaction: 'SUCCESS',
      events: ['checkout.completed', 'payment.created', 'payment.succeeded'],
    });
  });

  test('an attempt that the API has queried is polled again 2 s later, then at growing intervals', async () => {
    const questions = async () =>
      (await simulator.requests('TELEBIRR initiate')) + (await simulator.requests('TELEBIRR query'));
    const before = await questions();
    const { attemptId } = await pay('0911000004');
    const paidAt = performance.now();
    await checkAsApi()(attemptId, { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: true });
    expect(await questions()).toBe(before + 1);
    await until('the first poll', async () => (await questions()) === before + 2);
    const firstMs = performance.now() - paidAt;
    await until('the second poll', async () => (await questions()) === before + 3);
    const secondMs = performance.now() - paidAt - firstMs;
    expect(firstMs).toBeGreaterThan(1_900);
    expect(secondMs).toBeGreaterThan(3_900);
    expect(await simulator.requests('TELEBIRR initiate')).toBeGreaterThan(0);
  });

  test('a payment that is over before its first poll has no workflow', async () => {
    const { sessionId, attemptId, workflowId } = await pay('0911000005');
    const check = checkAsApi();
    await check(attemptId, { notifyWorkflow: true });
    await simulator.advance(2 * MINUTE_MS + 1_000);
    await check(attemptId, { notifyWorkflow: true });
    await stands(sessionId, 'SUCCESS');
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const { temporal } = fixture;
    await expect(temporal.client.workflow.getHandle(workflowId).describe()).rejects.toThrow(WorkflowNotFoundError);
    expect(await fixture.db.knex()('outbox').where({ workflowId })).toEqual([]);
  });

  test('a long history continues as new, with the same polling interval', async () => {
    const { attemptId, workflowId } = await pay('0911000004', 120);
    await untilQueried(attemptId);
    await simulator.advance(120 * MINUTE_MS);
    await skipTime(fixture.temporal.client, workflowId, 48 * MINUTE_MS);
    const runs = async (): Promise<string[]> => {
      const ids: string[] = [];
      const query = `WorkflowId = '${workflowId}'`;
      for await (const { runId } of fixture.temporal.client.workflow.list({ query })) ids.push(runId);
      return ids;
    };
    const [newest = '', oldest = ''] = await until('its second run', async () => {
      const ids = await runs();
      return ids.length > 1 && ids;
    });
    const historyOf = async (runId: string) =>
      (await fixture.temporal.client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
    expect((await historyOf(oldest)).length).toBeLessThan(600);
    const timer = await until('it waits again', async () =>
      (await historyOf(newest)).find((event) => event.timerStartedEventAttributes),
    );
    expect(Number(timer.timerStartedEventAttributes?.startToFireTimeout?.seconds)).toBe(60);
  }, 60_000);

  test('the workflow publishes its progress', async () => {
    const { attemptId, workflowId } = await pay('0911000004');
    await untilQueried(attemptId);
    await until('it waits for the customer', async () =>
      /^until the next query: the customer may be confirming, \d{4}-/.test(await details(workflowId)),
    );
    await simulator.fault({ kind: 'serverError', on: 'query' });
    await skipTime(fixture.temporal.client, workflowId, (EXPIRES_IN_MINUTES + 10) * MINUTE_MS);
    expect(await details(workflowId)).toMatch(
      /^until the next query: the session is over and the outcome unknown, \d{4}-/,
    );
    await simulator.clearFaults();
    await skipTime(fixture.temporal.client, workflowId, 60 * MINUTE_MS);
    expect(await result(workflowId)).toBe('ABANDONED');
    expect(await details(workflowId)).toBe('ABANDONED: complete');
  });

  test('a verified callback of a completed payment makes the worker query the provider', async () => {
    const { sessionId, attemptId, workflowId } = await pay('0911000005');
    await untilQueried(attemptId);
    const end = { status: 'EXPIRED' as const, needsReconciliation: false, at: clock() };
    await fixture.runInTransaction((tx) => closeAttempt(tx, { id: attemptId, notifyWorkflow: true }, end));
    expect(await result(workflowId)).toBe('ABANDONED');
    await simulator.advance(2 * MINUTE_MS + 1_000);
    const body = Buffer.from('{}');
    await storeCallback(fixture.db, { attemptId, channel: 'TELEBIRR', body, verified: true, rejectionReason: null });
    await fixture.db
      .knex()('paymentAttempt')
      .where({ id: attemptId })
      .update({ lastCheckedAt: new Date(0) });
    // A worker runs its periodic jobs at its start.
    await fixture.startWorker().ready;
    expect(await stands(sessionId, 'SUCCESS')).toMatchObject({ session: 'COMPLETED', confirmedLate: true });
  });

  test('an attempt that does not exist fails its workflow at once, without retries', async () => {
    const attemptId = newId('pat');
    const about = { channel: 'TELEBIRR', checkoutOrderNo: 'ORD-1', merchantName: 'Abyssinia Coffee' };
    const input: PaymentInput = { ...scope, ...about, attemptId, expiresAtMs: Date.now() + MINUTE_MS };
    const handle = await fixture.temporal.client.workflow.start('payment', {
      workflowId: paymentWorkflowId(attemptId),
      taskQueue: `${fixture.config.TASK_QUEUE_PREFIX}payments`,
      args: [input],
    });
    const failed: unknown = await resultOf(handle).catch((error: unknown) => error);
    expect(failed).toMatchObject({ cause: { cause: { type: 'NOT_FOUND', nonRetryable: true } } });
  });
});
