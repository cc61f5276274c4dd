import { maskedInSql } from '../lib/mask.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';

/** How much the provider says that it has paid, or has come back, in its newest answer that said so. */
const PROVIDER_SAYS = `(
  SELECT CAST(l.detail ->> 'amountSantim' AS bigint) * 0.01 FROM withdrawal_timeline l
  WHERE l.withdrawal_id = w.id AND l.detail ->> 'outcome' IN ('succeeded', 'reversed') ORDER BY l.id DESC LIMIT 1)`;

/** What operators have said of it as it stands, where one word is not enough: the next one must say the same. */
const OPERATORS_SAY = `(
  SELECT jsonb_agg(jsonb_build_object('operatorId', r.operator_id, 'outcome', r.outcome, 'paidAmount', r.paid_santim * 0.01,
                                      'providerReference', r.provider_reference, 'reason', r.reason) ORDER BY r.resolved_at)
  FROM withdrawal_resolution r WHERE r.withdrawal_id = w.id AND r.version = w.version)`;

/** Whom the money goes to, in words. */
const BENEFICIARY = `w.account_name || ', ' || coalesce(${maskedInSql('w.phone')}, w.bank_code || ' ' || ${maskedInSql('w.account_number')})`;

/** Which withdrawal it is, to whom, and under which reference of the provider; the rest is in its detail. */
const ABOUT = `jsonb_build_object('channel', w.channel, 'requestId', w.request_id, 'requestedBy', w.requested_by,
  'providerReference', w.provider_reference, 'destination', jsonb_strip_nulls(jsonb_build_object(
    'phone', ${maskedInSql('w.phone')}, 'bankCode', w.bank_code, 'accountNumber', ${maskedInSql('w.account_number')},
    'accountName', w.account_name)))`;

/** Withdrawals that wait for a person. The sandbox decides by itself, but for amounts that end in .14. */
export const WITHDRAWAL_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['WITHDRAWAL_REVIEW', 'WITHDRAWAL_UNKNOWN', 'WITHDRAWAL_CONFLICT'],
  sql: `SELECT 'WITHDRAWAL_REVIEW' AS kind, w.id, w.merchant_id, w.environment, w.amount_santim, w.requested_at AS since,
               'Withdrawal to ' || ${BENEFICIARY} || ' under review (' || array_to_string(w.review_reasons, ', ') || '): '
                 || given.approvals || ' of ' || w.approvals_needed || ' approvals' AS what,
               ${ABOUT} || jsonb_build_object('reasons', w.review_reasons, 'approvalsGiven', given.approvals,
                                              'approvalsNeeded', w.approvals_needed) AS detail,
               'withdrawal-' || w.id AS workflow_id
        FROM withdrawal w
        CROSS JOIN LATERAL (SELECT count(*)::int AS approvals FROM withdrawal_approval a WHERE a.withdrawal_id = w.id) given
        WHERE w.stage = 'UNDER_REVIEW' AND (w.environment = 'live' OR w.amount_santim % 100 = 14
              OR w.requested_at < CAST(:at AS timestamptz) - interval '1 minute')
        UNION ALL
        SELECT 'WITHDRAWAL_UNKNOWN', w.id, w.merchant_id, w.environment, w.amount_santim,
               coalesce(w.submitted_at, w.requested_at),
               CASE WHEN w.first_reported_paid_at IS NULL THEN 'The provider has not said for over an hour whether it has paid'
                    WHEN w.last_outcome = 'declined' THEN 'The provider has said that it paid, and then that it did not'
                    WHEN w.last_outcome = 'reversed' THEN 'The provider says that another amount came back'
                    ELSE 'The provider says that it has paid another amount' END,
               ${ABOUT} || jsonb_build_object('lastOutcome', w.last_outcome, 'lastCheckedAt', w.last_checked_at,
                                              'providerSays', ${PROVIDER_SAYS}, 'operatorsSay', ${OPERATORS_SAY}),
               'withdrawal-' || w.id
        FROM withdrawal w
        WHERE w.status = 'PENDING' AND w.stage = 'UNKNOWN' AND (w.first_reported_paid_at IS NOT NULL
              OR coalesce(w.submitted_at, w.requested_at) < CAST(:at AS timestamptz) - interval '1 hour')
        UNION ALL
        SELECT 'WITHDRAWAL_CONFLICT', w.id, w.merchant_id, w.environment, w.amount_santim, w.conflict_detected_at,
               CASE w.status WHEN 'FAILED' THEN 'Given back for the provider''s no, and now the provider says it was paid'
                             ELSE 'Paid, and now the provider says it was not, or that another amount came back' END,
               ${ABOUT} || jsonb_build_object('providerSays', ${PROVIDER_SAYS}, 'operatorsSay', ${OPERATORS_SAY}),
               'withdrawal-' || w.id
        FROM withdrawal w
        WHERE w.conflict_detected_at IS NOT NULL AND w.conflict_resolved_at IS NULL
          AND w.status IN ('FAILED', 'SUCCESS')`,
};

/** Withdrawals that should have moved on by themselves: not sent after 5 minutes, or accepted and not paid after an hour. */
export const STALLED_WITHDRAWALS: WorkItemSource = {
  kinds: ['WITHDRAWAL_PENDING'],
  sql: `SELECT 'WITHDRAWAL_PENDING' AS kind, w.id, w.merchant_id, w.environment, w.amount_santim,
               coalesce(w.submitted_at, w.requested_at) AS since,
               CASE WHEN w.stage = 'CREATED' THEN 'Not sent yet'
                    WHEN w.submitted_at < CAST(:at AS timestamptz) - interval '1 day' THEN 'Sent over a day ago, and not paid yet: operators may resolve it'
                    ELSE 'Sent, and not paid yet' END AS what,
               ${ABOUT} || jsonb_build_object('stage', w.stage, 'lastOutcome', w.last_outcome) AS detail,
               'withdrawal-' || w.id AS workflow_id
        FROM withdrawal w
        WHERE w.status = 'PENDING'
          AND ((w.stage = 'CREATED' AND w.requested_at < CAST(:at AS timestamptz) - interval '5 minutes')
            OR (w.stage IN ('SUBMITTED', 'UNKNOWN') AND w.submitted_at < CAST(:at AS timestamptz) - interval '1 hour'))`,
};
