import type { WorkflowBundleOption } from '@temporalio/worker';

import { createActivities } from '../../activities/index.ts';
import type { Config } from '../config.ts';
import { measureClockSkew, measurePool, type Registry } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import { createDatabaseClock, type DatabaseClock } from '../lib/database-clock.ts';
import { closeFrozenConnections } from '../lib/db-liveness.ts';
import { type Database, openDatabase } from '../lib/db.ts';
import { createHttpClient } from '../lib/http-client.ts';
import type { Logger } from '../lib/log.ts';
import { startPeriodicJobs } from '../lib/periodic-jobs.ts';
import { dispatchTo, listenForCommits } from '../outbox/listener.ts';
import { createTransactionRunner, type RunInTransaction } from '../outbox/record.ts';
import { createWorkflowRecovery } from '../outbox/recover-workflows.ts';
import { createRelay } from '../outbox/relay.ts';
import { createExpireAttempt } from '../payments/close-unpaid.ts';
import { measurePayments } from '../payments/metrics.ts';
import { MIN_QUERY_INTERVAL_MS, POLL_INTERVAL_MIN_MS, createSyncAttempt } from '../payments/sync.ts';
import { findObsolete, findRecoverableAttempts } from '../payments/workflow.ts';
import { createFindProvider } from '../providers/find-provider.ts';
import { measureReconciliation } from '../reconciliation/monitoring.ts';
import { findRecoverableRuns } from '../reconciliation/runs.ts';
import { createReportFiles } from '../reports/files.ts';
import { createGenerateReport, giveUpReport } from '../reports/generate.ts';
import { measureReports } from '../reports/monitoring.ts';
import { findRecoverableReports } from '../reports/workflow.ts';
import { measureSettlements } from '../settlements/monitoring.ts';
import { findRecoverableSettlements } from '../settlements/workflow.ts';
import { temporalOptions } from '../temporal/client.ts';
import { temporalConnection } from '../temporal/connection.ts';
import { startTemporalWorkers } from '../temporal/workers.ts';
import { createAttempt } from '../webhooks/delivery/attempt.ts';
import { createDispatcher } from '../webhooks/delivery/dispatcher.ts';
import { createInFlight } from '../webhooks/delivery/in-flight.ts';
import { countOutcomes, measureDeliveries } from '../webhooks/delivery/metrics.ts';
import { createRecorder } from '../webhooks/delivery/record-attempt.ts';
import { createSender } from '../webhooks/delivery/send.ts';
import { findRecoverableDeliveries } from '../webhooks/delivery/workflow.ts';
import { createEgressGuard } from '../webhooks/egress/egress.ts';
import { measureWithdrawals } from '../withdrawals/monitoring.ts';
import { readWithdrawal } from '../withdrawals/queries.ts';
import { autoDecide } from '../withdrawals/review.ts';
import { createCheckPayout } from '../withdrawals/sync.ts';
import { findRecoverableWithdrawals } from '../withdrawals/workflow.ts';
import { afterClock, temporalJobs, timedJobs } from './periodic-jobs.ts';

export type RunningWorker = {
  /** Resolves when Temporal's workers poll. Deliveries are sent and sessions expire without them. */
  ready: Promise<void>;
  /** Completes requests in flight, then closes everything. */
  stop: () => Promise<void>;
};

export type WorkerOptions = {
  log: Logger;
  /** The registry of the worker's metrics, if they are exposed. */
  registry?: Registry;
  /** A bundle that exists already (tests). */
  workflowBundle?: WorkflowBundleOption;
};

/** The finders of all rows that must have a running workflow. */
const OPEN_SOURCES = [
  findRecoverableDeliveries,
  findRecoverableAttempts,
  findRecoverableWithdrawals,
  findRecoverableSettlements,
  findRecoverableReports,
  findRecoverableRuns,
];
/** A throttled subscription gets this part of another's concurrency: 10 of 50. */
const THROTTLED_SHARE = 5;

/** The worker process: Temporal's workers, the relay, the dispatcher, and the periodic jobs. */
export function startWorker(config: Config, options: WorkerOptions): RunningWorker {
  const { log } = options;
  const db = openWatchedDatabase(config);
  const databaseClock = createDatabaseClock(db, { log });
  const clock = databaseClock.now;
  if (options.registry) measure(options.registry, db, databaseClock);
  const trigger = { messages: () => relay.trigger(), deliveries: () => dispatcher.trigger() };
  const runInTransaction = createTransactionRunner(db, dispatchTo(trigger));
  const payments = createPayments(config, { db, runInTransaction, clock, log });
  const sending = createSending(config, { db, ...options });
  const activities = createActivities({
    ...payments.operations,
    settlements: { db, runInTransaction },
    reports: createReports(config, { db, runInTransaction, clock }),
    webhooks: { ...sending, db, runInTransaction, clock },
  });
  const { WORKFLOW_BUNDLE_PATH: codePath } = config;
  const bundle = codePath === undefined ? {} : { workflowBundle: { codePath } };
  const temporal = startTemporalWorkers(
    { ...workersOptions(config), ...bundle, ...options, onReturn: () => recovery.requestFull() },
    activities,
  );
  const { send, running, reachable } = temporal.gateway;
  const dispatcher = createDispatcher({
    ...sending,
    db,
    log,
    workflows: config.WEBHOOK_WORKFLOWS,
    onWorkflow: () => relay.trigger(),
    retryDelaysSeconds: config.WEBHOOK_RETRY_SCHEDULE_SECONDS,
  });
  const { WEBHOOK_WORKFLOW_START_CONCURRENCY: startConcurrency } = config;
  const delivery = { db, send, log, reachable, startConcurrency, isBusy: dispatcher.isBusy };
  const relay = createRelay({ ...delivery, findObsolete: async (messages) => findObsolete(db, messages) });
  const recovery = createWorkflowRecovery({ db, runInTransaction, running, reachable, sources: OPEN_SOURCES, log });
  const listening = listenForCommits({ databaseUrl: config.DATABASE_URL, trigger, log });
  const jobDeps = { db, runInTransaction, clock, relay, dispatcher, recovery, ...payments.checks, ...options };
  const periodicJobs = startPeriodicJobs(
    [...afterClock(databaseClock, timedJobs(config, jobDeps)), ...temporalJobs(jobDeps)],
    log,
  );

  return {
    ready: temporal.ready,
    stop: async () => {
      databaseClock.stop();
      await Promise.all([listening.stop(), periodicJobs.stop(), dispatcher.stop()]);
      await temporal.stop();
      sending.inFlight.stop();
      await relay.stop();
      await Promise.all([sending.sender.close(), payments.close(), db.destroy()]);
    },
  };
}

function workersOptions(config: Config) {
  const { TASK_QUEUES: taskQueues, DATABASE_POOL_MAX: poolMax, TEMPORAL_WORKER_BUILD_ID: buildId } = config;
  const deploymentName = `${config.TASK_QUEUE_PREFIX}${config.TEMPORAL_DEPLOYMENT_NAME}`;
  const build = buildId === undefined ? null : { deploymentName, buildId };
  return {
    ...temporalOptions(config),
    taskQueues,
    poolMax,
    build,
    connectWith: () => temporalConnection(config),
  };
}

function openWatchedDatabase({ DATABASE_URL: url, DATABASE_POOL_MAX: poolMax }: Config): Database {
  const db = openDatabase({ url, poolMax, applicationName: 'meskot-worker' });
  closeFrozenConnections(db, url);
  return db;
}

/** Metrics of pending and late work. */
function measure(registry: Registry, db: Database, { skewSeconds }: DatabaseClock): void {
  measureClockSkew(registry, skewSeconds);
  measurePool(registry, db, 'worker');
  measureDeliveries(registry, db);
  measurePayments(registry, db);
  measureWithdrawals(registry, db);
  measureSettlements(registry, db);
  measureReports(registry, db);
  measureReconciliation(registry, db);
}

type Changes = { db: Database; runInTransaction: RunInTransaction; clock: Clock };

/** The sync operations as the workflows call them: they are the callers, so they are not signalled. */
function createPayments(config: Config, { db, runInTransaction, clock, log }: Changes & { log: Logger }) {
  const http = createHttpClient();
  const findProvider = createFindProvider({ http, clock, ...config.simulator });
  const deps = { db, runInTransaction, findProvider, clock, baseUrl: config.PUBLIC_BASE_URL, log };
  const check = createSyncAttempt(deps);
  const options = { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: false };
  const payments = {
    check: (attemptId: string, now: Date) =>
      check(attemptId, { minIntervalMs: POLL_INTERVAL_MIN_MS, notifyWorkflow: false, now }),
    expire: createExpireAttempt({ ...deps, checkAttempt: check }),
  };
  const checkPayout = createCheckPayout(deps);
  const withdrawals = {
    read: (withdrawalId: string) => readWithdrawal(db, withdrawalId),
    autoDecide: (withdrawalId: string, at: Date) => autoDecide(deps, withdrawalId, at),
    check: async (withdrawalId: string, now: Date) => (await checkPayout(withdrawalId, { ...options, now })).row,
  };
  const reconciliation = { ...deps, checkAttempt: check, checkPayout };
  const checks = { checkAttempt: check, checkPayout };
  return { operations: { payments, withdrawals, reconciliation }, checks, close: http.close };
}

/** Sending, shared by the dispatcher and the deliveries' workflows. */
function createSending(config: Config, { db, log, registry }: WorkerOptions & { db: Database }) {
  const sender = createSender({ guard: createEgressGuard(config.egress), proxyUrl: config.EGRESS_PROXY_URL });
  const attempt = createAttempt({
    sender,
    keyRing: config.keyRing,
    onDefect: (deliveryId, error) =>
      log.error({ err: error, deliveryId }, 'A webhook could not be sent; it counts as a failed attempt'),
  });
  const { WEBHOOK_CONCURRENCY_PER_SUBSCRIPTION: perSubscription } = config;
  const perThrottled = Math.ceil(perSubscription / THROTTLED_SHARE);
  const inFlight = createInFlight(db, { perSubscription, perThrottled });
  return {
    sender,
    attempt,
    record: createRecorder({ db, log, inFlight }),
    inFlight,
    onRecorded: registry ? countOutcomes(registry) : () => {},
  };
}

/** Report generation, as its workflow calls it. */
function createReports(config: Config, { db, runInTransaction, clock }: Changes) {
  const files = createReportFiles(config.REPORTS_DIR);
  const deps = { db, runInTransaction, files, clock, baseUrl: config.PUBLIC_BASE_URL };
  return { generate: createGenerateReport(deps), giveUp: (reportId: string) => giveUpReport(deps, reportId) };
}
