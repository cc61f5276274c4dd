import { measureRow, type Registry } from '../../http/metrics.ts';
import { payoutChecks, type LedgerInvariant } from '../../ledger/verify.ts';
import type { Database } from '../../lib/db.ts';
import { maskedInSql } from '../../lib/mask.ts';
import { WAITING_SANTIM } from '../../lib/sandbox-review.ts';
import type { WorkItemSource } from '../../outbox/work-items.ts';
import { isContradictedSql } from '../cases.ts';
import { measureOutgoing } from '../monitoring.ts';
import { WITHDRAWAL_STAGES } from './states.ts';

const PHONE = maskedInSql('w.phone');
const ACCOUNT_NUMBER = maskedInSql('w.account_number');

/** Work items of these withdrawals: `items` selects kind, id, since, what and detail, to which the withdrawal's own is added. */
const itemsSql = (items: string): string => `
  SELECT i.kind, w.id, w.merchant_id, w.environment, w.amount_santim, i.since, i.what,
         jsonb_build_object('channel', w.channel, 'requestId', w.reference, 'requestedBy', w.requested_by,
           'providerReference', w.provider_reference, 'destination', jsonb_strip_nulls(jsonb_build_object('phone', ${PHONE},
             'bankCode', w.bank_code, 'accountNumber', ${ACCOUNT_NUMBER}, 'accountName', w.account_name))) || i.detail AS detail,
         'withdrawal-' || w.id AS workflow_id
  FROM (${items}) i (kind, id, since, what, detail) JOIN payout w ON w.id = i.id`;

/** A value of the provider's latest report of a payment or reversal. */
const reported = (value: string): string => `(SELECT ${value} FROM timeline l
    WHERE l.resource_id = w.id AND l.detail ->> 'outcome' IN ('succeeded', 'reversed') ORDER BY l.id DESC LIMIT 1)`;

/** What decides: the amount that the provider has reported, and operators' resolutions so far. */
const EVIDENCE = `
  'reportedAmount', ${reported("CAST(l.detail ->> 'amountSantim' AS bigint) * 0.01")},
  'reportedCurrency', ${reported("l.detail ->> 'currency'")},
  'resolutions', (SELECT jsonb_agg(jsonb_build_object('operatorId', r.operator_id, 'outcome', r.outcome,
      'paidAmount', r.paid_santim * 0.01, 'providerReference', r.provider_reference, 'reason', r.reason) ORDER BY r.resolved_at)
    FROM payout_resolution r WHERE r.payout_id = w.id AND r.version = w.version)`;

const READY = 'coalesce(w.confirmed_at, w.requested_at)';
const SENT = `coalesce(w.submitted_at, ${READY})`;
const before = (interval: string): string => `CAST(:at AS timestamptz) - interval '${interval}'`;

/** Withdrawals that wait for an operator. The sandbox decides by itself, except amounts that end in .14. */
export const WITHDRAWAL_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['WITHDRAWAL_REVIEW', 'WITHDRAWAL_UNKNOWN', 'WITHDRAWAL_CONFLICT'],
  sql: itemsSql(`
    SELECT 'WITHDRAWAL_REVIEW', w.id, ${READY},
      'Withdrawal to ' || w.account_name || ', ' || coalesce(${PHONE}, w.bank_code || ' ' || ${ACCOUNT_NUMBER}) || ' under review ('
        || array_to_string(w.review_reasons, ', ') || '): ' || given.approvals || ' of ' || w.approvals_needed || ' approvals',
      jsonb_build_object('reasons', w.review_reasons, 'approvalsGiven', given.approvals, 'approvalsNeeded', w.approvals_needed)
    FROM payout w
    CROSS JOIN LATERAL (SELECT count(*)::int AS approvals FROM payout_approval a WHERE a.payout_id = w.id) given
    WHERE w.stage = 'UNDER_REVIEW' AND (w.environment = 'live' OR w.amount_santim % 100 = ${WAITING_SANTIM}
      OR ${READY} < ${before('1 minute')})
    UNION ALL
    SELECT 'WITHDRAWAL_UNKNOWN', w.id, ${SENT},
      CASE WHEN w.first_reported_paid_at IS NULL THEN 'The provider has not reported an outcome for over an hour'
           WHEN w.last_outcome = 'declined' THEN 'The provider reported a payment and then that it did not pay'
           WHEN ${reported("l.detail ->> 'amountSantim' || (l.detail ->> 'currency')")} = w.amount_santim || w.currency
             THEN 'The provider reports a payment under a reference that has paid another order'
           WHEN w.last_outcome = 'reversed' THEN 'The provider reports a reversal of another amount'
           ELSE 'The provider reports a payment of another amount' END,
      jsonb_build_object('lastOutcome', w.last_outcome, 'lastCheckedAt', w.last_checked_at, ${EVIDENCE})
    FROM payout w
    WHERE w.kind = 'withdrawal' AND w.status = 'PENDING' AND w.stage = 'UNKNOWN' AND (w.first_reported_paid_at IS NOT NULL OR ${SENT} < ${before('1 hour')})
    UNION ALL
    SELECT 'WITHDRAWAL_CONFLICT', w.id, c.opened_at,
      CASE w.status WHEN 'FAILED' THEN 'Released after the provider declined, and now the provider reports a payment'
                    ELSE 'Paid, and now the provider reports that it did not pay, or a reversal of another amount' END,
      jsonb_build_object(${EVIDENCE})
    FROM payout_case c JOIN payout w ON w.kind = 'withdrawal' AND w.id = c.payout_id WHERE ${isContradictedSql('w')}`),
};

/** Withdrawals that are late: not ended two hours after the time for a confirmation, not sent after 5 minutes, or accepted and not paid after an hour. */
export const STALLED_WITHDRAWALS: WorkItemSource = {
  kinds: ['WITHDRAWAL_PENDING'],
  sql: itemsSql(`
    SELECT 'WITHDRAWAL_PENDING', w.id, ${SENT},
      CASE WHEN w.stage = 'AWAITING_CONFIRMATION' THEN 'Not confirmed in time, and not ended yet'
           WHEN w.stage = 'CREATED' THEN 'Not sent yet'
           WHEN w.submitted_at < ${before('1 day')} THEN 'Sent over a day ago, and not paid yet: operators may resolve it'
           ELSE 'Sent, and not paid yet' END,
      jsonb_build_object('stage', w.stage, 'lastOutcome', w.last_outcome)
    FROM payout w
    WHERE w.kind = 'withdrawal' AND w.status = 'PENDING' AND ((w.stage = 'AWAITING_CONFIRMATION' AND w.requested_at < ${before('7 days 2 hours')})
      OR (w.stage = 'CREATED' AND ${READY} < ${before('5 minutes')})
      OR (w.stage IN ('SUBMITTED', 'UNKNOWN') AND w.submitted_at < ${before('1 hour')}))`),
};

const UNSENT_GAUGES = {
  unsent: {
    name: 'meskot_withdrawals_oldest_unsent_age_seconds',
    help: 'Time that the oldest approved withdrawal has waited to be sent; 0 if there is none',
  },
} as const;

const UNSENT = `
  SELECT CAST(coalesce(extract(epoch FROM now() - min(greatest(w.requested_at, w.confirmed_at, (
           SELECT max(a.created_at) FROM payout_approval a WHERE a.payout_id = w.id)))), 0) AS float8) AS unsent
  FROM payout w WHERE w.kind = 'withdrawal' AND w.status = 'PENDING' AND w.stage = 'CREATED'`;
const UNSENT_CACHED_MS = 3_000;

/** How long withdrawals wait to be sent. Also measured by the API, in case no worker runs. */
export function measureUnsentWithdrawals(registry: Registry, db: Database): void {
  measureRow(registry, UNSENT_GAUGES, { db, sql: UNSENT, cachedMs: UNSENT_CACHED_MS });
}

/** Pending withdrawals, the age of the oldest, and those in conflict. Counted when the metrics are read. */
export function measureWithdrawals(registry: Registry, db: Database): void {
  measureUnsentWithdrawals(registry, db);
  measureOutgoing(registry, db, {
    kind: 'withdrawal',
    stages: WITHDRAWAL_STAGES,
    conflicts: {
      name: 'meskot_withdrawals_in_conflict',
      help: 'Ended withdrawals that their provider contradicts: they wait for an operator',
    },
  });
}

export const WITHDRAWAL_CHECKS: readonly LedgerInvariant[] = payoutChecks({
  table: 'payout',
  type: 'withdrawal',
  isOpen: `p.status = 'PENDING'`,
  isPaid: `p.status IN ('SUCCESS', 'REVERSED')`,
  isReversed: `p.status = 'REVERSED'`,
  mayReturnLessFee: 'false',
  paid: 'coalesce(p.paid_santim, p.amount_santim)',
  account: 'CHANNEL_CLEARING',
  channel: 'p.channel',
});
