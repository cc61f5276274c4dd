import { readFileSync } from 'node:fs';

import { z } from 'zod';

import { readConfig } from '../../src/config.ts';
import type { Database } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createNotifier } from '../../src/outbox/listener.ts';
import { createTransactionRunner } from '../../src/outbox/record.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { createSyncAttempt } from '../../src/payments/sync.ts';
import { createAttempt } from '../../src/webhooks/delivery/attempt.ts';
import { createDispatcher } from '../../src/webhooks/delivery/dispatcher.ts';
import { createInFlight } from '../../src/webhooks/delivery/in-flight.ts';
import { createRecorder } from '../../src/webhooks/delivery/record-attempt.ts';
import { createSender } from '../../src/webhooks/delivery/send.ts';
import { createEgressGuard } from '../../src/webhooks/egress/egress.ts';
import { recordEvents } from '../../src/webhooks/events/record.ts';
import { createSubscription } from '../../src/webhooks/subscriptions/operations.ts';
import { NewSubscription } from '../../src/webhooks/subscriptions/schema.ts';
import { withdrawalRoutes } from '../../src/withdrawals/routes.ts';
import { createCheckPayout } from '../../src/withdrawals/sync.ts';
import { buildMerchant, buildPendingPayment, buildWorld, PAID } from '../support/build.ts';
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

/** What operations may cost at most: statements, and events in a workflow's history. */
export const budget = Budget.parse(JSON.parse(readFileSync(new URL('budget.json', import.meta.url), 'utf8')));

/** The statements an operation sent, each by its beginning; BEGIN, COMMIT and the like are not counted. */
export type Asked = {
  statements: string[];
  /** Looks into the queue that found nothing more to claim. */
  emptyLooks: number;
};

const TRANSACTION_CONTROL = /^(SAVEPOINT|RELEASE|SET TRANSACTION)/i;
const QUEUE_CLAIM = /WITH RECURSIVE waiting/;

/** Everything this pool asks while the work is done. */
async function countStatements(db: Database, work: () => Promise<unknown>): Promise<Asked> {
  const asked: Asked = { statements: [], emptyLooks: 0 };
  const note = ({ sql, rowCount }: { sql: string; rowCount: number | null }): void => {
    if (TRANSACTION_CONTROL.test(sql)) return;
    if (QUEUE_CLAIM.test(sql) && rowCount === 0) asked.emptyLooks += 1;
    else asked.statements.push(sql.replace(/\s+/g, ' ').slice(0, 60));
  };
  db.events.on('statement', note);
  try {
    await work();
  } finally {
    db.events.off('statement', note);
  }
  return asked;
}

/** `POST /api/checkout/sessions` with an Idempotency-Key, by a key that is known already. */
export async function countCreateSession(db: Database): Promise<Asked> {
  const world = buildWorld(db, { clock: () => new Date() });
  const { merchantId } = await buildMerchant(db);
  const deps = testServerDeps(db, { routes: checkoutRoutes(world), runInTransaction: world.runInTransaction });
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
 * The check that finds a payment paid, with one subscriber, as a callback asks for it: what its answer waits for, and
 * what follows after the commit (notifying the workers).
 */
export async function countConfirmPayment(db: Database): Promise<{ confirmed: Asked; afterwards: Asked }> {
  const world = buildWorld(db);
  const scope = await buildMerchant(db);
  await subscribe(db, { ...scope, url: 'https://hooks.example.com/meskot' });
  const { attemptId } = await buildPendingPayment(world, scope);
  world.provider.returns(PAID);
  const notifier = createNotifier(db);
  let dispatch = (): void => {};
  const runInTransaction = createTransactionRunner(
    db,
    (...committed) => (dispatch = () => notifier.dispatch(...committed)),
  );
  const checkAttempt = createSyncAttempt({ ...world, runInTransaction });
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

/** `POST /api/checkout/withdrawal`, by a key that is known already; its requestId makes repeats safe. */
export async function countCreateWithdrawal(db: Database): Promise<Asked> {
  const world = buildWorld(db);
  const scope = await buildMerchant(db);
  await subscribe(db, { ...scope, url: 'https://hooks.example.com/meskot' });
  await fund(world, scope, 1_000_00n);
  const routes = withdrawalRoutes({ ...world, checkPayout: createCheckPayout(world) });
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
 * One event to one healthy receiver, from the queue to its end, with or without a workflow that follows. The database
 * must be fresh: what waits in it would be delivered too.
 */
export async function countDelivery(db: Database, workflows: 'every' | 'failed'): Promise<Asked> {
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
    attempt: createAttempt({ sender, keyRing: config.keyRing, onDefect }),
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
  const deps = { clock: () => new Date(), keyRing: config.keyRing, checkUrl: guard.checkUrl };
  return createTransactionRunner(db, () => {})((tx) => createSubscription(deps, tx, input));
}
