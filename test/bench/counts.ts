import { readFileSync } from 'node:fs';

import { z } from 'zod';

import { readConfig } from '../../src/config.ts';
import type { Database } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createNotifier } from '../../src/outbox/listener.ts';
import { createTransactionRunner } from '../../src/outbox/record.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { createSyncAttempt } from '../../src/payments/sync.ts';
import { createCheck } from '../../src/payouts/check.ts';
import { withdrawalRoutes } from '../../src/payouts/withdrawals/routes.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { createAttempt } from '../../src/webhooks/delivery/attempt.ts';
import { createDispatcher } from '../../src/webhooks/delivery/dispatcher.ts';
import { createInFlight } from '../../src/webhooks/delivery/in-flight.ts';
import { createRecorder } from '../../src/webhooks/delivery/record-attempt.ts';
import { createSender } from '../../src/webhooks/delivery/send.ts';
import { createEgressGuard } from '../../src/webhooks/egress/egress.ts';
import { recordEvents } from '../../src/webhooks/events/record.ts';
import { createSubscription } from '../../src/webhooks/subscriptions/operations.ts';
import { NewSubscription } from '../../src/webhooks/subscriptions/schema.ts';
import { buildMerchant, buildPendingPayment, buildFixture, PAID } from '../support/build.ts';
import { startTestServer, stubKey, testServerDeps } from '../support/http.ts';
import { startReceiver } from '../support/receiver.ts';
import { fund } from '../support/withdrawals.ts';

const Budget = z.strictObject({
  createSession: z.int(),
  confirmPayment: z.int(),
  createWithdrawal: z.int(),
  firstTryDelivery: z.int(),
  historyEvents: z.int(),
});

/** The maximum cost of operations: statements, and events in a workflow's history. */
export const budget = Budget.parse(JSON.parse(readFileSync(new URL('budget.json', import.meta.url), 'utf8')));

/** The statements of an operation, each by its beginning, without BEGIN, COMMIT and the like. */
export type StatementCount = {
  statements: string[];
  /** Claims that found no further delivery. */
  emptyClaims: number;
};

const TRANSACTION_CONTROL = /^(SAVEPOINT|RELEASE|SET TRANSACTION)/i;
const QUEUE_CLAIM = /WITH RECURSIVE waiting/;

/** Counts all statements of this pool during the work. */
async function countStatements(db: Database, work: () => Promise<unknown>): Promise<StatementCount> {
  const count: StatementCount = { statements: [], emptyClaims: 0 };
  const collect = ({ sql, rowCount }: { sql: string; rowCount: number | null }): void => {
    if (TRANSACTION_CONTROL.test(sql)) return;
    if (QUEUE_CLAIM.test(sql) && rowCount === 0) count.emptyClaims += 1;
    else count.statements.push(sql.replace(/\s+/g, ' ').slice(0, 60));
  };
  db.events.on('statement', collect);
  try {
    await work();
  } finally {
    db.events.off('statement', collect);
  }
  return count;
}

/** `POST /api/checkout/sessions` with an Idempotency-Key and a cached API key. */
export async function countCreateSession(db: Database): Promise<StatementCount> {
  const fixture = buildFixture(db, { clock: () => new Date() });
  const { merchantId } = await buildMerchant(db);
  const deps = testServerDeps(db, { routes: checkoutRoutes(fixture), runInTransaction: fixture.runInTransaction });
  const server = await startTestServer(deps, stubKey(merchantId));
  try {
    return await countStatements(db, async () => {
      const request = {
        headers: { 'Idempotency-Key': 'only-once' },
        body: { checkoutOrderNo: 'ORDER-1', amount: 100.5, currency: 'ETB' },
      };
      const { status, text } = await server.send('POST', '/api/checkout/sessions', request);
      if (status !== 201) throw new Error(`no session was created: ${text}`);
    });
  } finally {
    await server.close();
  }
}

/**
 * The check that finds a payment paid, with one subscriber, as triggered by a callback: the statements before its
 * response, and those after the commit (notifying the workers).
 */
export async function countConfirmPayment(
  db: Database,
): Promise<{ confirmed: StatementCount; afterwards: StatementCount }> {
  const fixture = buildFixture(db);
  const scope = await buildMerchant(db);
  await subscribe(db, { ...scope, url: 'https://hooks.example.com/meskot' });
  const { attemptId } = await buildPendingPayment(fixture, scope);
  fixture.provider.returns(PAID);
  const notifier = createNotifier(db);
  let dispatch = (): void => {};
  const runInTransaction = createTransactionRunner(
    db,
    (...committed) => (dispatch = () => notifier.dispatch(...committed)),
  );
  const checkAttempt = createSyncAttempt({ ...fixture, runInTransaction });
  const confirmed = await countStatements(db, async () => {
    const { transactionStatus } = await checkAttempt(attemptId, { notifyWorkflow: true });
    if (transactionStatus !== 'SUCCESS') throw new Error(`the payment is ${transactionStatus}`);
  });
  const afterwards = await countStatements(db, async () => {
    dispatch();
    await notifier.stop();
  });
  return { confirmed, afterwards };
}

/** `POST /api/checkout/withdrawal` with a cached API key; its requestId makes repeats safe. */
export async function countCreateWithdrawal(db: Database): Promise<StatementCount> {
  const fixture = buildFixture(db);
  const scope = await buildMerchant(db);
  await subscribe(db, { ...scope, url: 'https://hooks.example.com/meskot' });
  await fund(fixture, scope, 1_000_00n);
  const routes = withdrawalRoutes({ ...fixture, checkPayout: createCheck(fixture, WITHDRAWAL) });
  const server = await startTestServer(testServerDeps(db, { routes }), stubKey(scope.merchantId));
  const create = async (requestId: string): Promise<void> => {
    const destination = { phone: '0911000001', accountName: 'Abebe Bikila' };
    const body = { requestId, amount: 10, channel: 'TELEBIRR', destination };
    const { status, text } = await server.send('POST', '/api/checkout/withdrawal', { body });
    if (status !== 202) throw new Error(`${status}: ${text}`);
  };
  try {
    await create('FIRST');
    return await countStatements(db, async () => create('COUNTED'));
  } finally {
    await server.close();
  }
}

/**
 * One event to one healthy receiver, from the queue to its end, with or without a workflow afterwards. The database
 * must be fresh: other pending deliveries would be sent too.
 */
export async function countDelivery(db: Database, workflows: 'every' | 'failed'): Promise<StatementCount> {
  const receiver = await startReceiver();
  const scope = await buildMerchant(db);
  await subscribe(db, { ...scope, url: receiver.url });
  const data = { resourceType: 'transaction', resourceId: 'txn_1', data: {}, createdAt: new Date() };
  await createTransactionRunner(db, () => {})(async (tx) =>
    recordEvents(tx, [{ ...scope, ...data, event: 'payment.succeeded' }]),
  );
  const sender = createSender({ guard });
  const log = createLogger('silent', 'count');
  const inFlight = createInFlight(db, { perSubscription: 50, perThrottled: 10 });
  const onDefect = (_deliveryId: string, error: unknown): void => {
    throw error;
  };
  let recorded = (): void => {};
  const isRecorded = new Promise<void>((resolve) => (recorded = resolve));
  const dispatcher = createDispatcher({
    db,
    log,
    workflows,
    attempt: createAttempt({ sender, receiver: sender, keyRing: config.keyRing, onDefect }),
    record: createRecorder({ db, log, inFlight }),
    inFlight,
    retryDelaysSeconds: [60],
    onRecorded: () => recorded(),
    onWorkflow: () => {},
  });
  try {
    return await countStatements(db, async () => {
      dispatcher.trigger();
      await isRecorded;
      await dispatcher.stop();
      if (receiver.requests.length !== 1) throw new Error(`the receiver got ${receiver.requests.length} requests`);
    });
  } finally {
    await sender.close();
    await receiver.close();
  }
}

const config = readConfig({ DATABASE_URL: 'unused', TEMPORAL_ADDRESS: 'unused' });
const guard = createEgressGuard(config.egress);

async function subscribe(db: Database, fields: { merchantId: string; environment: 'sandbox' | 'live'; url: string }) {
  const input = { ...NewSubscription.parse({ url: fields.url, eventTypes: ['*'] }), ...fields };
  const deps = {
    clock: () => new Date(),
    keyRing: config.keyRing,
    checkUrl: guard.checkUrl,
    baseUrl: config.PUBLIC_BASE_URL,
  };
  return createTransactionRunner(db, () => {})((tx) => createSubscription(deps, tx, input));
}
