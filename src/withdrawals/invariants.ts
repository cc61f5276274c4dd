import type { LedgerInvariant } from '../ledger/verify.ts';

/** One that had failed and was paid after all was given back before it was taken again. */
const GIVEN_BACK = `CASE WHEN bool_or(j.posting_key = 'after-all:' || w.id) THEN ARRAY['WITHDRAWAL_RELEASED'] ELSE '{}' END`;

/** What must hold between withdrawals and the ledger. */
export const WITHDRAWAL_CHECKS: readonly LedgerInvariant[] = [
  {
    description: 'each withdrawal has the journals of its status, and no others',
    sql: `SELECT min(j.id) AS journal, 'withdrawal ' || w.id || ' is ' || w.status || ' with journals '
                 || coalesce(string_agg(j.kind, ', ' ORDER BY j.created_at, j.kind), 'none') AS about
          FROM withdrawal w LEFT JOIN ledger_journal j ON j.resource_id = w.id
          GROUP BY w.id, w.status
          HAVING coalesce(array_agg(CAST(j.kind AS text) ORDER BY j.kind) FILTER (WHERE j.id IS NOT NULL), '{}') <> CASE w.status
            WHEN 'PENDING' THEN ARRAY['WITHDRAWAL_RESERVED']
            WHEN 'SUCCESS' THEN ARRAY['WITHDRAWAL_PAID'] || ${GIVEN_BACK} || ARRAY['WITHDRAWAL_RESERVED']
            WHEN 'REVERSED' THEN ARRAY['WITHDRAWAL_PAID'] || ${GIVEN_BACK} || ARRAY['WITHDRAWAL_RESERVED', 'WITHDRAWAL_REVERSED']
            ELSE ARRAY['WITHDRAWAL_RELEASED', 'WITHDRAWAL_RESERVED'] END`,
  },
  {
    description: 'what a withdrawal sets aside is its amount, fee and tax',
    sql: `SELECT j.id AS journal, 'withdrawal ' || w.id || ' sets ' || j.amount_santim || ' santim aside' AS about
          FROM withdrawal w JOIN ledger_journal j ON j.resource_id = w.id AND j.kind = 'WITHDRAWAL_RESERVED'
          WHERE j.amount_santim <> w.amount_santim + w.fee_santim + w.fee_tax_santim`,
  },
  {
    description: 'what a withdrawal has paid out is what its beneficiary got, and what came back is the same',
    sql: `SELECT j.id AS journal, 'withdrawal ' || w.id || ' has ' || coalesce(paid.santim, 0) || ' santim paid out' AS about
          FROM withdrawal w JOIN ledger_journal j ON j.resource_id = w.id AND j.kind IN ('WITHDRAWAL_PAID', 'WITHDRAWAL_REVERSED')
          LEFT JOIN LATERAL (
            SELECT abs(sum(e.amount_santim)) AS santim FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
            WHERE e.journal_id = j.id AND a.kind = 'CHANNEL_CLEARING') paid ON true
          WHERE coalesce(paid.santim, 0) <> coalesce(w.paid_santim, w.amount_santim)`,
  },
  {
    description: 'a withdrawal is booked for its own merchant, in its own environment, over its own channel',
    sql: `SELECT j.id AS journal, 'withdrawal ' || w.id || ' of ' || w.merchant_id || ' over ' || w.channel AS about
          FROM withdrawal w JOIN ledger_journal j ON j.resource_id = w.id
          WHERE (j.merchant_id, j.environment) IS DISTINCT FROM (w.merchant_id, w.environment)
             OR EXISTS (SELECT 1 FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
                        WHERE e.journal_id = j.id AND a.channel <> w.channel)`,
  },
  {
    description: 'no journal stands for a withdrawal that is not there',
    sql: `SELECT j.id AS journal, 'withdrawal ' || j.resource_id || ' is not there' AS about
          FROM ledger_journal j LEFT JOIN withdrawal w ON w.id = j.resource_id
          WHERE j.resource_type = 'withdrawal' AND w.id IS NULL`,
  },
];
