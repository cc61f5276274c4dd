import type { Actor } from '../../access/separation-of-duties.ts';
import { HOUR_MS } from '../../lib/dates.ts';
import { first, type Trx } from '../../lib/db.ts';
import { found, invalid, invalidState } from '../../lib/errors.ts';
import { tooBig } from '../../lib/issues.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { recordRefundTimeline } from '../../payments/timeline.ts';
import { isLeased } from '../../providers/lease.ts';
import { stateOf } from '../queries.ts';
import { isSlow, readPaid, requireUninvolved, requireUnusedReference, type Resolution } from '../resolution.ts';
import { isContradicted, lockRefund, updateRefund, type RefundRow } from './queries.ts';
import { transitionRefund } from './transition.ts';

/** Whether operators may resolve a refund: it was not sent, its provider leaves the outcome open, or contradicts its end. */
export function isResolvable(row: RefundRow, at: Date): boolean {
  return row.stage === 'CREATED' || row.stage === 'UNKNOWN' || isSlow(row, at) || isContradicted(row);
}

/**
 * Resolves a refund whose outcome its provider leaves open (UNKNOWN, or SUBMITTED for a day), or one that had failed and that
 * its provider reports as paid: COMPLETED takes its money from the balance again, FAILED leaves it as it is. One that was not
 * sent (CREATED), as without credentials, can only fail. An amount not paid is the merchant's again; an amount overpaid, which
 * only the provider's report can establish, is posted to suspense. A provider reference pays one refund or payout only, and no
 * money of one that was sent is returned within an hour. Idempotent. Throws NOT_FOUND, VALIDATION_ERROR, INVALID_STATE,
 * INSUFFICIENT_BALANCE.
 */
export async function resolveRefund(
  tx: UnitOfWork,
  refundId: string,
  { operatorId, notices = [], at, ...resolution }: Resolution & Actor & { at: Date },
): Promise<{ row: RefundRow; isNew: boolean }> {
  const { outcome, providerReference, reason } = resolution;
  const row = await lockRefund(tx.trx, refundId);
  const isPaid = outcome === 'COMPLETED';
  const paidSantim = readPaid(row, resolution);
  const isRepeat = isPaid
    ? row.status === 'SUCCESS' && row.providerReference === providerReference
    : row.status === 'FAILED' && !isContradicted(row) && (await wasResolved(tx.trx, row, resolution));
  if (isRepeat) return { row, isNew: false };
  ensureResolvable(row, outcome, at);
  if (isPaid) {
    await requireUnusedReference(tx.trx, { ...row, providerReference });
    await ensurePlausible(tx.trx, row, paidSantim);
  }
  await requireUninvolved(tx.trx, { operatorId, notices }, { row, what: 'refund', verb: 'resolve' });
  const failure = { code: 'REJECTED', message: reason, providerCode: '', retryable: false } as const;
  const paid = { providerReference, paidSantim: paidSantim === row.amountSantim ? null : paidSantim };
  const changes = isPaid ? paid : { failure, firstReportedPaidAt: null };
  const detail = { outcome, providerReference, reason, ...(isPaid && { paidSantim: Number(paidSantim) }) };
  const entry = { kind: 'refund.resolved', detail } as const;
  // It had ended as the operator has found: nothing is posted.
  if (!isPaid && row.status === 'FAILED') {
    const about = { amountSantim: Number(row.amountSantim), ...detail };
    await recordRefundTimeline(tx.trx, row, { ...entry, detail: about, at });
    const decided = { firstReportedPaidAt: null, version: row.version + 1 };
    return { row: await updateRefund(tx.trx, row, decided), isNew: true };
  }
  return {
    row: await transitionRefund(tx, row, { to: isPaid ? 'SUCCESS' : 'FAILED', changes, entry, at }),
    isNew: true,
  };
}

/**
 * At most what was requested or the provider has reported; one that is overpaid, with those that are paid already, at most what
 * was paid in.
 */
async function ensurePlausible(trx: Trx, row: RefundRow, paidSantim: Santim): Promise<void> {
  const { amountSantim } = row;
  if (paidSantim <= amountSantim) return;
  const limits = await first<{ reportedSantim: Santim; leftSantim: Santim }>(
    trx,
    `SELECT (SELECT coalesce(max(CAST(l.detail ->> 'reportedSantim' AS bigint)), 0) FROM timeline l
             WHERE l.resource_id = t.id AND l.kind = 'refund.responded'
               AND l.detail ->> 'refundId' = :id AND l.detail ->> 'currency' = :currency) AS reported_santim,
            coalesce(t.received_santim, t.amount_santim) - t.refunded_santim AS left_santim
     FROM transaction t WHERE t.id = :transactionId FOR UPDATE OF t`,
    row,
  );
  const { reportedSantim, leftSantim } = found(limits, 'transaction');
  const possible = reportedSantim < leftSantim ? reportedSantim : leftSantim;
  const atMost = possible > amountSantim ? possible : amountSantim;
  if (paidSantim <= atMost) return;
  const limit = 'the amount requested, or reported by the provider and not more than is left of the payment';
  throw invalid('paidAmount', tooBig(`must be at most ${formatBirr(atMost)} ETB, ${limit}`, atMost));
}

/** Whether the latest resolution of the refund is this one. */
async function wasResolved(trx: Trx, { id, transactionId }: RefundRow, resolution: Resolution): Promise<boolean> {
  const sql = `SELECT detail @> CAST(:resolution AS jsonb) AS is_same FROM timeline
    WHERE resource_id = :transactionId AND kind = 'refund.resolved' AND detail ->> 'refundId' = :id ORDER BY id DESC LIMIT 1`;
  const { outcome, providerReference, reason } = resolution;
  const values = { id, transactionId, resolution: JSON.stringify({ outcome, providerReference, reason }) };
  return (await first<{ isSame: boolean }>(trx, sql, values))?.isSame ?? false;
}

function ensureResolvable(row: RefundRow, outcome: Resolution['outcome'], at: Date): void {
  if (!isResolvable(row, at)) {
    const allowed = 'CREATED, UNKNOWN, SUBMITTED for a day, or FAILED and reported as paid';
    throw invalidState(`This refund is ${stateOf(row)}: it can be resolved only while ${allowed}.`);
  }
  if (row.stage === 'CREATED' && outcome === 'COMPLETED') {
    throw invalidState('This refund was not sent to its provider: it can be resolved as FAILED only.');
  }
  // The query under way may send it again.
  if (isLeased(row, at)) {
    throw invalidState('Its provider is being queried at this moment: try again in ten seconds.');
  }
  if (outcome !== 'FAILED' || row.status !== 'PENDING' || row.submittedAt === null) return;
  const from = new Date(row.submittedAt.getTime() + HOUR_MS);
  if (at < from) {
    throw invalidState(
      `The provider may still report another outcome: FAILED is accepted from ${from.toISOString()} on.`,
    );
  }
}
