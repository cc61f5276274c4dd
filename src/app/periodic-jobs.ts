import type { Config } from '../config.ts';
import { deleteOldIdempotencyKeys } from '../http/idempotency.ts';
import type { Registry } from '../http/metrics.ts';
import { createIntegrityMonitor } from '../ledger/integrity-monitor.ts';
import type { Clock } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { PeriodicJob } from '../lib/periodic-jobs.ts';
import { decideDueInSandbox } from '../merchants/kyc/decide.ts';
import { removeOrphans } from '../merchants/kyc/documents.ts';
import { createDocumentStore } from '../merchants/kyc/store.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import type { WorkflowRecovery } from '../outbox/recover-workflows.ts';
import type { Relay } from '../outbox/relay.ts';
import { expireDueSessions } from '../payments/close-session.ts';
import { recheckAfterCallbacks } from '../payments/recheck-callbacks.ts';
import type { CheckAttempt } from '../payments/sync.ts';
import { expireReports, removeAbandoned } from '../reports/expire.ts';
import { createReportFiles } from '../reports/files.ts';
import type { Dispatcher } from '../webhooks/delivery/dispatcher.ts';
import { countSkippedWorkflows } from '../webhooks/delivery/metrics.ts';
import { runResendJobs } from '../webhooks/delivery/resend-jobs.ts';
import { recheckPayoutsAfterCallbacks, type CheckPayout } from '../withdrawals/sync.ts';
import { ledgerChecks } from './ledger-invariants.ts';

const EXPIRE_BATCH = 500;
const RECHECK_BATCH = 20;
const KYC_BATCH = 100;
const MINUTE_MS = 60_000;
/** It reads the whole ledger, which may take minutes. */
const VERIFY_LEDGER_EVERY_MS = 6 * HOUR_MS;

type TimedDeps = {
  config: Config;
  db: Database;
  runInTransaction: RunInTransaction;
  clock: Clock;
  /** Resolves when the clock is set. */
  known: Promise<unknown>;
  log: Logger;
  registry: Registry | undefined;
  checkAttempt: CheckAttempt;
  checkPayout: CheckPayout;
};

const job = (name: string, everyMs: number, run: PeriodicJob['run']): PeriodicJob => ({ name, everyMs, run });

/** The worker's jobs that depend on the time and need no Temporal. */
export function timedJobs(deps: TimedDeps): PeriodicJob[] {
  const { config, db, runInTransaction, clock, known } = deps;
  const files = createReportFiles(config.REPORTS_DIR);
  const store = createDocumentStore(config.KYC_DOCUMENTS_DIR, config.keyRing);
  const ledger = { ...deps, databaseUrl: config.DATABASE_URL, checks: ledgerChecks };
  const jobs = [
    job('expire sessions', 1_000, () => expireDueSessions(runInTransaction, clock(), EXPIRE_BATCH)),
    job('recheck payments with callbacks', 30_000, () => recheckAfterCallbacks(deps, RECHECK_BATCH)),
    job('recheck payouts with callbacks', 30_000, () => recheckPayoutsAfterCallbacks(deps, RECHECK_BATCH)),
    job('decide sandbox verifications', 1_000, () => decideDueInSandbox(runInTransaction, clock(), KYC_BATCH)),
    job('remove files of failed uploads', HOUR_MS, () => removeOrphans({ db, store })),
    job('run bulk resends', 1_000, () => runResendJobs(deps, config.WEBHOOK_RESENDS_PER_SECOND)),
    job('remove files of expired reports', MINUTE_MS, () => expireReports({ db, clock, files })),
    job('remove files of abandoned reports', DAY_MS, () => removeAbandoned({ db, files })),
    job('delete old idempotency keys', MINUTE_MS, () => deleteOldIdempotencyKeys(db)),
    job('verify the ledger', MINUTE_MS, createIntegrityMonitor(ledger, VERIFY_LEDGER_EVERY_MS)),
  ];
  return jobs.map(({ run, ...one }) => ({
    ...one,
    run: async (stopping) => known.then(async () => !stopping.aborted && run(stopping)),
  }));
}

type TemporalDeps = {
  relay: Relay;
  dispatcher: Dispatcher;
  recovery: WorkflowRecovery;
  registry: Registry | undefined;
};

/** The jobs of the outbox and the deliveries. Commits trigger both at once: these find due rows and those of a dead process. */
export function temporalJobs({ relay, dispatcher, recovery, registry }: TemporalDeps): PeriodicJob[] {
  const countSkipped = registry ? countSkippedWorkflows(registry) : () => {};
  return [
    job('sweep the outbox', 500, async () => relay.trigger()),
    job('find due deliveries', 1_000, async () => dispatcher.trigger()),
    job('skip visibility workflows', 1_000, async () => countSkipped(await relay.dropSkippedVisibility())),
    job('recover lost workflows', 5_000, recovery.run),
  ];
}
