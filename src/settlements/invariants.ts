import type { LedgerInvariant } from '../ledger/verify.ts';

/** Invariants between settlements and the ledger. */
export const SETTLEMENT_CHECKS: readonly LedgerInvariant[] = [
  {
    description: 'each settlement has the journals of its status, and no others',
    sql: `SELECT min(j.id) AS journal, 'settlement ' || s.id || ' is ' || s.status || ' with journals '
                 || coalesce(string_agg(j.kind, ', ' ORDER BY j.created_at, j.kind), 'none') AS about
          FROM settlement s LEFT JOIN ledger_journal j ON j.resource_id = s.id
          GROUP BY s.id, s.status
          HAVING coalesce(array_agg(CAST(j.kind AS text) ORDER BY j.kind) FILTER (WHERE j.id IS NOT NULL), '{}')
            <> CASE WHEN s.status IN ('REQUESTED', 'APPROVED', 'PROCESSING') THEN ARRAY['SETTLEMENT_RESERVED']
                    WHEN s.credited_at IS NULL THEN ARRAY['SETTLEMENT_RELEASED', 'SETTLEMENT_RESERVED']
                    ELSE ARRAY['SETTLEMENT_PAID']
                      || CASE WHEN bool_or(j.posting_key = 'after-all:' || s.id) THEN ARRAY['SETTLEMENT_RELEASED'] ELSE '{}' END
                      || ARRAY['SETTLEMENT_RESERVED']
                      || CASE WHEN s.status = 'FAILED' THEN ARRAY['SETTLEMENT_REVERSED'] ELSE '{}' END END`,
  },
  {
    description: 'a settlement reserves its amount, fee and tax, and pays its amount to the bank',
    sql: `SELECT j.id AS journal, 'settlement ' || s.id || ' reserves ' || j.amount_santim || ' santim and sends '
                 || coalesce(sent.santim, 0) AS about
          FROM settlement s
          JOIN ledger_journal j ON j.resource_id = s.id AND j.kind = 'SETTLEMENT_RESERVED'
          LEFT JOIN LATERAL (
            SELECT sum(e.amount_santim) AS santim FROM ledger_journal p
            JOIN ledger_entry e ON e.journal_id = p.id JOIN ledger_account a ON a.id = e.account_id AND a.kind = 'BANK'
            WHERE p.resource_id = s.id AND p.kind IN ('SETTLEMENT_PAID', 'SETTLEMENT_REVERSED')) sent ON true
          WHERE j.amount_santim <> s.amount_santim + s.fee_santim + s.fee_tax_santim
             OR coalesce(sent.santim, 0) <> CASE s.status WHEN 'COMPLETED' THEN s.amount_santim ELSE 0 END`,
  },
  {
    description: 'a settlement is booked for its own merchant, in its own environment',
    sql: `SELECT j.id AS journal, 'settlement ' || s.id || ' of ' || s.merchant_id AS about
          FROM settlement s JOIN ledger_journal j ON j.resource_id = s.id
          WHERE (j.merchant_id, j.environment) IS DISTINCT FROM (s.merchant_id, s.environment)`,
  },
  {
    description: 'each journal of a settlement has its settlement',
    sql: `SELECT j.id AS journal, 'settlement ' || j.resource_id || ' does not exist' AS about
          FROM ledger_journal j LEFT JOIN settlement s ON s.id = j.resource_id
          WHERE j.resource_type = 'settlement' AND s.id IS NULL`,
  },
];
