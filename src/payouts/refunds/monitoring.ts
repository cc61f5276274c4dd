import type { Registry } from '../../http/metrics.ts';
import { payoutChecks, type LedgerInvariant } from '../../ledger/verify.ts';
import type { Database } from '../../lib/db.ts';
import type { WorkItemSource } from '../../outbox/work-items.ts';
import { isContradictedSql } from '../cases.ts';
import { measureOutgoing } from '../monitoring.ts';
import { REFUND_STAGES } from './states.ts';

const before = (interval: string): string => `CAST(:at AS timestamptz) - interval '${interval}'`;
const SENT = 'coalesce(r.submitted_at, r.confirmed_at, r.requested_at)';

const items = (kind: string, since: string, what: string): string => `
  SELECT ${kind} AS kind, r.id, r.merchant_id, r.environment, r.amount_santim, ${since} AS since, ${what} AS what,
         jsonb_build_object('channel', r.channel, 'reference', r.reference, 'requestedBy', r.requested_by,
           'transactionId', r.transaction_id, 'stage', r.stage, 'lastOutcome', r.last_outcome,
           'lastCheckedAt', r.last_checked_at, 'providerReference', r.provider_reference) AS detail,
         'refund-' || r.id AS workflow_id
  FROM payout r`;

export const REFUND_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['REFUND_UNKNOWN', 'REFUND_CONFLICT'],
  sql: `${items(
    `'REFUND_UNKNOWN'`,
    SENT,
    `CASE WHEN r.first_reported_paid_at IS NULL THEN 'The provider has not reported an outcome for over an hour'
          WHEN r.last_outcome = 'declined' THEN 'The provider reported a refund and then that it did not pay'
          WHEN r.amount_santim || r.currency = (SELECT l.detail ->> 'reportedSantim' || (l.detail ->> 'currency') FROM timeline l
            WHERE l.resource_id = r.transaction_id AND l.kind = 'refund.responded' AND l.detail ->> 'refundId' = r.id
              AND l.detail ->> 'reportedSantim' IS NOT NULL ORDER BY l.id DESC LIMIT 1)
            THEN 'The provider reports a refund under a reference that has paid another order'
          ELSE 'The provider reports a refund of another amount' END`,
  )}
    WHERE r.kind = 'refund' AND r.status = 'PENDING' AND r.stage = 'UNKNOWN' AND (r.first_reported_paid_at IS NOT NULL OR ${SENT} < ${before('1 hour')})
    UNION ALL ${items(
      `'REFUND_CONFLICT'`,
      'c.opened_at',
      `'Released after the provider declined, and now the provider reports the refund as paid'`,
    )} JOIN payout_case c ON c.payout_id = r.id WHERE r.kind = 'refund' AND ${isContradictedSql('r')}`,
};

/** Refunds that are late: not sent after 5 minutes, or accepted and not paid after an hour. */
export const STALLED_REFUNDS: WorkItemSource = {
  kinds: ['REFUND_PENDING'],
  sql: `${items(
    `'REFUND_PENDING'`,
    SENT,
    `CASE WHEN r.stage = 'AWAITING_CONFIRMATION' THEN 'Not confirmed in time, and not ended yet'
          WHEN r.stage = 'CREATED' THEN 'Not sent yet: operators may resolve it as failed'
          WHEN r.submitted_at < ${before('1 day')} THEN 'Sent over a day ago, and not paid yet: operators may resolve it'
          ELSE 'Sent, and not paid yet' END`,
  )}
    WHERE r.kind = 'refund' AND r.status = 'PENDING' AND ((r.stage = 'AWAITING_CONFIRMATION' AND r.requested_at < ${before('7 days 2 hours')})
      OR (r.stage = 'CREATED' AND ${SENT} < ${before('5 minutes')})
      OR (r.stage IN ('SUBMITTED', 'UNKNOWN') AND r.submitted_at < ${before('1 hour')}))`,
};

/** Pending refunds, the age of the oldest, and those in conflict. Counted when the metrics are read. */
export function measureRefunds(registry: Registry, db: Database): void {
  measureOutgoing(registry, db, {
    kind: 'refund',
    stages: REFUND_STAGES,
    conflicts: {
      name: 'meskot_refunds_in_conflict',
      help: 'Failed refunds that their provider reports as paid: they wait for an operator',
    },
  });
}

export const REFUND_CHECKS: readonly LedgerInvariant[] = [
  ...payoutChecks({
    table: 'payout',
    type: 'refund',
    isOpen: `p.status = 'PENDING'`,
    isPaid: `p.status = 'SUCCESS'`,
    isReversed: 'false',
    paid: 'coalesce(p.paid_santim, p.amount_santim)',
    // Underpaid, or paid after it had failed, when others may have given the fee back.
    mayReturnLessFee: `(coalesce(p.paid_santim, p.amount_santim) < p.amount_santim OR EXISTS (
      SELECT FROM ledger_journal l WHERE l.posting_key = 'late-payout:' || p.id))`,
    account: 'CHANNEL_CLEARING',
    channel: 'p.channel',
  }),
  {
    description:
      'a transaction has refunded what its refunds have paid back; none of them, nor all that the provider does not contradict, is more than was paid, and all return at most its fee',
    sql: `SELECT NULL AS journal, 'transaction ' || t.id || ': ' || t.refunded_santim || ' santim refunded' AS about
          FROM transaction t LEFT JOIN (
            SELECT transaction_id, sum(coalesce(paid_santim, amount_santim)) FILTER (WHERE status = 'SUCCESS') AS paid,
                   sum(coalesce(paid_santim, amount_santim)) FILTER (WHERE status <> 'FAILED' AND first_reported_paid_at IS NULL) AS agreed,
                   max(coalesce(paid_santim, amount_santim)) FILTER (WHERE status <> 'FAILED') AS largest,
                   sum(fee_santim) FILTER (WHERE status <> 'FAILED') AS fee, sum(fee_tax_santim) FILTER (WHERE status <> 'FAILED') AS tax
            FROM payout WHERE kind = 'refund' GROUP BY transaction_id
          ) r ON r.transaction_id = t.id
          WHERE t.refunded_santim <> coalesce(r.paid, 0)
             OR greatest(r.agreed, r.largest) > coalesce(t.received_santim, t.amount_santim)
             OR -r.fee > coalesce(t.fee_santim, 0) OR -r.tax > coalesce(t.fee_tax_santim, 0)`,
  },
];
