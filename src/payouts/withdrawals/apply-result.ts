import type { Clock } from '../../lib/clock.ts';
import { first } from '../../lib/db.ts';
import type { Logger } from '../../lib/log.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import { hasLease, type Leased } from '../../providers/lease.ts';
import { referencesOf, type PayoutOutcome } from '../../providers/provider.ts';
import { findPaidUnder } from '../resolution.ts';
import { listCases, lockWithdrawal, updateWithdrawal, writeCase, type WithdrawalRow } from './queries.ts';
import { transitionWithdrawal, type Transition } from './transition.ts';

/** The provider's report; `at`: the effective time. */
type Report = { outcome: PayoutOutcome; at: Date };

/**
 * Applies a provider's report, and releases the lease. A report that contradicts an earlier one, or the amount, or whose
 * reference has paid another order, changes no status: a PENDING withdrawal becomes UNKNOWN, an ended one keeps its status,
 * and both wait for operators (resolve.ts).
 * @returns the row afterwards.
 */
export async function applyProviderResult(
  deps: { runInTransaction: RunInTransaction; clock: Clock; log: Pick<Logger, 'error'> },
  leased: WithdrawalRow & Leased,
  { outcome, at, notifyWorkflow }: Report & { notifyWorkflow: boolean },
): Promise<WithdrawalRow> {
  const { id } = leased;
  const checked = { lastOutcome: outcome.kind, lastCheckedAt: deps.clock() };
  const { row, contradicted, other } = await deps.runInTransaction(async (tx) => {
    const before = await lockWithdrawal(tx.trx, id);
    // A check that took the lease after it had expired has the newer report, and may have sent again what was declined.
    const isNewest = hasLease(before, leased);
    if (!isNewest && outcome.kind === 'declined' && before.status === 'PENDING')
      return { row: before, contradicted: null, other: null };
    // The first outcome: only now it is known that it was sent.
    if (before.lastOutcome === null) {
      await recordTimeline(tx.trx, id, { at: before.submittedAt ?? at, kind: 'payout.submitted' });
    }
    let row = before;
    const other =
      before.status === 'PENDING' && isPaidReport(outcome)
        ? await findPaidUnder(tx.trx, { ...before, providerReference: outcome.providerReference })
        : null;
    for (const transition of other ? [] : transitionsOf(before, outcome)) {
      const changes = { ...checked, ...referencesOf(outcome), ...transition.changes };
      row = await transitionWithdrawal(tx, row, { ...transition, changes, at, notifyWorkflow });
    }
    if (row !== before) return { row, contradicted: null, other };
    if (isNewest) row = await recordReport(tx, before, { outcome, at, checked, isOther: other !== null });
    const isConflict = CONTRADICTED[outcome.kind]?.includes(before.status) ?? false;
    if (isConflict) await openCase(tx, before, { outcome, at });
    return { row, contradicted: isConflict ? before.status : null, other };
  });
  if (contradicted) {
    deps.log.error({ withdrawalId: id, outcome: outcome.kind, paidBefore: other }, CONFLICT_LOG[contradicted]);
  }
  return row;
}

/** The transitions that a report causes. Paid and reversed between two queries: both are posted and published. */
function transitionsOf(row: WithdrawalRow, outcome: PayoutOutcome): Omit<Transition, 'at'>[] {
  const isPending = row.status === 'PENDING';
  if (outcome.kind === 'declined') {
    // Once the provider has reported the payout as paid, in whatever amount, a decline releases nothing.
    if (!isPending || row.firstReportedPaidAt !== null) return [];
    const { code, providerCode } = outcome.failure;
    const detail = { code, providerCode };
    return [{ to: 'FAILED', kind: 'payout.failed', detail, changes: { failure: outcome.failure } }];
  }
  if (!isPaidReport(outcome) || outcome.currency !== row.currency) return [];
  const detail = { providerReference: outcome.providerReference };
  const paid = { to: 'SUCCESS', kind: 'payout.succeeded', detail } as const;
  const reversed = { to: 'REVERSED', kind: 'payout.reversed', detail } as const;
  if (isPending && outcome.amountSantim === row.amountSantim) {
    return outcome.kind === 'reversed' ? [paid, reversed] : [paid];
  }
  // A reversal must be of the amount paid, which operators may have found to differ from the amount requested.
  const isWhole = outcome.amountSantim === (row.paidSantim ?? row.amountSantim);
  return outcome.kind === 'reversed' && row.status === 'SUCCESS' && isWhole ? [reversed] : [];
}

type PaidReport = Extract<PayoutOutcome, { kind: 'succeeded' | 'reversed' }>;

function isPaidReport(outcome: PayoutOutcome): outcome is PaidReport {
  return outcome.kind === 'succeeded' || outcome.kind === 'reversed';
}

/** The statuses that a definite report contradicts where it causes no transition. */
const CONTRADICTED: Partial<Record<PayoutOutcome['kind'], readonly WithdrawalRow['status'][]>> = {
  succeeded: ['PENDING', 'FAILED'],
  declined: ['PENDING', 'SUCCESS'],
  reversed: ['PENDING', 'SUCCESS'],
};

const CONFLICT_LOG: Partial<Record<WithdrawalRow['status'], string>> = {
  PENDING:
    'provider contradicts itself, or reports another amount or a used reference: operators must resolve the withdrawal',
  FAILED: 'provider reports as paid a payout that it had declined: operators must resolve the withdrawal',
  SUCCESS: 'provider reports as unpaid, or as reversed with another amount, a payout that it had paid',
};

/**
 * Saves a report that causes no transition. The timeline gets outcomes that differ from the last one, and each amount that
 * the provider has ever reported as paid: operators may confirm up to that (resolve.ts).
 */
async function recordReport(
  tx: UnitOfWork,
  row: WithdrawalRow,
  { outcome, at, checked, isOther }: Report & { checked: Partial<WithdrawalRow>; isOther: boolean },
): Promise<WithdrawalRow> {
  const isNewlyPaid = isPaidReport(outcome) && row.status !== 'SUCCESS';
  const firstReportedPaidAt = row.firstReportedPaidAt ?? (isNewlyPaid ? at : null);
  const isOpen = ['accepted', 'pending', 'not-found'].includes(outcome.kind) && firstReportedPaidAt === null;
  const next = isOpen ? 'SUBMITTED' : 'UNKNOWN';
  const stage = row.status === 'PENDING' ? next : row.stage;
  // A paid withdrawal keeps the reference that it was paid under, and none gets that of another one.
  const references = row.status === 'SUCCESS' || isOther ? {} : referencesOf(outcome);
  const { providerReference = row.providerReference } = references;
  const isChanged = stage !== row.stage || providerReference !== row.providerReference;
  const version = row.version + (isChanged ? 1 : 0);
  const detail = evidenceOf(outcome);
  const isKnown = isNewlyPaid ? await first(tx.trx, IN_TIMELINE, { id: row.id, detail: JSON.stringify(detail) }) : true;
  if (outcome.kind !== row.lastOutcome || !isKnown) {
    await recordTimeline(tx.trx, row.id, { at, kind: 'provider.responded', detail });
  }
  return updateWithdrawal(tx.trx, row, {
    ...checked,
    ...references,
    stage,
    firstReportedPaidAt,
    version,
    leaseUntil: null,
  });
}

const IN_TIMELINE = 'SELECT FROM timeline WHERE resource_id = :id AND detail = CAST(:detail AS jsonb) LIMIT 1';

/** Opens a case, or replaces the evidence of the open one. Merchants see in the timeline that an end is contradicted. */
async function openCase(tx: UnitOfWork, row: WithdrawalRow, { outcome, at }: Report): Promise<void> {
  const isPending = row.status === 'PENDING';
  const cases = await listCases(tx.trx, row.id);
  // A repeat does not open a decided case again.
  const isKnown = cases.some((one) => one.evidence !== null && (one.status === 'PENDING') === isPending);
  if (isKnown && outcome.kind === row.lastOutcome) return;
  const evidence = evidenceOf(outcome);
  await writeCase(tx, { row, cases, at }, { status: row.status, evidence, openedAt: at });
  if (!isPending) await recordTimeline(tx.trx, row.id, { at, kind: 'provider.conflict', detail: evidence });
}

/** What the timeline and a case retain of a report: of money, also how much, which may not be the amount requested. */
function evidenceOf(outcome: PayoutOutcome): Record<string, unknown> {
  const { providerCode, providerReference } = referencesOf(outcome);
  const evidence = { outcome: outcome.kind, ...(providerCode !== undefined && { providerCode }) };
  if (!isPaidReport(outcome)) return evidence;
  return { ...evidence, amountSantim: Number(outcome.amountSantim), currency: outcome.currency, providerReference };
}
