import { totalDebit } from '../../ledger/postings.ts';
import { first, rows, type Trx } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import type { Santim } from '../../lib/money.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { addRefunded } from '../../payments/refunds-of-payments.ts';
import { recordRefundTimeline, type REFUND_TIMELINE } from '../../payments/timeline.ts';
import { referencesOf, type PayoutOutcome } from '../../providers/provider.ts';
import { changePayout, type PayoutChanges } from '../queries.ts';
import { isPaidReport, type End, type Entry, type PaidReport, type PayoutRules } from '../rules.ts';
import { recordRefundEvent } from './events.ts';
import { IS_COUNTED, paidOf, readPaidAt, toPayout, type RefundRow } from './queries.ts';
import { REFUND_TRANSITIONS } from './states.ts';
import { refundMessage } from './workflow.ts';

type TimelineKind = keyof typeof REFUND_TIMELINE;
type Fee = Pick<RefundRow, 'feeSantim' | 'feeTaxSantim'>;

/** What is only true of refunds. */
export const REFUND: PayoutRules<RefundRow> = {
  kind: 'refund',
  transitions: REFUND_TRANSITIONS,
  finalStatus: 'SUCCESS',

  account: 'payments',
  readSentAt: readPaidAt,
  isSendable,
  query: async (provider, { id: refundId, attemptId: paymentId }) => provider.queryRefund({ refundId, paymentId }),
  send: async (provider, row, notifyUrl) => {
    const { id: refundId, attemptId: paymentId, amountSantim, currency, reason } = row;
    return provider.refund({ refundId, paymentId, amountSantim, currency, notifyUrl, reason: reason ?? 'Refund' });
  },

  recordEntry: async (trx, row, { kind, detail, ...entry }) => {
    const amount = kind === 'refund.resolved' && { amountSantim: Number(row.amountSantim) };
    await recordRefundTimeline(trx, row, { ...entry, kind: kind as TimelineKind, detail: { ...amount, ...detail } });
  },
  entries: {
    submitted: 'refund.submitted',
    responded: 'refund.responded',
    resolved: 'refund.resolved',
    contradicted: null,
  } satisfies Record<string, TimelineKind | null>,
  entryOf,
  detailOf: (outcome: PayoutOutcome) => {
    const { providerCode } = referencesOf(outcome);
    const reported = isPaidReport(outcome) && amountOf(outcome);
    return { outcome: outcome.kind, ...(providerCode !== undefined && { providerCode }), ...reported };
  },
  reportedAs: ({ id: refundId, transactionId: resourceId }, outcome) => ({
    resourceId,
    detail: { refundId, ...amountOf(outcome) },
  }),

  recordEnd: async (tx, row, { to, at }) =>
    recordRefundEvent(tx, { row, event: to === 'SUCCESS' ? 'refund.succeeded' : 'refund.failed', at }),
  message: ({ id }) => refundMessage(id, 'refundUpdated'),
  toPosted: (row, before) => ({ ...toPayout(row), reservedSantim: totalDebit(before) }),
  feeOfPaid,
  afterPaid: async (trx, row) => addRefunded(trx, row.transactionId, paidOf(row)),

  confirm: async (tx: UnitOfWork, before: RefundRow, changes) => {
    const row = await changePayout(tx.trx, before, { ...changes, stage: 'CREATED' });
    await recordRefundTimeline(tx.trx, row, { at: changes.confirmedAt, kind: 'refund.confirmed' });
    return row;
  },
  declined: (reason) => ({
    to: 'FAILED',
    changes: { failure: { code: 'REJECTED', message: reason, providerCode: '', retryable: false } },
  }),
  unconfirmed: {
    to: 'FAILED',
    changes: {
      failure: {
        code: 'TIMED_OUT',
        message: 'No second person of the merchant confirmed it within 7 days.',
        providerCode: '',
        retryable: true,
      },
    },
    says: ': it will fail.',
  },

  contradicts: { succeeded: ['PENDING', 'FAILED'], declined: ['PENDING'] },
  resolution: {
    ofUnsent: true,
    // One that was never reported as paid has freed its part of the payment.
    corrects: ({ status, firstReportedPaidAt }) => status === 'FAILED' && firstReportedPaidAt !== null,
    allowed: 'CREATED, UNKNOWN, SUBMITTED for a day, or FAILED and reported as paid',
    operatorsNeeded: () => 1,
    readMostPaid,
  },
};

const amountOf = ({ amountSantim, currency }: PaidReport) => ({ reportedSantim: Number(amountSantim), currency });

function entryOf({ amountSantim, providerReference, failure }: RefundRow, to: End): Entry & { kind: TimelineKind } {
  const amount = { amountSantim: Number(amountSantim) };
  if (to === 'SUCCESS') return { kind: 'refund.succeeded', detail: { ...amount, providerReference } };
  return { kind: 'refund.failed', detail: { ...amount, code: failure?.code, providerCode: failure?.providerCode } };
}

/**
 * Whether its merchant is active, and the refunds of its payment are together not more than was paid: another one, which had
 * failed or was overpaid, may have paid this one's part.
 */
async function isSendable(trx: Trx, { merchantId, transactionId }: RefundRow): Promise<boolean> {
  const sql = `SELECT m.status = 'ACTIVE' AND coalesce(t.received_santim, t.amount_santim) >= (
      SELECT sum(coalesce(r.paid_santim, r.amount_santim)) FROM payout r WHERE r.transaction_id = t.id AND ${IS_COUNTED}) AS is_sendable
    FROM merchant m JOIN transaction t ON t.merchant_id = m.id WHERE m.id = :merchantId AND t.id = :transactionId`;
  return (await first<{ isSendable: boolean }>(trx, sql, { merchantId, transactionId }))?.isSendable ?? false;
}

/** Of an underpaid refund, the paid part of the fee that it gives back, rounded down: later refunds give back the rest. */
async function feeOfPaid(trx: Trx, before: RefundRow, { paidSantim = null }: PayoutChanges): Promise<Fee> {
  const { amountSantim } = before;
  const { feeSantim, feeTaxSantim } = before.status === 'FAILED' ? await feeLeft(trx, before) : before;
  if (paidSantim === null || paidSantim >= amountSantim) return { feeSantim, feeTaxSantim };
  const part = (santim: Santim): Santim => (santim * paidSantim) / amountSantim;
  return { feeSantim: part(feeSantim), feeTaxSantim: part(feeTaxSantim) };
}

/** What a refund that is paid after it had failed still gives back of the fee: others may have given back its part since. */
async function feeLeft(trx: Trx, row: RefundRow): Promise<Fee> {
  // No other refund of the payment is requested meanwhile.
  await rows(trx, 'SELECT FROM transaction WHERE id = :transactionId FOR UPDATE', row);
  const left = (column: string): string => `greatest(r.${column}, -coalesce(t.${column}, 0) - coalesce((
    SELECT sum(o.${column}) FROM payout o WHERE o.transaction_id = t.id AND o.status <> 'FAILED'), 0)::bigint) AS ${column}`;
  const sql = `SELECT ${left('fee_santim')}, ${left('fee_tax_santim')}
    FROM payout r JOIN transaction t ON t.id = r.transaction_id WHERE r.id = :id`;
  return found(await first<Fee>(trx, sql, row), 'refund');
}

/** What the provider has reported, and not more than others have left of what was paid in. */
async function readMostPaid(trx: Trx, row: RefundRow): Promise<{ santim: Santim; limit: string }> {
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
  const limit = 'the amount requested, or reported by the provider and not more than is left of the payment';
  return { santim: reportedSantim < leftSantim ? reportedSantim : leftSantim, limit };
}
