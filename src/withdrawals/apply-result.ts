import type { Clock } from '../lib/clock.ts';
import { rows, type Queryable } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import type { PayoutOutcome } from '../providers/provider.ts';
import { contradictedStatus, openCase } from './conflicts.ts';
import { lockWithdrawal, type WithdrawalRow } from './queries.ts';
import { transitionWithdrawal, type Transition } from './transition.ts';

type ResultDeps = { db: Queryable; runInTransaction: RunInTransaction; clock: Clock; log: Pick<Logger, 'error'> };

/** A withdrawal that one check holds the lease of. */
export type LeasedWithdrawal = WithdrawalRow & { leaseUntil: Date };

/** The provider's report; `at`: the effective time. */
type ProviderReport = { outcome: PayoutOutcome; at: Date; notifyWorkflow: boolean };

/**
 * Applies a provider's report. One that contradicts an earlier report, or the amount, changes no status: a PENDING
 * withdrawal becomes UNKNOWN, an ended one keeps its status, and both wait for operators (resolve.ts).
 * @returns the row after the transition; null: no transition, or a concurrent one came first.
 */
export async function applyProviderResult(
  deps: ResultDeps,
  row: LeasedWithdrawal,
  report: ProviderReport,
): Promise<WithdrawalRow | null> {
  const updated = await transitionFor(deps, row, report);
  if (updated) return updated;
  const recording = recordingOf(row, report, deps.clock());
  if (!isDefinite(report.outcome)) await recordProviderResult(deps.db, recording);
  else await recordWithConflict(deps, row, { report, recording });
  return null;
}

async function transitionFor(
  { runInTransaction, clock }: ResultDeps,
  row: LeasedWithdrawal,
  { outcome, at, notifyWorkflow }: ProviderReport,
): Promise<WithdrawalRow | null> {
  const signal = notifyWorkflow ? ('providerResultRecorded' as const) : null;
  const base = { id: row.id, at, outcome: outcome.kind, checkedAt: clock(), signal };
  if (outcome.kind === 'succeeded' && row.status !== 'SUCCESS' && isExact(outcome, row)) {
    return runInTransaction((tx) => transitionWithdrawal(tx, { ...base, ...paid(outcome) }));
  }
  if (outcome.kind === 'declined' && row.status === 'PENDING') {
    return runInTransaction((tx) => transitionWithdrawal(tx, { ...base, ...failed(outcome) }));
  }
  if (outcome.kind === 'reversed' && ['PENDING', 'SUCCESS'].includes(row.status) && isExact(outcome, row)) {
    return runInTransaction(async (tx) => {
      // Paid and reversed between two queries: both transitions are posted and published.
      if (row.status === 'PENDING') await transitionWithdrawal(tx, { ...base, ...paid(outcome), signal: null });
      return transitionWithdrawal(tx, { ...base, ...reversed(outcome) });
    });
  }
  return null;
}

type MoneyReport = Extract<PayoutOutcome, { kind: 'succeeded' | 'reversed' }>;
type DeclinedReport = Extract<PayoutOutcome, { kind: 'declined' }>;

function isDefinite(outcome: PayoutOutcome): outcome is MoneyReport | DeclinedReport {
  return outcome.kind === 'succeeded' || outcome.kind === 'reversed' || outcome.kind === 'declined';
}

/** A reversal must be of the amount paid, which operators may have found to differ from the amount requested. */
function isExact({ kind, amountSantim, currency }: MoneyReport, row: WithdrawalRow): boolean {
  const expected = kind === 'reversed' ? (row.paidSantim ?? row.amountSantim) : row.amountSantim;
  return amountSantim === expected && currency === row.currency;
}

function paid({ providerReference, providerCode }: MoneyReport) {
  const transition = { to: 'SUCCESS', kind: 'payout.succeeded', event: 'withdrawal.succeeded' } as const;
  return {
    ...transition,
    detail: { providerReference },
    providerReference,
    providerCode,
  } satisfies Partial<Transition>;
}

function reversed({ providerReference, providerCode }: MoneyReport) {
  const transition = { to: 'REVERSED', kind: 'payout.reversed', event: 'withdrawal.reversed' } as const;
  return {
    ...transition,
    detail: { providerReference },
    providerReference,
    providerCode,
  } satisfies Partial<Transition>;
}

function failed({ failure }: DeclinedReport) {
  const { code, providerCode } = failure;
  const transition = { to: 'FAILED', kind: 'payout.failed', event: 'withdrawal.failed' } as const;
  const detail = { code, providerCode };
  return { ...transition, detail, failure, providerCode, unlessReportedPaid: true } satisfies Partial<Transition>;
}

const CONFLICT_LOG = {
  PENDING: 'provider contradicts itself or reports another amount: operators must resolve the withdrawal',
  FAILED: 'provider reports as paid a payout that it had declined: operators must resolve the withdrawal',
  SUCCESS: 'provider reports as unpaid, or as reversed with another amount, a payout that it had paid',
} as const;

/** Records a definite report that caused no transition, and opens a case where it contradicts the withdrawal. */
async function recordWithConflict(
  deps: ResultDeps,
  row: LeasedWithdrawal,
  { report, recording }: { report: ProviderReport; recording: Recording },
): Promise<void> {
  const { outcome, at } = report;
  const contradicted = await deps.runInTransaction(async ({ trx }) => {
    await recordProviderResult(trx, recording);
    const { status: current } = await lockWithdrawal(trx, row.id);
    const status = contradictedStatus(outcome, { ...row, status: current });
    const conflict = { evidence: evidenceOf(outcome), isNew: outcome.kind !== row.lastOutcome, at };
    if (status !== null) await openCase(trx, row.id, { ...conflict, status });
    return status;
  });
  if (contradicted === null) return;
  deps.log.error({ withdrawalId: row.id, outcome: outcome.kind }, CONFLICT_LOG[contradicted]);
}

type Recording = ReturnType<typeof recordingOf>;

function recordingOf(row: LeasedWithdrawal, { outcome, at }: ProviderReport, checkedAt: Date) {
  // A definite report that caused no transition leaves the outcome open: the provider is queried again.
  const isUncertain = outcome.kind === 'unknown' || isDefinite(outcome);
  return {
    id: row.id,
    leaseUntil: row.leaseUntil,
    kind: outcome.kind,
    stage: isUncertain ? 'UNKNOWN' : 'SUBMITTED',
    reportsPaid: outcome.kind === 'succeeded' || outcome.kind === 'reversed',
    checkedAt,
    at,
    providerReference: 'providerReference' in outcome ? outcome.providerReference : null,
    providerCode: 'providerCode' in outcome ? outcome.providerCode : null,
    detail: JSON.stringify(evidenceOf(outcome)),
    differs: outcome.kind !== row.lastOutcome,
  };
}

/**
 * Saves a report that causes no transition, and releases the lease. The timeline gets outcomes that differ from the last
 * one, and each amount that the provider has ever reported as paid: operators may confirm up to that (resolve.ts).
 */
async function recordProviderResult(db: Queryable, recording: Recording): Promise<void> {
  await rows(
    db,
    `WITH updated AS (
       UPDATE withdrawal SET last_outcome = :kind, last_checked_at = :checkedAt, lease_until = NULL,
         stage = CASE WHEN status <> 'PENDING' THEN stage WHEN first_reported_paid_at IS NOT NULL THEN 'UNKNOWN' ELSE :stage END,
         first_reported_paid_at = CASE WHEN CAST(:reportsPaid AS boolean) AND status <> 'SUCCESS'
                                       THEN coalesce(first_reported_paid_at, CAST(:at AS timestamptz))
                                       ELSE first_reported_paid_at END,
         -- A paid withdrawal keeps the reference that it was paid under.
         provider_reference = CASE status WHEN 'SUCCESS' THEN provider_reference
                                          ELSE coalesce(:providerReference, provider_reference) END,
         provider_code = CASE status WHEN 'SUCCESS' THEN provider_code ELSE coalesce(:providerCode, provider_code) END,
         version = version + CASE WHEN (status = 'PENDING' AND stage <> :stage AND first_reported_paid_at IS NULL)
           OR (status <> 'SUCCESS' AND provider_reference IS DISTINCT FROM coalesce(:providerReference, provider_reference))
           THEN 1 ELSE 0 END
       WHERE id = :id AND lease_until = :leaseUntil RETURNING id, status
     )
     ${TIMELINE_INSERT}
     SELECT id, CAST(:at AS timestamptz), 'provider.responded', CAST(:detail AS jsonb) FROM updated
     WHERE CAST(:differs AS boolean) OR (CAST(:reportsPaid AS boolean) AND status <> 'SUCCESS' AND NOT EXISTS (
       SELECT 1 FROM timeline l WHERE l.resource_id = :id AND l.detail = CAST(:detail AS jsonb)))`,
    recording,
  );
}

/** What the timeline and a case retain of a report: of money, also how much, which may not be the amount requested. */
function evidenceOf(outcome: PayoutOutcome): Record<string, unknown> {
  const { kind } = outcome;
  if (kind === 'declined') return { outcome: kind, providerCode: outcome.failure.providerCode };
  const code = 'providerCode' in outcome && outcome.providerCode !== null ? { providerCode: outcome.providerCode } : {};
  if (kind !== 'succeeded' && kind !== 'reversed') return { outcome: kind, ...code };
  const { amountSantim, currency, providerReference } = outcome;
  return { outcome: kind, ...code, amountSantim: Number(amountSantim), currency, providerReference };
}
