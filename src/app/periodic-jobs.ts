import type { Config } from '../config.ts';
import { deleteOldIdempotencyKeys } from '../http/idempotency.ts';
import type { Registry } from '../http/metrics.ts';
import { createIntegrityMonitor } from '../ledger/verify.ts';
import type { Clock } from '../lib/clock.ts';
import type { DatabaseClock } from '../lib/database-clock.ts';
import { DAY_MS, HOUR_MS } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { PeriodicJob } from '../lib/periodic-jobs.ts';
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
import { runResendJobs } from '../webhooks/delivery/resend.ts';
import { recheckPayoutsAfterCallbacks, type CheckPayout } from '../withdrawals/sync.ts';
import { ledgerChecks } from './ledger-invariants.ts';

const EXPIRE_BATCH = 500;
const RECHECK_BATCH = 20;
const MINUTE_MS = 60_000;
/** It reads the whole ledger, which may take minutes. */
const VERIFY_LEDGER_EVERY_MS = 6 * HOUR_MS;

/** Delays jobs until the database's time is known. */
export const afterClock = ({ known }: DatabaseClock, periodicJobs: PeriodicJob[]): PeriodicJob[] =>
  periodicJobs.map(({ run, ...one }) => ({
    ...one,
    run: async (stopping) => known.then(async () => !stopping.aborted && run(stopping)),
  }));

const job = (name: string, everyMs: number, run: PeriodicJob['run']): PeriodicJob => ({ name, everyMs, run });

type TimedDeps = {
  db: Database;
  runInTransaction: RunInTransaction;
  clock: Clock;
  log: Logger;
  registry?: Registry;
  checkAttempt: CheckAttempt;
  checkPayout: CheckPayout;
};

/** The worker's jobs that depend on the time and need no Temporal. */
export function timedJobs(config: Config, deps: TimedDeps): PeriodicJob[] {
  const { db, runInTransaction, clock, log, registry, checkAttempt, checkPayout } = deps;
  const files = createReportFiles(config.REPORTS_DIR);
  const store = createDocumentStore(config.KYC_DOCUMENTS_DIR, config.keyRing);
  const ledger = {
    db,
    databaseUrl: config.DATABASE_URL,
    checks: ledgerChecks,
    clock,
    log,
    ...(registry && { registry }),
  };
  const resends = { db, runInTransaction, clock };
  return [
    job('expire sessions', 1_000, () => expireDueSessions(runInTransaction, clock(), EXPIRE_BATCH)),
    job('recheck payments with callbacks', 30_000, () =>
      recheckAfterCallbacks({ db, clock, checkAttempt }, RECHECK_BATCH),
    ),
    job('recheck payouts with callbacks', 30_000, () =>
      recheckPayoutsAfterCallbacks({ db, clock, checkPayout }, RECHECK_BATCH),
    ),
    job('remove files of failed uploads', HOUR_MS, () => removeOrphans({ db, store })),
    job('run bulk resends', 1_000, () => runResendJobs(resends, config.WEBHOOK_RESENDS_PER_SECOND)),
    job('remove files of expired reports', MINUTE_MS, () => expireReports({ db, clock, files })),
    job('remove files of abandoned reports', DAY_MS, () => removeAbandoned({ db, files })),
    job('delete old idempotency keys', MINUTE_MS, () => deleteOldIdempotencyKeys(db)),
    job('verify the ledger', MINUTE_MS, createIntegrityMonitor(ledger, VERIFY_LEDGER_EVERY_MS)),
  ];
}

type TemporalDeps = { relay: Relay; dispatcher: Dispatcher; recovery: WorkflowRecovery; registry?: Registry };

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
