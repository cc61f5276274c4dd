import type { LedgerInvariant } from '../ledger/verify.ts';

const JOURNAL_KINDS = `('PROVIDER_TRANSFER', 'UNMATCHED_MONEY', 'PAYOUT_RECOVERED', 'RECEIPT_ALLOCATED', 'RECEIPT_RETURNED',
  'REVERSAL')`;

/** The journals of each receipt; a reversed receipt has a mirror of each. */
const EXPECTED_JOURNALS = `
  WITH booked AS (
    SELECT id, reversed_at, 'receipt:' || id AS posting_key, amount_santim, CASE kind WHEN 'REMITTANCE' THEN 'PROVIDER_TRANSFER'
             WHEN 'UNALLOCATED' THEN 'UNMATCHED_MONEY' ELSE 'PAYOUT_RECOVERED' END AS kind
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

/** What must hold between bank money that operators book, settlements at the bank, and the ledger. */
export const RECEIPT_CHECKS: readonly LedgerInvariant[] = [
  {
    description: 'each booking of bank money has its journals, and no other such journals exist',
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
