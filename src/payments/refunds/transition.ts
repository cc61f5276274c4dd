import { post } from '../../ledger/post.ts';
import { latePayoutPosting, payoutPosting, releasePosting } from '../../ledger/postings.ts';
import { rows } from '../../lib/db.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { TimelineKind } from '../timeline.ts';
import { recordRefundEvent } from './events.ts';
import { toPayout, updateRefund, type RefundRow } from './queries.ts';
import { REFUND_TRANSITIONS } from './states.ts';
import { refundChanged } from './workflow.ts';

/** The end of a refund. `changes`: what its row stores besides the status. `entry`: in place of the timeline's usual one. */
export type Transition = {
  to: 'SUCCESS' | 'FAILED';
  changes: Partial<RefundRow>;
  entry?: { kind: TimelineKind; detail: Record<string, unknown> };
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
  const ended = { status: to, stage: 'COMPLETED', completedAt: at, leaseUntil: null } as const;
  const row = await updateRefund(tx.trx, before, { failure: null, ...changes, ...ended, version: before.version + 1 });
  const isPaid = to === 'SUCCESS';
  if (isPaid) {
    await rows(
      tx.trx,
      `UPDATE transaction SET refunded_santim = refunded_santim + :amountSantim, version = version + 1
       WHERE id = :transactionId`,
      { transactionId, amountSantim },
    );
  }
  const result = isPaid
    ? { providerReference: row.providerReference }
    : { code: row.failure?.code, providerCode: row.failure?.providerCode };
  const detail = { refundId: id, amountSantim: Number(amountSantim), ...(entry?.detail ?? result) };
  const kind: TimelineKind = entry?.kind ?? (isPaid ? 'refund.succeeded' : 'refund.failed');
  await recordTimeline(tx.trx, transactionId, { at, kind, detail });
  await recordRefundEvent(tx, { row, event: isPaid ? 'refund.succeeded' : 'refund.failed', at });
  if (notifyWorkflow && status === 'PENDING') await tx.enqueue([refundChanged(id)]);
  const posting = isPaid ? (status === 'FAILED' ? latePayoutPosting : payoutPosting) : releasePosting;
  const posted = await post(tx.trx, posting(toPayout(row)), at);
  if (posted !== 'posted') throw new Error(`refund ${id} is ${to} without its journal: ${posted}`);
  return row;
}
