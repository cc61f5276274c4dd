import { REFERENCE_USES } from '../ledger/external-references.ts';
import type { LedgerInvariant } from '../ledger/verify.ts';

const JOURNAL_KINDS = `('PROVIDER_TRANSFER', 'UNMATCHED_MONEY', 'PAYOUT_RECOVERED', 'RECEIPT_ALLOCATED', 'RECEIPT_RETURNED',
  'RECEIPT_REVERSED')`;

/** The journals that each row must have, and how much they move. What is corrected is all that was booked of it. */
const EXPECTED = `
  SELECT id, ledger_key AS posting_key, amount_santim,
         CASE kind WHEN 'REMITTANCE' THEN 'PROVIDER_TRANSFER' WHEN 'UNALLOCATED' THEN 'UNMATCHED_MONEY' ELSE 'PAYOUT_RECOVERED' END AS kind
  FROM bank_receipt
  UNION ALL
  SELECT id, 'bank-money-ended:' || id, amount_santim, 'RECEIPT_' || outcome FROM bank_receipt WHERE outcome IS NOT NULL
  UNION ALL
  SELECT id, 'bank-money-corrected:' || id, amount_santim * CASE WHEN outcome IS NULL THEN 1 ELSE 2 END, 'RECEIPT_REVERSED'
  FROM bank_receipt WHERE reversed_at IS NOT NULL`;

/** What must hold between money that operators book by its reference and the ledger. */
export const BANK_MONEY_CHECKS: readonly LedgerInvariant[] = [
  {
    description: 'each booking of bank money has its journals, and no others stand for one',
    sql: `SELECT j.id AS journal, coalesce(x.id, 'journal ' || j.posting_key) || ' is ' || coalesce(x.kind || ' of ' || x.amount_santim, 'no booking')
                 || ' santim, booked ' || coalesce(j.kind || ' of ' || j.amount_santim, 'not') AS about
          FROM (${EXPECTED}) x FULL JOIN (SELECT * FROM ledger_journal WHERE kind IN ${JOURNAL_KINDS}) j ON j.posting_key = x.posting_key
          WHERE x.id IS NULL OR j.id IS NULL OR j.kind <> x.kind OR j.amount_santim <> x.amount_santim`,
  },
  {
    description: 'what happened outside under one reference is booked once',
    sql: `SELECT NULL AS journal, reference || ' (' || environment || ') is booked ' || count(*) || ' times: '
                 || string_agg(id || ' as ' || what, ', ' ORDER BY id) AS about
          FROM (${REFERENCE_USES}) used GROUP BY environment, way, reference HAVING count(*) > 1`,
  },
];
