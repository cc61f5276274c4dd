import { REFERENCE_USES } from '../ledger/bank-references.ts';
import type { LedgerCheck } from '../ledger/verify.ts';

const JOURNAL_KINDS = `('PROVIDER_TRANSFER', 'UNMATCHED_MONEY', 'EXCESS_TAKEN_BACK', 'UNMATCHED_PLACED', 'UNMATCHED_RETURNED',
  'BANK_MONEY_CORRECTED')`;

/** The journals that each row must have, and how much they move. What is corrected is all that was booked of it. */
const EXPECTED = `
  SELECT id, ledger_key AS key, amount_santim,
         CASE kind WHEN 'TRANSFER' THEN 'PROVIDER_TRANSFER' WHEN 'UNMATCHED' THEN 'UNMATCHED_MONEY' ELSE 'EXCESS_TAKEN_BACK' END AS kind
  FROM bank_money
  UNION ALL
  SELECT id, 'bank-money-ended:' || id, amount_santim, 'UNMATCHED_' || outcome FROM bank_money WHERE outcome IS NOT NULL
  UNION ALL
  SELECT id, 'bank-money-corrected:' || id, amount_santim * CASE WHEN outcome IS NULL THEN 1 ELSE 2 END, 'BANK_MONEY_CORRECTED'
  FROM bank_money WHERE corrected_at IS NOT NULL`;

/** What must hold between money that operators book by its reference and the ledger. */
export const BANK_MONEY_CHECKS: readonly LedgerCheck[] = [
  {
    says: 'each booking of bank money has its journals, and no others stand for one',
    sql: `SELECT j.id AS journal, coalesce(x.id, 'journal ' || j.key) || ' is ' || coalesce(x.kind || ' of ' || x.amount_santim, 'no booking')
                 || ' santim, booked ' || coalesce(j.kind || ' of ' || j.amount_santim, 'not') AS about
          FROM (${EXPECTED}) x FULL JOIN (SELECT * FROM ledger_journal WHERE kind IN ${JOURNAL_KINDS}) j ON j.key = x.key
          WHERE x.id IS NULL OR j.id IS NULL OR j.kind <> x.kind OR j.amount_santim <> x.amount_santim`,
  },
  {
    says: 'what happened outside under one reference is booked once',
    sql: `SELECT NULL AS journal, reference || ' (' || environment || ') is booked ' || count(*) || ' times: '
                 || string_agg(id || ' as ' || what, ', ' ORDER BY id) AS about
          FROM (${REFERENCE_USES}) used GROUP BY environment, way, reference HAVING count(*) > 1`,
  },
];
