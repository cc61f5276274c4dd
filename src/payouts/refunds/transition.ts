import { post } from '../../ledger/post.ts';
import { latePayoutPosting, payoutPosting, releasePosting, totalDebit } from '../../ledger/postings.ts';
import { first, rows, type Trx } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import type { Santim } from '../../lib/money.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { addRefunded } from '../../payments/refunds-of-payments.ts';
import { recordRefundTimeline, type REFUND_TIMELINE } from '../../payments/timeline.ts';
import { recordRefundEvent } from './events.ts';
import { paidOf, toPayout, updateRefund, type RefundRow } from './queries.ts';
import { REFUND_TRANSITIONS } from './states.ts';
import { refundMessage } from './workflow.ts';

/** The end of a refund. `changes`: what its row stores besides the status. `entry`: in place of the timeline's usual one. */
export type Transition = {
  to: 'SUCCESS' | 'FAILED';
  changes: Partial<RefundRow>;
  entry?: { kind: keyof typeof REFUND_TIMELINE; detail: Record<string, unknown> };
  at: Date;
  /** false: the workflow itself makes the transition. */
  notifyWorkflow?: boolean | undefined;
};

/**
 * Ends a locked refund in the caller's transaction: its row, what its transaction has refunded, the transaction's timeline,
 * its event, the signal to its workflow, and its journal.
 */
export async function transitionRefund(
  tx: UnitOfWork,
  before: RefundRow,
  { to, changes, entry, at, notifyWorkflow = true }: Transition,
): Promise<RefundRow> {
  const { id, status, transactionId, amountSantim } = before;
  if (!REFUND_TRANSITIONS[status].includes(to)) throw new Error(`refund ${id} is ${status}, not to be ${to}`);
  const isPaid = to === 'SUCCESS';
  const isLate = status === 'FAILED';
  const ended = { status: to, stage: 'COMPLETED', completedAt: at, leaseUntil: null } as const;
  const fee = isPaid ? feeOfPaid({ ...before, ...changes, ...(isLate && (await feeLeft(tx.trx, before))) }) : {};
  const version = before.version + 1;
  const row = await updateRefund(tx.trx, before, { failure: null, ...changes, ...ended, ...fee, version });
  if (isPaid) await addRefunded(tx.trx, transactionId, paidOf(row));
  const result = isPaid
    ? { providerReference: row.providerReference }
    : { code: row.failure?.code, providerCode: row.failure?.providerCode };
  const detail = { amountSantim: Number(amountSantim), ...(entry?.detail ?? result) };
  const event = isPaid ? 'refund.succeeded' : 'refund.failed';
  await recordRefundTimeline(tx.trx, row, { at, kind: entry?.kind ?? event, detail });
  await recordRefundEvent(tx, { row, event, at });
  if (notifyWorkflow && status === 'PENDING') await tx.enqueue([refundMessage(id, 'refundUpdated')]);
  const posting = isPaid ? (isLate ? latePayoutPosting : payoutPosting) : releasePosting;
  const posted = await post(tx.trx, posting({ ...toPayout(row), reservedSantim: totalDebit(before) }), at);
  if (posted !== 'posted') throw new Error(`refund ${id} is ${to} without its journal: ${posted}`);
  return row;
}

/** Of an underpaid refund, the paid part of the fee that it gives back, rounded down: later refunds give back the rest. */
function feeOfPaid(row: RefundRow): Pick<RefundRow, 'feeSantim' | 'feeTaxSantim'> {
  const { feeSantim, feeTaxSantim, amountSantim } = row;
  const paidSantim = paidOf(row);
  if (paidSantim >= amountSantim) return { feeSantim, feeTaxSantim };
  const part = (santim: Santim): Santim => (santim * paidSantim) / amountSantim;
  return { feeSantim: part(feeSantim), feeTaxSantim: part(feeTaxSantim) };
}

/** What a refund that is paid after it had failed still gives back of the fee: others may have given back its part since. */
async function feeLeft(trx: Trx, row: RefundRow): Promise<Pick<RefundRow, 'feeSantim' | 'feeTaxSantim'>> {
  // No other refund of the payment is requested meanwhile.
  await rows(trx, 'SELECT FROM transaction WHERE id = :transactionId FOR UPDATE', row);
  const left = (column: string): string => `greatest(r.${column}, -coalesce(t.${column}, 0) - coalesce((
    SELECT sum(o.${column}) FROM payout o WHERE o.transaction_id = t.id AND o.status <> 'FAILED'), 0)::bigint) AS ${column}`;
  const sql = `SELECT ${left('fee_santim')}, ${left('fee_tax_santim')}
    FROM payout r JOIN transaction t ON t.id = r.transaction_id WHERE r.id = :id`;
  return found(await first<Pick<RefundRow, 'feeSantim' | 'feeTaxSantim'>>(trx, sql, row), 'refund');
}
