import type { WorkflowBundleOption } from '@temporalio/worker';

import { createActivities } from '../../activities/index.ts';
import type { Config } from '../config.ts';
import { measureClockSkew, measurePool, type Registry } from '../http/metrics.ts';
import { createDatabaseClock } from '../lib/database-clock.ts';
import { closeFrozenConnections } from '../lib/db-liveness.ts';
import { type Database, openDatabase } from '../lib/db.ts';
import { createHttpClient } from '../lib/http-client.ts';
import type { Logger } from '../lib/log.ts';
import { startPeriodicJobs } from '../lib/periodic-jobs.ts';
import { dispatchTo, listenForCommits } from '../outbox/listener.ts';
import { createTransactionRunner } from '../outbox/record.ts';
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
import { startTemporalWorkers } from '../temporal/workers.ts';
import { createAttempt } from '../webhooks/delivery/attempt.ts';
import { createClaim } from '../webhooks/delivery/claim.ts';
import { createDispatcher } from '../webhooks/delivery/dispatcher.ts';
import { createInFlight } from '../webhooks/delivery/in-flight.ts';
import { countOutcomes, measureDeliveries } from '../webhooks/delivery/metrics.ts';
import { abandonDelivery, createRecorder, readDelivery } from '../webhooks/delivery/record-attempt.ts';
import { findRecoverableDeliveries } from '../webhooks/delivery/recoverable.ts';
import { requestResend } from '../webhooks/delivery/resend.ts';
import { createSender } from '../webhooks/delivery/send.ts';
import { createEgressGuard } from '../webhooks/egress/egress.ts';
import { measureWithdrawals } from '../withdrawals/monitoring.ts';
import { readWithdrawal } from '../withdrawals/queries.ts';
import { autoDecide } from '../withdrawals/review.ts';
import { createCheckPayout } from '../withdrawals/sync.ts';
import { findRecoverableWithdrawals } from '../withdrawals/workflow.ts';
import { temporalJobs, timedJobs } from './periodic-jobs.ts';

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
/** Metrics of pending and late work. */
const METRICS = [
  measureDeliveries,
  measurePayments,
  measureWithdrawals,
  measureSettlements,
  measureReports,
  measureReconciliation,
];
/** A throttled subscription gets this part of another's concurrency: 10 of 50. */
const THROTTLED_SHARE = 5;

/** The worker process: Temporal's workers, the relay, the dispatcher, and the periodic jobs. */
export function startWorker(config: Config, options: WorkerOptions): RunningWorker {
  const { log, registry } = options;
  const { DATABASE_URL: databaseUrl, DATABASE_POOL_MAX: poolMax } = config;
  const db = openDatabase({ url: databaseUrl, poolMax, applicationName: 'meskot-worker' });
  closeFrozenConnections(db, databaseUrl);
  const databaseClock = createDatabaseClock(db, { log });
  const clock = databaseClock.now;
  if (registry) {
    measureClockSkew(registry, databaseClock.skewSeconds);
    measurePool(registry, db, 'worker');
    for (const measure of METRICS) measure(registry, db);
  }
  const trigger = { messages: () => relay.trigger(), deliveries: () => dispatcher.trigger() };
  const runInTransaction = createTransactionRunner(db, dispatchTo(trigger));
  const http = createHttpClient();
  const findProvider = createFindProvider({ http, clock, ...config.simulator });
  const sync = { db, runInTransaction, clock, findProvider, baseUrl: config.PUBLIC_BASE_URL, log };
  const parts = { ...sync, checkAttempt: createSyncAttempt(sync), checkPayout: createCheckPayout(sync) };
  const sending = createSending(config, { ...options, db });
  const reports = { ...parts, files: createReportFiles(config.REPORTS_DIR) };
  const activities = createActivities({
    ...moneyActivities(parts),
    reports: { generate: createGenerateReport(reports), giveUp: async (reportId) => giveUpReport(reports, reportId) },
    webhooks: { ...sending, ...deliveryActivities(parts), claim: createClaim(db, sending.inFlight) },
  });
  const onReturn = () => recovery.requestFull();
  const temporal = startTemporalWorkers({ ...options, config, activities, onReturn });
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
  const listening = listenForCommits({ databaseUrl, trigger, log });
  const jobs = [
    ...timedJobs({ ...parts, config, registry, known: databaseClock.known }),
    ...temporalJobs({ relay, dispatcher, recovery, registry }),
  ];
  const periodicJobs = startPeriodicJobs(jobs, log);

  return {
    ready: temporal.ready,
    stop: async () => {
      databaseClock.stop();
      await Promise.all([listening.stop(), periodicJobs.stop(), dispatcher.stop()]);
      await temporal.stop();
      sending.inFlight.stop();
      await relay.stop();
      await Promise.all([sending.sender.close(), http.close(), db.destroy()]);
    },
  };
}

type Parts = Parameters<typeof createSyncAttempt>[0] & {
  db: Database;
  log: Logger;
  checkAttempt: ReturnType<typeof createSyncAttempt>;
  checkPayout: ReturnType<typeof createCheckPayout>;
};

/** The workflows are the callers, so they are not signalled. */
function moneyActivities(parts: Parts) {
  const { db, checkAttempt, checkPayout } = parts;
  const notifyWorkflow = false;
  return {
    payments: {
      check: (attemptId: string, now: Date) =>
        checkAttempt(attemptId, { minIntervalMs: POLL_INTERVAL_MIN_MS, notifyWorkflow, now }),
      expire: createExpireAttempt(parts),
    },
    withdrawals: {
      read: (withdrawalId: string) => readWithdrawal(db, withdrawalId),
      autoDecide: (withdrawalId: string, at: Date) => autoDecide(parts, withdrawalId, at),
      check: async (withdrawalId: string, now: Date) =>
        (await checkPayout(withdrawalId, { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow, now })).row,
    },
    settlements: parts,
    reconciliation: parts,
  };
}

function deliveryActivities({ db, runInTransaction, clock }: Parts) {
  return {
    readDelivery: async (deliveryId: string) => readDelivery(db, deliveryId),
    abandon: async (request: { deliveryId: string; at: Date }) => abandonDelivery(db, request),
    requestResend: async ({ deliveryId, force }: { deliveryId: string; force: boolean }) => {
      const request = { scope: null, deliveryIds: [deliveryId], force, signal: false };
      await runInTransaction((tx) => requestResend({ clock }, tx, request));
    },
  };
}

/** Sending, shared by the dispatcher and the deliveries' workflows. */
function createSending(config: Config, { db, log, registry }: WorkerOptions & { db: Database }) {
  const { WEBHOOK_CONCURRENCY_PER_SUBSCRIPTION: perSubscription } = config;
  const perThrottled = Math.ceil(perSubscription / THROTTLED_SHARE);
  const inFlight = createInFlight(db, { perSubscription, perThrottled });
  const sender = createSender({ guard: createEgressGuard(config.egress), proxyUrl: config.EGRESS_PROXY_URL });
  const onDefect = (deliveryId: string, error: unknown) =>
    log.error({ err: error, deliveryId }, 'A webhook could not be sent; it counts as a failed attempt');
  return {
    sender,
    attempt: createAttempt({ sender, keyRing: config.keyRing, onDefect }),
    record: createRecorder({ db, log, inFlight }),
    inFlight,
    onRecorded: registry ? countOutcomes(registry) : () => {},
  };
}
