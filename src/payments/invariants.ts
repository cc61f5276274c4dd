import type { LedgerInvariant } from '../ledger/verify.ts';

/** The journals that make transactions SUCCESS: their payments, and held ones that an operator released. */
const SUCCESS_JOURNALS = `
  SELECT id, resource_id FROM ledger_journal WHERE kind = 'PAYMENT'
  UNION ALL
  SELECT j.id, j.resource_id FROM ledger_journal j JOIN payment_attempt a ON j.posting_key = 'held-ended:' || a.id
  WHERE j.kind = 'HELD_ACCEPTED' AND a.status = 'SUCCEEDED'`;

/** The invariants between transactions and the ledger. */
export const TRANSACTION_CHECKS: readonly LedgerInvariant[] = [
  {
    description: 'each SUCCESS transaction has exactly one success journal, and no other transaction has one',
    sql: `SELECT min(j.id) AS journal, 'transaction ' || coalesce(t.id, j.resource_id) || ' is '
                 || coalesce(t.status, 'not SUCCESS') || ' and has ' || count(j.id) || ' such journals' AS about
          FROM (SELECT id, status FROM transaction WHERE status = 'SUCCESS') t
          FULL JOIN (${SUCCESS_JOURNALS}) j ON j.resource_id = t.id
          GROUP BY t.id, t.status, j.resource_id HAVING t.id IS NULL OR count(j.id) <> 1`,
  },
  {
    description: 'net, fee and tax of a payment add up to the received amount and match the booking',
    sql: `SELECT j.id AS journal, 'transaction ' || t.id || ': ' || coalesce(t.received_santim, t.amount_santim)
                 || ' santim with fee ' || t.fee_santim || ' and tax ' || t.fee_tax_santim || ' differs from the booking' AS about
          FROM transaction t JOIN (${SUCCESS_JOURNALS}) j ON j.resource_id = t.id
          JOIN LATERAL (
            SELECT coalesce(sum(e.amount_santim) FILTER (WHERE a.kind = 'AVAILABLE'), 0) AS net,
                   coalesce(sum(e.amount_santim) FILTER (WHERE a.kind = 'FEE_REVENUE'), 0) AS fee,
                   coalesce(sum(e.amount_santim) FILTER (WHERE a.kind = 'TAX_PAYABLE'), 0) AS tax
            FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE e.journal_id = j.id) booked ON true
          WHERE t.fee_santim IS NULL OR booked.fee <> t.fee_santim OR booked.tax <> t.fee_tax_santim
             OR booked.net + booked.fee + booked.tax <> coalesce(t.received_santim, t.amount_santim)`,
  },
  {
    description: 'a payment is booked for its merchant and environment, on a channel of one of its attempts',
    sql: `SELECT j.id AS journal, 'transaction ' || t.id || ' of ' || t.merchant_id AS about
          FROM transaction t JOIN ledger_journal j ON j.resource_id = t.id
          WHERE (j.merchant_id, j.environment) IS DISTINCT FROM (t.merchant_id, t.environment)
             OR EXISTS (SELECT 1 FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
                        WHERE e.journal_id = j.id AND a.channel NOT IN (
                          SELECT p.channel FROM payment_attempt p WHERE p.session_id = t.session_id))`,
  },
  {
    description: 'held money is in suspense',
    sql: `SELECT h.id AS journal, 'attempt ' || a.id || ' is ' || a.status || ', held journal ' || coalesce(h.id, 'missing')
                 || ', ended ' || coalesce(e.id, 'not') AS about
          FROM payment_attempt a
          LEFT JOIN ledger_journal h ON h.posting_key = 'held:' || a.id LEFT JOIN ledger_journal e ON e.posting_key = 'held-ended:' || a.id
          WHERE (a.status IN ('HELD', 'DUPLICATE') AND a.received_currency = 'ETB' AND a.received_santim > 0 AND h.id IS NULL)
             OR (h.id IS NULL AND e.id IS NOT NULL) OR (a.status = 'HELD' AND e.kind = 'HELD_ACCEPTED')
             OR (h.id IS NOT NULL AND a.status NOT IN ('HELD', 'DUPLICATE') AND a.hold_resolution IS NULL)`,
  },
  {
    description: 'the booking of held money matches the decision about it',
    sql: `SELECT e.id AS journal, 'attempt ' || a.id || ' is ' || a.status || ', decided ' || coalesce(a.hold_resolution, 'not')
                 || ', booked ' || coalesce(e.kind, 'not') AS about
          FROM payment_attempt a LEFT JOIN ledger_journal e ON e.posting_key = 'held-ended:' || a.id
          WHERE (a.hold_resolution IS NOT NULL OR e.id IS NOT NULL)
            AND CASE a.hold_resolution WHEN 'ACCEPTED' THEN e.kind IS DISTINCT FROM 'HELD_ACCEPTED' OR a.status NOT IN ('SUCCEEDED', 'DUPLICATE')
                               WHEN 'RETURNED' THEN a.status NOT IN ('HELD', 'DUPLICATE')
                                 OR CASE WHEN a.received_currency = 'ETB' AND a.received_santim > 0 THEN e.kind IS DISTINCT FROM 'HELD_RETURNED' ELSE e.id IS NOT NULL END
                               ELSE true END`,
  },
];
