import type { WorkflowBundleOption } from '@temporalio/worker';

import { createActivities } from '../../activities/index.ts';
import { deleteOldRequests } from '../access/request-log.ts';
import { deleteOldSessions } from '../access/users/sessions.ts';
import { deleteOldTokens } from '../access/users/tokens.ts';
import { measureWorkQueue } from '../backoffice/monitoring.ts';
import type { Config } from '../config.ts';
import { deleteOldIdempotencyKeys } from '../http/idempotency.ts';
import { createRegistry, measureRow, type Registry } from '../http/metrics.ts';
import { createIntegrityMonitor } from '../ledger/verify.ts';
import { DAY_MS, HOUR_MS } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import { startPeriodicJobs, type PeriodicJob } from '../lib/periodic-jobs.ts';
import { NO_TRACING, type Tracing } from '../lib/tracing.ts';
import { removeOrphans } from '../merchants/kyc/documents.ts';
import { createDocumentStore, type DocumentStore } from '../merchants/kyc/store.ts';
import { dispatchTo, listenForCommits } from '../outbox/listener.ts';
import { createSmtp, deleteOldMails, sendMails, UNSENT_MAILS } from '../outbox/mail.ts';
import { createTransactionRunner } from '../outbox/record.ts';
import { createWorkflowRecovery, type WorkflowRecovery } from '../outbox/recover-workflows.ts';
import { createRelay, traced, type Relay } from '../outbox/relay.ts';
import { createExpireAttempt, expireDueSessions } from '../payments/close-session.ts';
import { measurePayments } from '../payments/monitoring.ts';
import { recheckAfterCallbacks, MIN_QUERY_INTERVAL_MS, POLL_INTERVAL_MIN_MS } from '../payments/sync.ts';
import { findRecoverableAttempts } from '../payments/workflow.ts';
import { recheckOutgoing } from '../payouts/check.ts';
import { readConfirmable } from '../payouts/confirm.ts';
import { measureRefunds } from '../payouts/refunds/monitoring.ts';
import { REFUND } from '../payouts/refunds/refund.ts';
import { findRecoverableRefunds } from '../payouts/refunds/workflow.ts';
import { measureWithdrawals } from '../payouts/withdrawals/monitoring.ts';
import { autoDecide } from '../payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../payouts/withdrawals/withdrawal.ts';
import { findRecoverableWithdrawals } from '../payouts/withdrawals/workflow.ts';
import { createNoticeWriter } from '../portal/notices.ts';
import { warnOfExpiries } from '../providers/expiry.ts';
import { measureReconciliation } from '../reconciliation/monitoring.ts';
import { findRecoverableRuns } from '../reconciliation/runs.ts';
import { createReportFiles, expireReports, removeAbandoned, type ReportFiles } from '../reports/files.ts';
import { createGenerateReport, giveUpReport } from '../reports/generate.ts';
import { requestDueReports } from '../reports/schedules.ts';
import { findRecoverableReports, measureReports } from '../reports/workflow.ts';
import { autoDecide as autoDecideSettlement } from '../settlements/decide.ts';
import { updateDates } from '../settlements/expected-dates.ts';
import { measureSettlements } from '../settlements/monitoring.ts';
import { findRecoverableSettlements } from '../settlements/workflow.ts';
import { startTemporalWorkers } from '../temporal/workers.ts';
import { createAttempt } from '../webhooks/delivery/attempt.ts';
import { createDispatcher, type Dispatcher } from '../webhooks/delivery/dispatcher.ts';
import { createInFlight } from '../webhooks/delivery/in-flight.ts';
import { countOutcomes, measureDeliveries } from '../webhooks/delivery/metrics.ts';
import { createRecorder } from '../webhooks/delivery/record-attempt.ts';
import { findRecoverableResendJobs } from '../webhooks/delivery/resend-workflow.ts';
import { createSender } from '../webhooks/delivery/send.ts';
import { createWorkflowStarter, type WorkflowStarter } from '../webhooks/delivery/start-workflows.ts';
import { findRecoverableDeliveries } from '../webhooks/delivery/workflow.ts';
import { createEgressGuard } from '../webhooks/egress/egress.ts';
import { createSandboxReceiver } from '../webhooks/receiver/receiver.ts';
import { deleteOldReceived } from '../webhooks/receiver/requests.ts';
import { ledgerChecks } from './ledger-invariants.ts';
import { createChecks, openProcess, readExpiries, type Checks } from './open-process.ts';

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
const EXPIRE_BATCH = 500;
const RECHECK_BATCH = 20;
const MINUTE_MS = 60_000;
/** It reads the whole ledger, which may take minutes. */
const VERIFY_LEDGER_EVERY_MS = 6 * HOUR_MS;
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
    ...temporalJobs({ relay, dispatcher, starter, recovery }),
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

type Parts = Parameters<typeof createChecks>[0] & Checks & { db: Database; log: Logger };

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

const job = (name: string, everyMs: number, run: PeriodicJob['run']): PeriodicJob => ({ name, everyMs, run });

/** What is deleted once it is old, and how often. Each function has its own age. */
const DELETIONS = [
  ['idempotency keys', MINUTE_MS, deleteOldIdempotencyKeys],
  ['logged requests', MINUTE_MS, deleteOldRequests],
  ['sessions of people', HOUR_MS, deleteOldSessions],
  ['tokens of people', HOUR_MS, deleteOldTokens],
  ['mails', HOUR_MS, deleteOldMails],
  ['requests of built-in receivers', HOUR_MS, deleteOldReceived],
] as const;

type Stores = { files: ReportFiles; store: DocumentStore };

/** The worker's jobs that depend on the time and need no Temporal. */
function timedJobs(
  config: Config,
  { known, files, store, ...deps }: Parts & Stores & { known: Promise<unknown>; registry: Registry },
): PeriodicJob[] {
  const { db, runInTransaction, clock } = deps;
  const ledger = { ...deps, databaseUrl: config.DATABASE_URL, checks: ledgerChecks };
  const jobs = [
    job('expire sessions', 1_000, () => expireDueSessions(runInTransaction, clock(), EXPIRE_BATCH)),
    job('recheck payments with callbacks', 30_000, () => recheckAfterCallbacks(deps, RECHECK_BATCH)),
    job('recheck payouts with callbacks', 30_000, () =>
      recheckOutgoing({ ...deps, check: deps.checkPayout }, WITHDRAWAL, RECHECK_BATCH),
    ),
    job('recheck refunds with callbacks', 30_000, () =>
      recheckOutgoing({ ...deps, check: deps.checkRefund }, REFUND, RECHECK_BATCH),
    ),
    job('remove files of failed uploads', HOUR_MS, () => removeOrphans({ db, store })),
    job('remove files of expired reports', MINUTE_MS, () => expireReports({ db, clock, files })),
    job('remove files of abandoned reports', DAY_MS, () => removeAbandoned({ db, files })),
    ...mailJobs(config, deps),
    ...DELETIONS.map(([what, everyMs, run]) => job(`delete old ${what}`, everyMs, (stopping) => run(db, stopping))),
    job('warn of expiring credentials', DAY_MS, () =>
      warnOfExpiries({ ...deps, read: () => readExpiries(config, deps) }),
    ),
    job('verify the ledger', MINUTE_MS, createIntegrityMonitor(ledger, VERIFY_LEDGER_EVERY_MS)),
  ];
  return jobs.map(({ run, ...one }) => ({
    ...one,
    run: async (stopping) => known.then(async () => !stopping.aborted && run(stopping)),
  }));
}

/** Mails are sent where there is a mail server. */
function mailJobs(config: Config, { db, log, registry }: Parts & { registry: Registry }): PeriodicJob[] {
  const { SMTP_URL, MAIL_FROM, PORTAL_URL = '', keyRing } = config;
  if (SMTP_URL === undefined) return [];
  measureRow(registry, UNSENT_MAILS.gauges, { db, sql: UNSENT_MAILS.sql });
  const send = createSmtp(SMTP_URL, MAIL_FROM);
  const write = createNoticeWriter(PORTAL_URL);
  return [job('send mails', 5_000, (stopping) => sendMails({ db, keyRing, write, send, log }, stopping))];
}

type Sweepers = { relay: Relay; dispatcher: Dispatcher; starter: WorkflowStarter; recovery: WorkflowRecovery };

/** The jobs of the outbox and the deliveries. Commits trigger them at once: these find due rows and those of a dead process. */
function temporalJobs({ relay, dispatcher, starter, recovery }: Sweepers): PeriodicJob[] {
  return [
    job('sweep the outbox', 500, async () => relay.trigger()),
    job('find due deliveries', 1_000, async () => dispatcher.trigger()),
    job('start workflows of delivered events', 10_000, async () => starter.trigger()),
    job('recover lost workflows', 5_000, recovery.run),
  ];
}
