import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startWorker, type RunningWorker } from '../../src/app/worker.ts';
import { readConfig, type Config } from '../../src/config.ts';
import type { Database } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger, type Logger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { grantChannels } from '../../src/merchants/channels/operations.ts';
import { createMerchant } from '../../src/merchants/operations.ts';
import { createTransactionRunner, type OutboxRow, type RunInTransaction } from '../../src/outbox/record.ts';
import { deliveryWorkflowId } from '../../src/webhooks/delivery/workflow.ts';
import { createEgressGuard } from '../../src/webhooks/egress/egress.ts';
import type { EventTypeName } from '../../src/webhooks/events/catalogue.ts';
import { recordEvents } from '../../src/webhooks/events/record.ts';
import { createSubscription } from '../../src/webhooks/subscriptions/operations.ts';
import { NewSubscription } from '../../src/webhooks/subscriptions/schema.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { EVENT_CATALOGUE } from './event-catalogue.ts';
import { testStack } from './stack-facts.ts';
import { connectTestTemporal, type TestTemporal } from './temporal.ts';

/** A complete worker with a database and a task queue of its own, and operations that give it work. */
export type WorkerFixture = {
  database: TestDatabase;
  db: Database;
  config: Config;
  temporal: TestTemporal;
  runInTransaction: RunInTransaction;
  newMerchant: () => Promise<MerchantScope>;
  subscribe: (scope: MerchantScope, fields: Partial<NewSubscription>) => Promise<{ id: string; secret: string }>;
  /** Records an event like an operation: its deliveries wait for the worker's dispatcher. */
  record: (scope: MerchantScope, event?: EventTypeName) => Promise<string>;
  /** Starts another worker; `settings` replace those of the fixture. */
  startWorker: (settings?: Record<string, string>, log?: Logger) => RunningWorker;
  close: () => Promise<void>;
};

export async function createWorkerFixture(
  settings: Record<string, string> = {},
  ownDatabase?: TestDatabase,
): Promise<WorkerFixture> {
  const database = ownDatabase ?? (await createTestDatabase());
  const { db } = database;
  const stack = testStack();
  const reportsFolder = await mkdtemp(join(tmpdir(), 'meskot-reports-'));
  const environment = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TASK_QUEUE_PREFIX: `${randomBytes(4).toString('hex')}-`,
    REPORTS_DIR: reportsFolder,
    KYC_DOCUMENTS_DIR: join(reportsFolder, 'documents'),
    ...settings,
  };
  const config = readConfig(environment);
  const temporal = await connectTestTemporal();
  const workers: RunningWorker[] = [];
  // Like rows of a process that died with an expired lease: the worker's sweeper takes them.
  const leaveBehind = (messages: OutboxRow[]): void => {
    const ids = messages.map((message) => message.id);
    if (ids.length === 0) return;
    db.knex()('outbox')
      .whereIn('id', ids)
      .update({ leaseUntil: null })
      .catch(() => {});
  };
  const runInTransaction = createTransactionRunner(db, leaveBehind);
  const { checkUrl } = createEgressGuard(config.egress);
  const clock = () => new Date();
  return {
    database,
    db,
    config,
    temporal,
    runInTransaction,
    newMerchant: async () => {
      const merchant = await db.transaction((trx) => createMerchant(trx, { name: 'Abyssinia Coffee' }));
      const scope: MerchantScope = { merchantId: merchant.id, environment: 'sandbox' };
      await db.transaction((trx) => grantChannels(trx, scope));
      return scope;
    },
    subscribe: async (scope, fields) => {
      const input = { ...NewSubscription.parse({ eventTypes: ['*'], ...fields }), ...scope };
      const made = await runInTransaction((tx) =>
        createSubscription({ clock, keyRing: config.keyRing, checkUrl, baseUrl: config.PUBLIC_BASE_URL }, tx, input),
      );
      return { id: made.row.id, secret: made.secret };
    },
    record: async (scope, event = 'payment.succeeded') => {
      const data = { ...EVENT_CATALOGUE[event].example, ...scope };
      const resource = { resourceType: 'transaction', resourceId: newId('txn') };
      const [eventId = ''] = await runInTransaction((tx) =>
        recordEvents(tx, [{ event, ...scope, ...resource, data, createdAt: new Date() }]),
      );
      return eventId;
    },
    startWorker: (more = {}, log = createLogger('silent', 'test')) => {
      const worker = startWorker(readConfig({ ...environment, ...more }), {
        log,
        ...(stack.workflowBundlePath && { workflowBundle: { codePath: stack.workflowBundlePath } }),
      });
      workers.push(worker);
      return worker;
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await temporal.close();
      await database.drop();
      await rm(reportsFolder, { recursive: true });
    },
  };
}

/** The delivery row of an event. */
export async function readDelivery(db: Database, eventId: string) {
  const row = (await db.knex()('webhookDelivery').where({ eventId }).first()) as {
    id: string;
    status: string;
    attempts: number;
    retryCount: number;
    nextAttemptAt: Date | null;
    deadLetteredAt: Date | null;
    subscriptionId: string;
  };
  return { ...row, workflowId: deliveryWorkflowId(eventId, row.subscriptionId) };
}
