import { WAITING_SANTIM } from '../lib/sandbox-review.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';

/**
 * Settlements that wait for an operator's yes, for the transfer, too long for the bank's answer, or with an answer that
 * contradicts what was booked.
 */
export const SETTLEMENT_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['SETTLEMENT_APPROVAL', 'SETTLEMENT_READY_TO_SEND', 'SETTLEMENT_OVERDUE', 'SETTLEMENT_CREDITED_LATE'],
  sql: `SELECT CASE s.status WHEN 'REQUESTED' THEN 'SETTLEMENT_APPROVAL' WHEN 'APPROVED' THEN 'SETTLEMENT_READY_TO_SEND'
                             ELSE 'SETTLEMENT_OVERDUE' END AS kind,
               s.id, s.merchant_id, s.environment, s.amount_santim,
               CASE s.status WHEN 'REQUESTED' THEN s.requested_at WHEN 'APPROVED' THEN s.approved_at ELSE s.overdue_at END AS since,
               CASE s.status WHEN 'REQUESTED' THEN 'Settlement waits for a yes or no'
                             WHEN 'APPROVED' THEN 'Settlement is approved and not sent to the bank yet'
                             ELSE 'The bank has not answered by the last expected day' END AS what,
               jsonb_build_object('requestId', s.request_id, 'bankCode', s.bank_code, 'accountName', s.account_name,
                                  'lastFour', right(s.account_number, 4), 'effectiveDate', s.effective_date,
                                  'expectedBy', s.expected_until, 'bankReference', s.bank_reference) AS detail,
               'settlement-' || s.id AS workflow_id
        FROM settlement s
        WHERE s.status IN ('REQUESTED', 'APPROVED') OR (s.status = 'PROCESSING' AND s.overdue_at IS NOT NULL)
        UNION ALL
        SELECT 'SETTLEMENT_CREDITED_LATE' AS kind, s.id, s.merchant_id, s.environment, s.amount_santim,
               CAST(s.late_credit ->> 'at' AS timestamptz) AS since,
               'The bank says it has credited what had failed: the money went back to the merchant, and is not booked' AS what,
               jsonb_build_object('bankCode', s.bank_code, 'bankReference', s.late_credit ->> 'bankReference',
                                  'creditedAt', s.late_credit ->> 'creditedAt', 'failure', s.failure ->> 'message') AS detail,
               'settlement-' || s.id AS workflow_id
        FROM settlement s WHERE s.late_credit IS NOT NULL AND s.late_credit_resolution IS NULL`,
};

/**
 * Settlements that should have moved on by themselves: the sandbox has not decided after a minute, or the last expected
 * day is over for an hour and nobody has noted it. Their workflow is gone, or cannot go on.
 */
export const STALLED_SETTLEMENTS: WorkItemSource = {
  kinds: ['SETTLEMENT_PENDING'],
  sql: `SELECT 'SETTLEMENT_PENDING' AS kind, s.id, s.merchant_id, s.environment, s.amount_santim,
               CASE WHEN due.undecided THEN s.requested_at ELSE due.overdue_from END AS since,
               CASE WHEN due.undecided THEN 'The sandbox has not decided about it'
                    ELSE 'Its last expected day is over, and it was not noted that it is overdue' END AS what,
               jsonb_build_object('status', s.status, 'expectedBy', s.expected_until) AS detail,
               'settlement-' || s.id AS workflow_id
        FROM settlement s
        CROSS JOIN LATERAL (
          SELECT s.environment = 'sandbox' AND s.status = 'REQUESTED' AND s.amount_santim % 100 <> ${WAITING_SANTIM}
                   AND s.requested_at < CAST(:at AS timestamptz) - interval '1 minute' AS undecided,
                 CAST(s.expected_until + 1 AS timestamp) AT TIME ZONE 'Africa/Addis_Ababa' AS overdue_from) due
        WHERE s.status IN ('REQUESTED', 'APPROVED', 'PROCESSING')
          AND (due.undecided
            OR (s.overdue_at IS NULL AND due.overdue_from < CAST(:at AS timestamptz) - interval '1 hour'))`,
};

/** Linked bank accounts that nobody has verified yet. */
export const BANK_ACCOUNT_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['BANK_ACCOUNT'],
  sql: `SELECT 'BANK_ACCOUNT' AS kind, b.id, b.merchant_id, b.environment, NULL::bigint AS amount_santim, b.created_at AS since,
               'A linked bank account waits to be verified' AS what,
               jsonb_build_object('bankAccountId', b.id, 'bankCode', b.bank_code, 'lastFour', right(b.account_number, 4)) AS detail,
               NULL AS workflow_id
        FROM bank_account b WHERE b.status = 'PENDING' AND b.replaced_at IS NULL`,
};
