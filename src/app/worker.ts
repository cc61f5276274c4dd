import type { WorkflowBundleOption } from '@temporalio/worker';

import { createActivities } from '../../activities/index.ts';
import { measureWorkQueue } from '../backoffice/monitoring.ts';
import type { Config } from '../config.ts';
import { createRegistry, type Registry } from '../http/metrics.ts';
import type { Database } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import { startPeriodicJobs } from '../lib/periodic-jobs.ts';
import { NO_TRACING, type Tracing } from '../lib/tracing.ts';
import { createDocumentStore } from '../merchants/kyc/store.ts';
import { dispatchTo, listenForCommits } from '../outbox/listener.ts';
import { createTransactionRunner } from '../outbox/record.ts';
import { createWorkflowRecovery } from '../outbox/recover-workflows.ts';
import { createRelay, traced } from '../outbox/relay.ts';
import { createExpireAttempt } from '../payments/close-session.ts';
import { measurePayments } from '../payments/monitoring.ts';
import { MIN_QUERY_INTERVAL_MS, POLL_INTERVAL_MIN_MS } from '../payments/sync.ts';
import { findRecoverableAttempts } from '../payments/workflow.ts';
import { readConfirmable } from '../payouts/confirm.ts';
import { measureRefunds } from '../payouts/refunds/monitoring.ts';
import { findRecoverableRefunds } from '../payouts/refunds/workflow.ts';
import { measureWithdrawals } from '../payouts/withdrawals/monitoring.ts';
import { autoDecide } from '../payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../payouts/withdrawals/withdrawal.ts';
import { findRecoverableWithdrawals } from '../payouts/withdrawals/workflow.ts';
import { measureReconciliation } from '../reconciliation/monitoring.ts';
import { findRecoverableRuns } from '../reconciliation/runs.ts';
import { createReportFiles, type ReportFiles } from '../reports/files.ts';
import { createGenerateReport, giveUpReport } from '../reports/generate.ts';
import { requestDueReports } from '../reports/schedules.ts';
import { findRecoverableReports, measureReports } from '../reports/workflow.ts';
import { autoDecide as autoDecideSettlement } from '../settlements/decide.ts';
import { updateDates } from '../settlements/expected-dates.ts';
import { measureSettlements } from '../settlements/monitoring.ts';
import { findRecoverableSettlements } from '../settlements/workflow.ts';
import { startTemporalWorkers } from '../temporal/workers.ts';
import { createAttempt } from '../webhooks/delivery/attempt.ts';
import { createDispatcher } from '../webhooks/delivery/dispatcher.ts';
import { createInFlight } from '../webhooks/delivery/in-flight.ts';
import { countOutcomes, measureDeliveries } from '../webhooks/delivery/metrics.ts';
import { createRecorder } from '../webhooks/delivery/record-attempt.ts';
import { findRecoverableResendJobs } from '../webhooks/delivery/resend-workflow.ts';
import { createSender } from '../webhooks/delivery/send.ts';
import { createWorkflowStarter } from '../webhooks/delivery/start-workflows.ts';
import { findRecoverableDeliveries } from '../webhooks/delivery/workflow.ts';
import { createEgressGuard } from '../webhooks/egress/egress.ts';
import { createSandboxReceiver } from '../webhooks/receiver/receiver.ts';
import { sweeps, timedJobs, type Parts } from './jobs.ts';
import { createChecks, openProcess } from './open-process.ts';

export type RunningWorker = ReturnType<typeof startWorker>;

export type WorkerOptions = {
  log: Logger;
  /** The registry of this process, if it exposes more than the worker's metrics. */
  registry?: Registry;
  workflowBundle?: WorkflowBundleOption;
  tracing?: Tracing;
};

/** The finders of all rows that must have a running workflow. */
const OPEN_SOURCES = [
  findRecoverableDeliveries,
  findRecoverableResendJobs,
  findRecoverableAttempts,
  findRecoverableRefunds,
  findRecoverableWithdrawals,
  findRecoverableSettlements,
  findRecoverableReports,
  findRecoverableRuns,
];
const METRICS = [
  measureWorkQueue,
  measureDeliveries,
  measurePayments,
  measureRefunds,
  measureWithdrawals,
  measureSettlements,
  measureReports,
  measureReconciliation,
];
/** A throttled subscription gets this part of another's concurrency: 10 of 50. */
const THROTTLED_SHARE = 5;

/** The worker process: Temporal's workers, the relay, the dispatcher, and the periodic jobs. */
export function startWorker(config: Config, options: WorkerOptions) {
  const { log, registry = createRegistry('worker'), tracing = NO_TRACING } = options;
  const opened = openProcess(config, { name: 'worker', log, registry });
  const { db, databaseClock, clock, findProvider, countResult } = opened;
  for (const measure of METRICS) measure(registry, db);
  const trigger = { messages: () => relay.trigger(), deliveries: () => dispatcher.trigger() };
  const runInTransaction = createTransactionRunner(db, dispatchTo(trigger), tracing);
  const baseUrl = config.PUBLIC_BASE_URL;
  const sync = { db, runInTransaction, clock, findProvider, baseUrl, log, countResult };
  const parts = { ...sync, ...createChecks(sync) };
  const sending = createSending(config, { log, registry, db, tracing });
  const files = createReportFiles(opened.files.reports);
  const store = createDocumentStore(opened.files.documents, config.keyRing);
  const reports = { ...parts, files };
  const activities = createActivities({
    ...moneyActivities(parts),
    reports: reportActivities(reports),
    webhooks: {
      ...sending,
      ...parts,
      resendsPerSecond: config.WEBHOOK_RESENDS_PER_SECOND,
      traceparent: tracing.current,
    },
  });
  const onReturn = () => recovery.requestFull();
  const temporal = startTemporalWorkers({ ...options, config, activities, onReturn });
  const { running, reachable } = temporal.gateway;
  const send = traced(temporal.gateway.send, tracing);
  const dispatcher = createDispatcher({
    ...sending,
    db,
    log,
    workflows: config.WEBHOOK_WORKFLOWS,
    onWorkflow: (isDelivered) => (isDelivered ? starter : relay).trigger(),
    retryDelaysSeconds: config.WEBHOOK_RETRY_SCHEDULE_SECONDS,
  });
  const { WEBHOOK_WORKFLOW_START_CONCURRENCY: startConcurrency } = config;
  const sends = { db, send, log, reachable };
  const relay = createRelay({ ...sends, startConcurrency, isBusy: dispatcher.isBusy });
  const starter = createWorkflowStarter({ ...sends, isBusy: () => dispatcher.isBusy() || relay.isSending() });
  const recovery = createWorkflowRecovery({ db, runInTransaction, running, reachable, sources: OPEN_SOURCES, log });
  const listening = listenForCommits({ databaseUrl: config.DATABASE_URL, trigger, log });
  const jobs = [
    ...timedJobs(config, { ...parts, files, store, registry, known: databaseClock.known }),
    ...sweeps({ relay, dispatcher, starter, recovery }),
  ];
  // Connections would time out while the event loop is blocked.
  const periodicJobs = startPeriodicJobs(jobs, log, temporal.prepared);

  return {
    /** Resolves when Temporal's workers poll. Deliveries are sent and sessions expire without them. */
    ready: temporal.ready,
    /** Whether Temporal's workers poll now. */
    isReady: temporal.isPolling,
    /** Completes requests in flight, then closes everything. */
    stop: async () => {
      databaseClock.stop();
      await Promise.all([listening.stop(), periodicJobs.stop(), dispatcher.stop(), starter.stop()]);
      await temporal.stop();
      sending.inFlight.stop();
      await relay.stop();
      await Promise.all([sending.close(), opened.close()]);
    },
  };
}

/** The workflows are the callers, so they are not signalled. */
function moneyActivities(parts: Parts) {
  const { checkAttempt, checkPayout, checkRefund } = parts;
  const notifyWorkflow = false;
  return {
    payments: {
      check: (attemptId: string, now: Date) =>
        checkAttempt(attemptId, { minIntervalMs: POLL_INTERVAL_MIN_MS, notifyWorkflow, now }),
      expire: createExpireAttempt(parts),
    },
    refunds: {
      check: async (refundId: string, now: Date) =>
        (await checkRefund(refundId, { minIntervalMs: POLL_INTERVAL_MIN_MS, notifyWorkflow, now })).row,
    },
    withdrawals: {
      read: (id: string, at: Date) => readConfirmable(parts, WITHDRAWAL, { id, at }),
      autoDecide: (withdrawalId: string, at: Date) => autoDecide(parts, withdrawalId, at),
      check: async (withdrawalId: string, now: Date) =>
        (await checkPayout(withdrawalId, { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow, now })).row,
    },
    settlements: {
      updateDates: (settlementId: string, at: Date) => updateDates(parts, settlementId, at),
      autoDecide: (settlementId: string, at: Date) => autoDecideSettlement(parts, settlementId, at),
    },
    reconciliation: parts,
  };
}

function reportActivities(parts: Parts & { files: ReportFiles }) {
  return {
    generate: createGenerateReport(parts),
    giveUp: async (reportId: string) => giveUpReport(parts, reportId),
    requestDue: async (at: Date, stopping: AbortSignal) => requestDueReports({ ...parts, clock: () => at }, stopping),
  };
}

type SendingParts = { db: Database; log: Logger; registry: Registry; tracing: Tracing };

/** Sending, shared by the dispatcher and the deliveries' workflows. */
function createSending(config: Config, { db, log, registry, tracing }: SendingParts) {
  const { WEBHOOK_CONCURRENCY_PER_SUBSCRIPTION: perSubscription } = config;
  const perThrottled = Math.ceil(perSubscription / THROTTLED_SHARE);
  const inFlight = createInFlight(db, { perSubscription, perThrottled });
  const { keyRing, egress, EGRESS_PROXY_URL: proxyUrl } = config;
  const sender = createSender({ guard: createEgressGuard(egress), proxyUrl });
  const receiver = createSandboxReceiver({ db, keyRing, log });
  const onDefect = (deliveryId: string, error: unknown) =>
    log.error({ err: error, deliveryId }, 'A webhook could not be sent; it counts as a failed attempt');
  return {
    close: async () => Promise.all([sender.close(), receiver.close()]),
    attempt: createAttempt({ sender, receiver, keyRing, onDefect, tracing }),
    record: createRecorder({ db, log, inFlight }),
    inFlight,
    onRecorded: countOutcomes(registry),
  };
}
