import { measureRow, type Registry } from '../http/metrics.ts';
import { payoutChecks, type LedgerInvariant } from '../ledger/verify.ts';
import type { Database } from '../lib/db.ts';
import { WAITING_SANTIM } from '../lib/sandbox-review.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';
import { IS_OPEN } from './states.ts';

/** Settlements to approve, to send, overdue at the bank, or with a late credit to decide. */
export const SETTLEMENT_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['SETTLEMENT_APPROVAL', 'SETTLEMENT_READY_TO_SEND', 'SETTLEMENT_OVERDUE', 'SETTLEMENT_CREDITED_LATE'],
  sql: `SELECT CASE s.status WHEN 'REQUESTED' THEN 'SETTLEMENT_APPROVAL' WHEN 'APPROVED' THEN 'SETTLEMENT_READY_TO_SEND'
                             ELSE 'SETTLEMENT_OVERDUE' END AS kind,
               s.id, s.merchant_id, s.environment, s.amount_santim,
               CASE s.status WHEN 'REQUESTED' THEN s.requested_at WHEN 'APPROVED' THEN s.approved_at ELSE s.overdue_at END AS since,
               CASE s.status WHEN 'REQUESTED' THEN 'Settlement to approve or reject'
                             WHEN 'APPROVED' THEN 'Approved settlement, not yet sent to the bank'
                             ELSE 'No result from the bank by the last expected day' END AS what,
               jsonb_build_object('requestId', s.request_id, 'bankCode', s.bank_code, 'accountName', s.account_name,
                                  'lastFour', right(s.account_number, 4), 'effectiveDate', s.effective_date,
                                  'expectedBy', s.expected_until, 'bankReference', s.bank_reference) AS detail,
               'settlement-' || s.id AS workflow_id
        FROM settlement s
        WHERE s.status IN ('REQUESTED', 'APPROVED') OR (s.status = 'PROCESSING' AND s.overdue_at IS NOT NULL)
        UNION ALL
        SELECT 'SETTLEMENT_CREDITED_LATE' AS kind, s.id, s.merchant_id, s.environment, s.amount_santim,
               CAST(s.late_credit ->> 'at' AS timestamptz) AS since,
               'The bank reports a credit after the failure: the money was released to the merchant, and the credit is not booked' AS what,
               jsonb_build_object('bankCode', s.bank_code, 'bankReference', s.late_credit ->> 'bankReference',
                                  'creditedAt', s.late_credit ->> 'creditedAt', 'failure', s.failure ->> 'message') AS detail,
               'settlement-' || s.id AS workflow_id
        FROM settlement s WHERE s.late_credit IS NOT NULL AND s.late_credit_resolution IS NULL`,
};

/** Not decided by the sandbox after a minute, or not marked as overdue an hour after the last day: its workflow is lost. */
export const STALLED_SETTLEMENTS: WorkItemSource = {
  kinds: ['SETTLEMENT_PENDING'],
  sql: `SELECT 'SETTLEMENT_PENDING' AS kind, s.id, s.merchant_id, s.environment, s.amount_santim,
               CASE WHEN due.undecided THEN s.requested_at ELSE due.overdue_from END AS since,
               CASE WHEN due.undecided THEN 'Not decided by the sandbox'
                    ELSE 'Not marked as overdue after its last expected day' END AS what,
               jsonb_build_object('status', s.status, 'expectedBy', s.expected_until) AS detail,
               'settlement-' || s.id AS workflow_id
        FROM settlement s
        CROSS JOIN LATERAL (
          SELECT s.environment = 'sandbox' AND s.status = 'REQUESTED' AND s.amount_santim % 100 <> ${WAITING_SANTIM}
                   AND s.requested_at < CAST(:at AS timestamptz) - interval '1 minute' AS undecided,
                 CAST(s.expected_until + 1 AS timestamp) AT TIME ZONE 'Africa/Addis_Ababa' AS overdue_from) due
        WHERE s.${IS_OPEN}
          AND (due.undecided
            OR (s.overdue_at IS NULL AND due.overdue_from < CAST(:at AS timestamptz) - interval '1 hour'))`,
};

export const BANK_ACCOUNT_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['BANK_ACCOUNT'],
  sql: `SELECT 'BANK_ACCOUNT' AS kind, b.id, b.merchant_id, b.environment, NULL::bigint AS amount_santim, b.created_at AS since,
               'Linked bank account to verify' AS what,
               jsonb_build_object('bankAccountId', b.id, 'bankCode', b.bank_code, 'lastFour', right(b.account_number, 4)) AS detail,
               NULL AS workflow_id
        FROM bank_account b WHERE b.status = 'PENDING' AND b.replaced_at IS NULL`,
};

export const SETTLEMENT_CHECKS: readonly LedgerInvariant[] = payoutChecks({
  table: 'settlement',
  type: 'settlement',
  isOpen: `p.${IS_OPEN}`,
  isPaid: 'p.credited_at IS NOT NULL',
  isReversed: `p.status = 'FAILED'`,
  mayReturnLessFee: 'false',
  paid: 'p.amount_santim',
  account: 'BANK',
  channel: 'CAST(NULL AS text)',
});

const PENDING = { name: 'meskot_settlements_pending', help: 'Settlements that have not ended, by status' };

const GAUGES = {
  requested: { ...PENDING, labels: { status: 'REQUESTED' } },
  approved: { ...PENDING, labels: { status: 'APPROVED' } },
  processing: { ...PENDING, labels: { status: 'PROCESSING' } },
  overdue: { name: 'meskot_settlements_overdue', help: 'Open settlements past their last expected day' },
} as const;

const COUNT = `
  SELECT CAST(count(*) FILTER (WHERE status = 'REQUESTED') AS integer) AS requested,
         CAST(count(*) FILTER (WHERE status = 'APPROVED') AS integer) AS approved,
         CAST(count(*) FILTER (WHERE status = 'PROCESSING') AS integer) AS processing,
         CAST(count(*) FILTER (WHERE overdue_at IS NOT NULL) AS integer) AS overdue
  FROM settlement WHERE ${IS_OPEN}`;

/** Gauges of open and of overdue settlements (normally 0), counted at each scrape. */
export function measureSettlements(registry: Registry, db: Database): void {
  measureRow(registry, GAUGES, { db, sql: COUNT });
}
