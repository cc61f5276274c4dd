import { deleteOldRequests } from '../access/request-log.ts';
import { deleteOldSessions } from '../access/users/sessions.ts';
import { deleteOldTokens } from '../access/users/tokens.ts';
import type { Config } from '../config.ts';
import { deleteOldIdempotencyKeys } from '../http/idempotency.ts';
import { measureRow, type Registry } from '../http/metrics.ts';
import { createIntegrityMonitor } from '../ledger/verify.ts';
import { DAY_MS, HOUR_MS } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { PeriodicJob } from '../lib/periodic-jobs.ts';
import { removeOrphans } from '../merchants/kyc/documents.ts';
import type { DocumentStore } from '../merchants/kyc/store.ts';
import { createSmtp, deleteOldMails, sendMails, UNSENT_MAILS } from '../outbox/mail.ts';
import type { WorkflowRecovery } from '../outbox/recover-workflows.ts';
import type { Relay } from '../outbox/relay.ts';
import { expireDueSessions } from '../payments/close-session.ts';
import { recheckAfterCallbacks } from '../payments/sync.ts';
import { recheckOutgoing } from '../payouts/check.ts';
import { REFUND } from '../payouts/refunds/refund.ts';
import { WITHDRAWAL } from '../payouts/withdrawals/withdrawal.ts';
import { createNoticeWriter } from '../portal/notices.ts';
import { warnOfExpiries } from '../providers/expiry.ts';
import { expireReports, removeAbandoned, type ReportFiles } from '../reports/files.ts';
import type { Dispatcher } from '../webhooks/delivery/dispatcher.ts';
import type { WorkflowStarter } from '../webhooks/delivery/start-workflows.ts';
import { deleteOldReceived } from '../webhooks/receiver/requests.ts';
import { ledgerChecks } from './ledger-invariants.ts';
import { createChecks, readExpiries, type Checks } from './open-process.ts';

export type Parts = Parameters<typeof createChecks>[0] & Checks & { db: Database; log: Logger };

const EXPIRE_BATCH = 500;
const RECHECK_BATCH = 20;
const MINUTE_MS = 60_000;
/** It reads the whole ledger, which may take minutes. */
const VERIFY_LEDGER_EVERY_MS = 6 * HOUR_MS;

const job = (name: string, everyMs: number, run: PeriodicJob['run']): PeriodicJob => ({ name, everyMs, run });

/** What is deleted once it is old, and how often. Each function has its own age. Jobs, since most of it lives for minutes or days. */
const DELETIONS = [
  ['idempotency keys', MINUTE_MS, deleteOldIdempotencyKeys],
  ['logged requests', MINUTE_MS, deleteOldRequests],
  ['sessions of people', HOUR_MS, deleteOldSessions],
  ['tokens of people', HOUR_MS, deleteOldTokens],
  ['mails', HOUR_MS, deleteOldMails],
  ['requests of built-in receivers', HOUR_MS, deleteOldReceived],
] as const;

type Stores = { files: ReportFiles; store: DocumentStore };

/**
 * The worker's jobs that depend on the time and need no Temporal. What waits long or works through a list is a workflow, so each
 * says why it is none.
 */
export function timedJobs(
  config: Config,
  { known, files, store, ...deps }: Parts & Stores & { known: Promise<unknown>; registry: Registry },
): PeriodicJob[] {
  const { db, runInTransaction, clock } = deps;
  const ledger = { ...deps, databaseUrl: config.DATABASE_URL, checks: ledgerChecks };
  const jobs = [
    // A session ends in time also while Temporal is away, so that nobody pays one that is over.
    job('expire sessions', 1_000, () => expireDueSessions(runInTransaction, clock(), EXPIRE_BATCH)),
    // These three repair what a lost query left, so they must not depend on what may be lost with it.
    job('recheck payments with callbacks', 30_000, () => recheckAfterCallbacks(deps, RECHECK_BATCH)),
    job('recheck payouts with callbacks', 30_000, () =>
      recheckOutgoing({ ...deps, check: deps.checkPayout }, WITHDRAWAL, RECHECK_BATCH),
    ),
    job('recheck refunds with callbacks', 30_000, () =>
      recheckOutgoing({ ...deps, check: deps.checkRefund }, REFUND, RECHECK_BATCH),
    ),
    // Files whose rows are gone, or will be: nothing waits for it, and whoever is first does it.
    job('remove files of failed uploads', HOUR_MS, () => removeOrphans({ db, store })),
    job('remove files of expired reports', MINUTE_MS, () => expireReports({ db, clock, files })),
    job('remove files of abandoned reports', DAY_MS, () => removeAbandoned({ db, files })),
    ...mailJobs(config, deps),
    ...DELETIONS.map(([what, everyMs, run]) => job(`delete old ${what}`, everyMs, (stopping) => run(db, stopping))),
    // Each process looks at its own files and settings.
    job('warn of expiring credentials', DAY_MS, () =>
      warnOfExpiries({ ...deps, read: () => readExpiries(config, deps) }),
    ),
    // Each worker verifies in its turn, and its own gauges show what it has found.
    job('verify the ledger', MINUTE_MS, createIntegrityMonitor(ledger, VERIFY_LEDGER_EVERY_MS)),
  ];
  return jobs.map(({ run, ...one }) => ({
    ...one,
    run: async (stopping) => known.then(async () => !stopping.aborted && run(stopping)),
  }));
}

/** Mails are sent where there is a mail server. A job, since people sign in and reset passwords without Temporal. */
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
export function sweeps({ relay, dispatcher, starter, recovery }: Sweepers): PeriodicJob[] {
  return [
    // What leads to Temporal cannot be a part of it: the relay, and the recovery of what it has lost.
    job('sweep the outbox', 500, async () => relay.trigger()),
    // First attempts need no Temporal.
    job('find due deliveries', 1_000, async () => dispatcher.trigger()),
    job('start workflows of delivered events', 10_000, async () => starter.trigger()),
    job('recover lost workflows', 5_000, recovery.run),
  ];
}
