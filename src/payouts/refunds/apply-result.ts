import type { Clock } from '../../lib/clock.ts';
import { first, type Trx } from '../../lib/db.ts';
import type { Logger } from '../../lib/log.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import { recordRefundTimeline } from '../../payments/timeline.ts';
import { hasLease, type Leased } from '../../providers/lease.ts';
import { referencesOf, type PayoutOutcome } from '../../providers/provider.ts';
import { findPaidUnder } from '../resolution.ts';
import { lockRefund, updateRefund, type RefundRow } from './queries.ts';
import { transitionRefund, type Transition } from './transition.ts';

type Report = { outcome: PayoutOutcome; at: Date; notifyWorkflow: boolean };

/**
 * Applies a provider's report, and releases the lease. A report that contradicts an earlier one, or the amount, or whose
 * reference has paid another order, changes no status: a PENDING refund becomes UNKNOWN, a FAILED one stays so, and both wait
 * for operators (resolve.ts). Of a check that has lost its lease to another one only reports of a payment count: what it was
 * declined, the other one may have sent again.
 * @returns the row afterwards.
 */
export async function applyRefundResult(
  deps: { runInTransaction: RunInTransaction; clock: Clock; log: Pick<Logger, 'error'> },
  leased: RefundRow & Leased,
  report: Report,
): Promise<RefundRow> {
  const { outcome, at } = report;
  const { id } = leased;
  return deps.runInTransaction(async (tx) => {
    const before = await lockRefund(tx.trx, id);
    const isNewest = hasLease(before, leased);
    if (!isNewest && !isPaidReport(outcome)) return before;
    // The first outcome: only now it is known that it was sent.
    if (before.lastOutcome === null) {
      await recordRefundTimeline(tx.trx, before, { kind: 'refund.submitted', at: before.submittedAt ?? at });
    }
    const other =
      before.status !== 'SUCCESS' && isPaidReport(outcome)
        ? await findPaidUnder(tx.trx, { ...before, providerReference: outcome.providerReference })
        : null;
    const references = other ? {} : referencesOf(outcome);
    const checked = { lastOutcome: outcome.kind, lastCheckedAt: deps.clock(), ...references };
    const end = other ? null : endOf(before, outcome);
    if (end) return transitionRefund(tx, before, { ...report, ...end, changes: { ...checked, ...end.changes } });
    const isContradiction = isPaidReport(outcome) && before.firstReportedPaidAt === null && before.status !== 'SUCCESS';
    if (!isNewest && !isContradiction) return before;
    if (isContradiction) {
      const { status } = before;
      deps.log.error({ refundId: id, outcome: outcome.kind, status, paidBefore: other }, CONTRADICTED);
    }
    const firstReportedPaidAt = isContradiction ? at : before.firstReportedPaidAt;
    // The lease of another check stays its own.
    const leftUntil = isNewest ? null : before.leaseUntil;
    return recordReport(tx, before, { ...report, changes: { ...checked, firstReportedPaidAt, leaseUntil: leftUntil } });
  });
}

const CONTRADICTED =
  'provider reports a refund of another amount, under a used reference, or that it had declined: operators must resolve it';

/** The end that a report causes; null: none. */
function endOf(row: RefundRow, outcome: PayoutOutcome): Pick<Transition, 'to' | 'changes'> | null {
  // Once the provider has reported the refund as paid, in whatever amount, a decline releases nothing.
  if (row.status !== 'PENDING') return null;
  if (outcome.kind === 'declined') {
    return row.firstReportedPaidAt === null ? { to: 'FAILED', changes: { failure: outcome.failure } } : null;
  }
  const isPaid =
    isPaidReport(outcome) && outcome.currency === row.currency && outcome.amountSantim === row.amountSantim;
  return isPaid ? { to: 'SUCCESS', changes: {} } : null;
}

const isPaidReport = (outcome: PayoutOutcome): outcome is PaidReport => outcome.kind === 'succeeded';

/**
 * Saves a report that ends nothing. The timeline gets outcomes that differ from the last one, and each amount that the
 * provider has ever reported as paid: operators may confirm up to that (resolve.ts).
 */
async function recordReport(
  tx: UnitOfWork,
  row: RefundRow,
  { outcome, at, changes }: Report & { changes: Partial<RefundRow> & Pick<RefundRow, 'firstReportedPaidAt'> },
): Promise<RefundRow> {
  const isOpen = ['accepted', 'pending', 'not-found'].includes(outcome.kind) && changes.firstReportedPaidAt === null;
  const stage = row.status === 'PENDING' ? (isOpen ? 'SUBMITTED' : 'UNKNOWN') : row.stage;
  const isNewlyPaid = isPaidReport(outcome) && !(await isReported(tx.trx, row, outcome));
  if (outcome.kind !== row.lastOutcome || isNewlyPaid) {
    const { providerCode } = referencesOf(outcome);
    const reported = isPaidReport(outcome) && amountOf(outcome);
    const detail = { outcome: outcome.kind, ...(providerCode !== undefined && { providerCode }), ...reported };
    await recordRefundTimeline(tx.trx, row, { kind: 'refund.responded', at, detail });
  }
  const version = row.version + (stage === row.stage ? 0 : 1);
  return updateRefund(tx.trx, row, { ...changes, stage, version });
}

type PaidReport = Extract<PayoutOutcome, { kind: 'succeeded' }>;

const amountOf = ({ amountSantim, currency }: PaidReport) => ({ reportedSantim: Number(amountSantim), currency });

/** Whether the timeline has this amount of a refund as reported. */
async function isReported(trx: Trx, { id, transactionId }: RefundRow, report: PaidReport): Promise<boolean> {
  const sql = `SELECT FROM timeline WHERE resource_id = :transactionId AND kind = 'refund.responded'
    AND detail @> CAST(:detail AS jsonb) LIMIT 1`;
  const detail = JSON.stringify({ refundId: id, ...amountOf(report) });
  return (await first(trx, sql, { transactionId, detail })) !== undefined;
}
