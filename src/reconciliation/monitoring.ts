import { measureFigures, measureRow, type Registry } from '../http/metrics.ts';
import type { LedgerInvariant } from '../ledger/verify.ts';
import { type Database, rows } from '../lib/db.ts';
import { LIVE_CHANNELS } from '../merchants/channels/channel.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';
import { STATEMENT_ERRORS } from './runs.ts';

/** Of a day `r`, for a month: an account that is no longer configured cannot be read any more. */
const HAS_FAILED_STATEMENT = `r.day > current_date - 30
  AND r.id IN (SELECT t.reconciliation_id FROM reconciliation_statement t WHERE t.error IS NOT NULL)`;

/** Open discrepancies, and days that could not be compared, or only without the statements of some accounts. */
export const DISCREPANCY_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['RECONCILIATION', 'RECONCILIATION_FAILED'],
  sql: `SELECT 'RECONCILIATION' AS kind, d.id, NULL AS merchant_id, d.environment,
               coalesce(d.listed_santim, d.booked_santim) AS amount_santim, d.detected_at AS since,
               CASE WHEN d.type = 'payout' AND queried.provider_response IN ('succeeded', 'reversed')
                    THEN 'The provider reports a payout that was never sent to it'
                    WHEN d.kind = 'UNCONFIRMED' AND d.type = 'payout' AND d.order_status IN ('FAILED', 'REJECTED', 'CANCELLED')
                    THEN 'The provider lists a payout that did not succeed here: the merchant has the money back'
                    WHEN d.kind = 'UNKNOWN_ORDER' THEN 'The provider lists an unknown order'
                    WHEN d.kind = 'UNCONFIRMED' THEN 'The provider lists it, and does not confirm it when queried'
                    WHEN d.kind = 'AMOUNT_MISMATCH' THEN 'The provider lists another amount than was booked, or conflicting rows'
                    ELSE 'Booked, and not on the provider''s list' END AS what,
               jsonb_build_object('discrepancy', d.kind, 'type', d.type, 'channel', d.channel, 'day', d.day,
                                  'orderId', d.order_id, 'ourStatus', d.order_status, 'ours', d.booked_santim * 0.01,
                                  'theirs', d.listed_santim * 0.01, 'theirCurrency', d.listed_currency,
                                  'providerSays', queried.provider_response, 'account', nullif(d.account, '')) AS detail,
               NULL AS workflow_id
        FROM reconciliation_discrepancy d LEFT JOIN LATERAL (
          SELECT max(l.provider_response) AS provider_response
          FROM statement_row l JOIN reconciliation_statement t ON t.reconciliation_id = l.reconciliation_id AND t.account = l.account
          WHERE l.reconciliation_id = d.reconciliation_id AND l.type = d.type AND l.order_id = d.order_id
            AND l.account = d.account AND l.import_no >= t.completed_import_no) queried ON true
        WHERE d.closed_at IS NULL
        UNION ALL
        SELECT 'RECONCILIATION_FAILED', r.id, NULL, r.environment, NULL::bigint, coalesce(r.import_started_at, r.requested_at),
               'The day could not be compared. Request it again. Error: ' || coalesce(r.error, 'unknown'),
               jsonb_build_object('channel', r.channel, 'day', r.day), 'reconciliation-' || r.id
        FROM reconciliation r WHERE r.status = 'INCOMPLETE' AND NOT r.is_running
        UNION ALL
        SELECT 'RECONCILIATION_FAILED', r.id, NULL, r.environment, NULL::bigint, r.import_started_at,
               'The day was compared without the statements of some accounts. Request it again. Error: ' || ${STATEMENT_ERRORS},
               jsonb_build_object('channel', r.channel, 'day', r.day), 'reconciliation-' || r.id
        FROM reconciliation r WHERE r.status <> 'INCOMPLETE' AND NOT r.is_running AND ${HAS_FAILED_STATEMENT}`,
};

/** In SQL: the overpaid payouts of a kind whose excess was not recovered. A reversed one is not SUCCESS. */
const overpaid = (item: string, kind: 'withdrawal' | 'refund', about: string): string => `
        SELECT '${item}', p.id, p.merchant_id, p.environment, p.paid_santim - p.amount_santim, p.completed_at,
               'The provider has overpaid it, and must take the excess back',
               jsonb_build_object(${about}, 'channel', p.channel, 'amount', p.amount_santim * 0.01, 'paid', p.paid_santim * 0.01,
                                  'providerReference', p.provider_reference), '${kind}-' || p.id
        FROM payout p
        WHERE p.kind = '${kind}' AND p.paid_santim > p.amount_santim AND p.status = 'SUCCESS' AND NOT EXISTS (
          SELECT FROM bank_receipt m WHERE m.payout_id = p.id AND m.reversed_at IS NULL)`;

/** Unallocated money in suspense, and overpaid payouts and refunds whose excess was not recovered. */
export const RECEIPT_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['RECEIPT_UNALLOCATED', 'PAYOUT_OVERPAID', 'REFUND_OVERPAID'],
  sql: `SELECT 'RECEIPT_UNALLOCATED' AS kind, m.id, NULL AS merchant_id, m.environment, m.amount_santim, m.booked_at AS since,
               'The bank received it from an unknown payer' AS what,
               jsonb_build_object('bankReference', m.reference) AS detail, NULL AS workflow_id
        FROM bank_receipt m WHERE m.kind = 'UNALLOCATED' AND m.outcome IS NULL AND m.reversed_at IS NULL
        UNION ALL ${overpaid('PAYOUT_OVERPAID', 'withdrawal', "'withdrawalId', p.id")}
        UNION ALL ${overpaid('REFUND_OVERPAID', 'refund', "'transactionId', p.transaction_id")}
        UNION ALL
        SELECT 'PAYOUT_OVERPAID', m.id, w.merchant_id, m.environment, m.amount_santim, w.reversed_at,
               'The excess was taken back, and then the whole payout was reversed. Correct this once the provider no longer owes it',
               jsonb_build_object('withdrawalId', w.id, 'channel', w.channel, 'reference', m.reference), 'withdrawal-' || w.id
        FROM bank_receipt m JOIN payout w ON w.id = m.payout_id
        WHERE m.kind = 'RECOVERY' AND m.reversed_at IS NULL AND w.status = 'REVERSED'`,
};

/** In Addis Ababa: two hours after the start of the nightly comparison (src/temporal/prepare.ts). */
const LATE_HOUR = 4;

/** When the day after the last requested one should have been requested. */
const DUE = `(last.day + 2 + interval '${LATE_HOUR} hours') AT TIME ZONE 'Africa/Addis_Ababa'`;

/**
 * Missing: yesterday was not requested for a channel that was compared before. Pending: a requested comparison has not
 * started within two hours, or not ended within 25; its workflow abandons it after 20.
 */
export const STALLED_RUNS: WorkItemSource = {
  kinds: ['RECONCILIATION_MISSING', 'RECONCILIATION_PENDING'],
  sql: `SELECT 'RECONCILIATION_MISSING' AS kind, last.environment || '-' || last.channel || '-' || last.day + 1 AS id,
               NULL AS merchant_id, last.environment, NULL::bigint AS amount_santim,
               ${DUE} AS since,
               'The comparison of this day was not requested: see the schedule nightlyReconciliation in Temporal' AS what,
               jsonb_build_object('channel', last.channel, 'day', last.day + 1) AS detail, NULL AS workflow_id
        FROM (SELECT environment, channel, max(day) AS day FROM reconciliation GROUP BY environment, channel) last
        WHERE ${DUE} < CAST(:at AS timestamptz)
          AND last.day > CAST(CAST(:at AS timestamptz) AS date) - 30
        UNION ALL
        SELECT 'RECONCILIATION_PENDING', r.id, NULL, r.environment, NULL::bigint,
               CASE WHEN r.requests > r.requests_at_start THEN r.requested_at ELSE r.import_started_at END,
               CASE WHEN r.requests > r.requests_at_start THEN 'The comparison of the day was requested and has not started'
                    ELSE 'The comparison of the day has not ended' END,
               jsonb_build_object('channel', r.channel, 'day', r.day), 'reconciliation-' || r.id
        FROM reconciliation r
        WHERE r.is_running AND CASE WHEN r.requests > r.requests_at_start THEN r.requested_at < CAST(:at AS timestamptz) - interval '2 hours'
                              ELSE r.import_started_at < CAST(:at AS timestamptz) - interval '25 hours' END`,
};

const JOURNAL_KINDS = `('REMITTANCE', 'RECEIPT_UNALLOCATED', 'PAYOUT_RECOVERED', 'RECEIPT_ALLOCATED', 'RECEIPT_RETURNED',
  'REVERSAL')`;

/** The journals of each receipt; a reversed receipt has a mirror of each. */
const EXPECTED_JOURNALS = `
  WITH booked AS (
    SELECT id, reversed_at, 'receipt:' || id AS posting_key, amount_santim, CASE kind WHEN 'REMITTANCE' THEN 'REMITTANCE'
             WHEN 'UNALLOCATED' THEN 'RECEIPT_UNALLOCATED' ELSE 'PAYOUT_RECOVERED' END AS kind
    FROM bank_receipt
    UNION ALL
    SELECT id, reversed_at, 'receipt-outcome:' || id, amount_santim, 'RECEIPT_' || outcome
    FROM bank_receipt WHERE outcome IS NOT NULL)
  SELECT id, posting_key, amount_santim, kind FROM booked
  UNION ALL
  SELECT id, 'reversal:' || posting_key, amount_santim, 'REVERSAL' FROM booked WHERE reversed_at IS NOT NULL`;

/** The references that receipts and settlements have booked. */
const EXPECTED_REFERENCES = `
  SELECT id, environment, CASE kind WHEN 'RECOVERY' THEN 'recovery' ELSE 'inbound' END AS direction, reference
  FROM bank_receipt WHERE reversed_at IS NULL
  UNION ALL
  SELECT id, environment, 'outbound', return_reference FROM bank_receipt
  WHERE return_reference IS NOT NULL AND reversed_at IS NULL
  UNION ALL
  SELECT id, environment, 'inbound', return_reference FROM settlement WHERE return_reference IS NOT NULL
  UNION ALL
  SELECT id, environment, 'outbound', bank_reference FROM settlement WHERE credited_at IS NOT NULL`;

/** What must hold between receipts that operators book, settlements at the bank, and the ledger. */
export const RECEIPT_CHECKS: readonly LedgerInvariant[] = [
  {
    description: 'each receipt has its journals, and no other such journals exist',
    sql: `SELECT j.id AS journal, coalesce(x.id, 'journal ' || j.posting_key) || ' is ' || coalesce(x.kind || ' of ' || x.amount_santim, 'no booking')
                 || ' santim, booked ' || coalesce(j.kind || ' of ' || j.amount_santim, 'not') AS about
          FROM (${EXPECTED_JOURNALS}) x
          FULL JOIN (SELECT * FROM ledger_journal WHERE kind IN ${JOURNAL_KINDS}) j ON j.posting_key = x.posting_key
          WHERE x.id IS NULL OR j.id IS NULL OR j.kind <> x.kind OR j.amount_santim <> x.amount_santim`,
  },
  {
    description: 'each reference of the bank or a provider belongs to the one booking that has it',
    sql: `SELECT NULL AS journal, coalesce(x.reference, r.reference, 'no reference') || ' (' || coalesce(x.environment, r.environment) || ', '
                 || coalesce(x.direction, r.direction) || ') of ' || coalesce(x.id, 'no booking') || ' is held by '
                 || coalesce(r.resource_id, 'another booking or none') AS about
          FROM (${EXPECTED_REFERENCES}) x
          FULL JOIN external_reference r ON r.environment = x.environment AND r.direction = x.direction
            AND r.reference = x.reference AND r.resource_id = x.id
          WHERE x.id IS NULL OR r.resource_id IS NULL`,
  },
];

const COUNTS = {
  discrepancies: {
    name: 'meskot_reconciliation_discrepancies_pending',
    help: "Open discrepancies between the providers' statements and the ledger",
  },
  incomplete: {
    name: 'meskot_reconciliation_runs_active',
    help: 'Days of channels whose comparison is running, or whose statement is not available',
  },
  failed: {
    name: 'meskot_reconciliation_days_failed',
    help: 'Days of channels whose comparison was abandoned or lacks accounts, until the next night or an operator requests it again',
  },
} as const;

const AGES = Object.fromEntries(
  ['live', 'sandbox'].flatMap((environment) =>
    LIVE_CHANNELS.map((channel) => {
      const name = 'meskot_reconciliation_last_clean_age_seconds';
      const help = 'Time since a day of the channel was last compared and found clean; NaN when none ever was';
      return [`${environment}-${channel}`, { name, help, labels: { environment, channel } }];
    }),
  ),
);

const COUNT = `
  SELECT (SELECT CAST(count(*) AS integer) FROM reconciliation_discrepancy WHERE closed_at IS NULL) AS discrepancies,
         (SELECT CAST(count(*) AS integer) FROM reconciliation WHERE is_running) AS incomplete,
         (SELECT CAST(count(*) AS integer) FROM reconciliation r
          WHERE NOT is_running AND (status = 'INCOMPLETE' OR ${HAS_FAILED_STATEMENT})) AS failed`;

/** Open discrepancies and runs, and the age of the last clean day. Counted when the metrics are read. */
export function measureReconciliation(registry: Registry, db: Database): void {
  measureRow(registry, COUNTS, { db, sql: COUNT });
  measureFigures(registry, AGES, async () => {
    // A day that was never clean sets no figure, which is NaN.
    const ages = await rows<{ key: string; seconds: number }>(
      db,
      `SELECT environment || '-' || channel AS key, CAST(extract(epoch FROM now() - max(last_clean_at)) AS double precision) AS seconds
       FROM reconciliation WHERE last_clean_at IS NOT NULL GROUP BY environment, channel`,
    );
    return Object.fromEntries(ages.map(({ key, seconds }): [string, number] => [key, seconds]));
  });
}
