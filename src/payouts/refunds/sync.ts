import { first, type Trx } from '../../lib/db.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { CheckDeps } from '../../providers/lease.ts';
import { createCheck, type Check, type Outgoing } from '../check.ts';
import { confirmableUntil } from '../states.ts';
import { applyRefundResult } from './apply-result.ts';
import { IS_COUNTED, lockRefund, readPaidAt, updateRefund, type RefundRow } from './queries.ts';
import { transitionRefund } from './transition.ts';

export type CheckRefund = Check<RefundRow>;

export const REFUNDS: Omit<Outgoing<RefundRow>, 'apply'> = {
  kind: 'refund',
  finalStatus: 'SUCCESS',
  account: 'payments',
  lock: lockRefund,
  update: updateRefund,
  endUnconfirmed,
  isSendable,
  readSentAt: readPaidAt,
  query: (provider, { id: refundId, attemptId: paymentId }) => provider.queryRefund({ refundId, paymentId }),
  send: (provider, row, notifyUrl) => {
    const { id: refundId, attemptId: paymentId, amountSantim, currency, reason } = row;
    return provider.refund({ refundId, paymentId, amountSantim, currency, notifyUrl, reason: reason ?? 'Refund' });
  },
};

/** Sends a refund and queries its outcome, as {@link createCheck} does, or ends it where nobody has confirmed it in time. */
export function createCheckRefund(deps: CheckDeps): CheckRefund {
  return createCheck(deps, { ...REFUNDS, apply: async (leased, report) => applyRefundResult(deps, leased, report) });
}

/**
 * Whether its merchant is active, and the refunds of its payment are together not more than was paid: another one, which had
 * failed or was overpaid, may have paid this one's part (resolve.ts).
 */
async function isSendable(trx: Trx, { merchantId, transactionId }: RefundRow): Promise<boolean> {
  const sql = `SELECT m.status = 'ACTIVE' AND coalesce(t.received_santim, t.amount_santim) >= (
      SELECT sum(coalesce(r.paid_santim, r.amount_santim)) FROM payout r WHERE r.transaction_id = t.id AND ${IS_COUNTED}) AS is_sendable
    FROM merchant m JOIN transaction t ON t.merchant_id = m.id WHERE m.id = :merchantId AND t.id = :transactionId`;
  return (await first<{ isSendable: boolean }>(trx, sql, { merchantId, transactionId }))?.isSendable ?? false;
}

async function endUnconfirmed(tx: UnitOfWork, row: RefundRow, end: { at: Date; notifyWorkflow: boolean }) {
  if (end.at < confirmableUntil(row.requestedAt)) return row;
  const message = 'No second person of the merchant confirmed it within 7 days.';
  const failure = { code: 'TIMED_OUT', message, providerCode: '', retryable: true } as const;
  return transitionRefund(tx, row, { ...end, to: 'FAILED', changes: { failure } });
}
