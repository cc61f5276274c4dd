import type { Config } from '../config.ts';
import { deleteOldIdempotencyKeys } from '../http/idempotency.ts';
import type { Registry } from '../http/metrics.ts';
import { createIntegrityMonitor } from '../ledger/integrity-monitor.ts';
import type { Clock } from '../lib/clock.ts';
import type { DatabaseClock } from '../lib/database-clock.ts';
import { DAY_MS } from '../lib/dates.ts';
import type { Knex } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { PeriodicJob } from '../lib/periodic-jobs.ts';
import { decideDueInSandbox } from '../merchants/kyc/decide.ts';
import { removeOrphans } from '../merchants/kyc/documents.ts';
import { createDocumentStore } from '../merchants/kyc/store.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { expireDueSessions } from '../payments/close-session.ts';
import { recheckProven } from '../payments/recheck-callbacks.ts';
import type { CheckAttempt } from '../payments/sync.ts';
import { expireReports, removeAbandoned } from '../reports/expire.ts';
import { createReportFiles } from '../reports/files.ts';
import { runResendJobs } from '../webhooks/delivery/resend-jobs.ts';
import { recheckProvenPayouts, type CheckPayout } from '../withdrawals/sync.ts';
import { ledgerChecks } from './ledger-invariants.ts';

const EXPIRE_BATCH = 500;
const RECHECK_BATCH = 20;
const KYC_BATCH = 100;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** It reads the whole ledger, which may take minutes. */
const VERIFY_LEDGER_EVERY_MS = 6 * HOUR_MS;

/** Jobs that go by the clock do not begin before the database's time is known. */
export const afterClock = ({ known }: DatabaseClock, periodicJobs: PeriodicJob[]): PeriodicJob[] =>
  periodicJobs.map(({ run, ...one }) => ({
    ...one,
    run: async (stopping) => known.then(async () => !stopping.aborted && run(stopping)),
  }));

export const job = (name: string, everyMs: number, run: PeriodicJob['run']): PeriodicJob => ({ name, everyMs, run });

export type JobDeps = {
  db: Knex;
  runInTransaction: RunInTransaction;
  clock: Clock;
  log: Logger;
  registry?: Registry;
  checkAttempt: CheckAttempt;
  checkPayout: CheckPayout;
};

/** The worker's jobs that go by the clock and need no Temporal. */
export function periodicJobsOf(config: Config, deps: JobDeps): PeriodicJob[] {
  const { db, runInTransaction, clock, checkAttempt, checkPayout, ...watching } = deps;
  const jobs = { db, runInTransaction, clock };
  const files = createReportFiles(config.REPORTS_DIR);
  const ledger = { db, databaseUrl: config.DATABASE_URL, checks: ledgerChecks, clock, ...watching };
  return [
    job('expire sessions', 1_000, () => expireDueSessions(runInTransaction, clock(), EXPIRE_BATCH)),
    job('recheck called payments', 30_000, () => recheckProven({ db, clock, checkAttempt }, RECHECK_BATCH)),
    job('recheck called payouts', 30_000, () => recheckProvenPayouts({ db, clock, checkPayout }, RECHECK_BATCH)),
    job('decide rehearsed verifications', 1_000, () => decideDueInSandbox(runInTransaction, clock(), KYC_BATCH)),
    job('remove the files of failed uploads', HOUR_MS, () =>
      removeOrphans({ db, store: createDocumentStore(config.KYC_DOCUMENTS_DIR, config.keyRing) }),
    ),
    job('run bulk resends', 1_000, () => runResendJobs(jobs, config.WEBHOOK_RESENDS_PER_SECOND)),
    job('remove the files of old reports', MINUTE_MS, () => expireReports({ db, clock, files })),
    job('remove what reports have left behind', DAY_MS, () => removeAbandoned({ db, files })),
    job('forget old idempotency keys', MINUTE_MS, () => deleteOldIdempotencyKeys(db)),
    job('verify the ledger', MINUTE_MS, createIntegrityMonitor(ledger, VERIFY_LEDGER_EVERY_MS)),
  ];
}
