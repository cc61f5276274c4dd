import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import { hasLease, type Leased } from '../../providers/lease.ts';
import { referencesOf, type RefundOutcome } from '../../providers/provider.ts';
import type { TimelineKind } from '../timeline.ts';
import { lockRefund, updateRefund, type RefundRow } from './queries.ts';
import { transitionRefund, type Transition } from './transition.ts';

/** A refund that one check holds the lease of. */
export type LeasedRefund = RefundRow & Leased;

type Report = { outcome: RefundOutcome; at: Date; notifyWorkflow: boolean };

/**
 * Applies a provider's report, and releases the lease. A report that contradicts an earlier one, or the amount, changes no
 * status: a PENDING refund becomes UNKNOWN, a FAILED one stays so, and both wait for operators (resolve.ts). Of a check that
 * has lost its lease to another one only reports of a payment count: what it was declined, the other one may have sent again.
 * @returns the row afterwards.
 */
export async function applyRefundResult(
  deps: { runInTransaction: RunInTransaction; clock: Clock; log: Pick<Logger, 'error'> },
  leased: LeasedRefund,
  report: Report,
): Promise<RefundRow> {
  const { outcome, at } = report;
  const { id } = leased;
  const checked = { lastOutcome: outcome.kind, lastCheckedAt: deps.clock(), ...referencesOf(outcome) };
  return deps.runInTransaction(async (tx) => {
    const before = await lockRefund(tx.trx, id);
    const isNewest = hasLease(before, leased);
    if (!isNewest && !isPaidReport(outcome)) return before;
    // The first outcome: only now it is known that it was sent.
    if (before.lastOutcome === null)
      await record(tx, before, { kind: 'refund.submitted', at: before.submittedAt ?? at });
    const end = endOf(before, outcome);
    if (end) return transitionRefund(tx, before, { ...report, ...end, changes: { ...checked, ...end.changes } });
    const isContradiction = isPaidReport(outcome) && before.firstReportedPaidAt === null && before.status !== 'SUCCESS';
    if (!isNewest && !isContradiction) return before;
    if (isContradiction) {
      deps.log.error({ refundId: id, outcome: outcome.kind, status: before.status }, CONTRADICTED);
    }
    const firstReportedPaidAt = isContradiction ? at : before.firstReportedPaidAt;
    // The lease of another check stays its own.
    const leftUntil = isNewest ? null : before.leaseUntil;
    return recordReport(tx, before, { ...report, changes: { ...checked, firstReportedPaidAt, leaseUntil: leftUntil } });
  });
}

const CONTRADICTED =
  'provider reports a refund of another amount, or one that it had declined: operators must resolve it';

/** The end that a report causes; null: none. */
function endOf(row: RefundRow, outcome: RefundOutcome): Pick<Transition, 'to' | 'changes'> | null {
  // Once the provider has reported the refund as paid, in whatever amount, a decline releases nothing.
  if (row.status !== 'PENDING') return null;
  if (outcome.kind === 'declined') {
    return row.firstReportedPaidAt === null ? { to: 'FAILED', changes: { failure: outcome.failure } } : null;
  }
  const isPaid =
    isPaidReport(outcome) && outcome.currency === row.currency && outcome.amountSantim === row.amountSantim;
  return isPaid ? { to: 'SUCCESS', changes: {} } : null;
}

const isPaidReport = (outcome: RefundOutcome): outcome is Extract<RefundOutcome, { kind: 'succeeded' }> =>
  outcome.kind === 'succeeded';

/** Saves a report that ends nothing. The timeline gets outcomes that differ from the last one. */
async function recordReport(
  tx: UnitOfWork,
  row: RefundRow,
  { outcome, at, changes }: Report & { changes: Partial<RefundRow> & Pick<RefundRow, 'firstReportedPaidAt'> },
): Promise<RefundRow> {
  const isOpen = ['accepted', 'pending', 'not-found'].includes(outcome.kind) && changes.firstReportedPaidAt === null;
  const stage = row.status === 'PENDING' ? (isOpen ? 'SUBMITTED' : 'UNKNOWN') : row.stage;
  if (outcome.kind !== row.lastOutcome) {
    const { providerCode } = referencesOf(outcome);
    const reported = isPaidReport(outcome) && {
      reportedSantim: Number(outcome.amountSantim),
      currency: outcome.currency,
    };
    const detail = { outcome: outcome.kind, ...(providerCode !== undefined && { providerCode }), ...reported };
    await record(tx, row, { kind: 'refund.responded', at, detail });
  }
  const version = row.version + (stage === row.stage ? 0 : 1);
  return updateRefund(tx.trx, row, { ...changes, stage, version });
}

async function record(
  { trx }: UnitOfWork,
  { id, transactionId }: RefundRow,
  { detail, ...entry }: { kind: TimelineKind; at: Date; detail?: Record<string, unknown> },
): Promise<void> {
  await recordTimeline(trx, transactionId, { ...entry, detail: { refundId: id, ...detail } });
}
