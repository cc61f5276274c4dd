import { requireAnotherMember } from '../../access/separation-of-duties.ts';
import { invalidState } from '../../lib/errors.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { recordRefundTimeline } from '../../payments/timeline.ts';
import { stateOf } from '../queries.ts';
import { confirmableUntil } from '../states.ts';
import { findRefund, lockRefund, updateRefund, type RefundRow } from './queries.ts';
import { transitionRefund } from './transition.ts';
import { refundMessage } from './workflow.ts';

/** A decision of a merchant's user. `notices`: sentences that are added to the message of the response. */
type Decision = { refundId: string; userId: string; at: Date; notices: string[] };

/**
 * The confirmation by a second person of the merchant: the refund is sent. Throws NOT_FOUND; INVALID_STATE unless it waits for
 * one, after 7 days, or, in live, if the person has requested it.
 */
export async function confirmRefund(
  tx: UnitOfWork,
  scope: MerchantScope,
  { refundId, userId, at, notices }: Decision,
): Promise<RefundRow> {
  const { trx } = tx;
  const before = await lockAwaiting(tx, scope, refundId);
  const until = confirmableUntil(before.requestedAt);
  if (at >= until) throw invalidState(`This refund could be confirmed until ${until.toISOString()}: it fails.`);
  await requireAnotherMember(trx, { userId, notices }, { ...before, what: 'refund' });
  const confirmed = { confirmedBy: userId, confirmedAt: at, stage: 'CREATED', version: before.version + 1 } as const;
  const row = await updateRefund(trx, before, confirmed);
  await recordRefundTimeline(trx, row, { at, kind: 'refund.confirmed' });
  await tx.enqueue([refundMessage(row.id, 'refundUpdated')]);
  return row;
}

/** The decision not to confirm it: it fails, and its money is available again. Throws NOT_FOUND, INVALID_STATE. */
export async function declineRefund(
  tx: UnitOfWork,
  scope: MerchantScope,
  { refundId, reason, at }: Pick<Decision, 'refundId' | 'at'> & { reason: string },
): Promise<RefundRow> {
  const row = await lockAwaiting(tx, scope, refundId);
  const failure = { code: 'REJECTED', message: reason, providerCode: '', retryable: false } as const;
  return transitionRefund(tx, row, { to: 'FAILED', changes: { failure }, at });
}

async function lockAwaiting(tx: UnitOfWork, scope: MerchantScope, refundId: string): Promise<RefundRow> {
  const { id } = await findRefund(tx.trx, scope, refundId);
  const row = await lockRefund(tx.trx, id);
  if (row.stage === 'AWAITING_CONFIRMATION') return row;
  throw invalidState(`This refund is ${stateOf(row)}: only one that waits for a second person can be decided here.`);
}
