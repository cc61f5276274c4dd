import { Counter } from 'prom-client';

import { measureRow, type Registry } from '../http/metrics.ts';
import type { LedgerInvariant } from '../ledger/verify.ts';
import type { Database } from '../lib/db.ts';
import { maskedInSql } from '../lib/mask.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';
import type { AttemptRow } from './queries.ts';
import type { AttemptStatus } from './states.ts';

const birr = (santim: string): string => `trim(to_char(${santim} * 0.01, '999999999999990.00'))`;

/** The expected amount, of attempts `a`, held because its reference was used before. */
const IS_EXPECTED = '(a.received_currency = a.currency AND a.received_santim = a.amount_santim)';

/** Unexpected money, and payments whose outcome stayed unknown. */
export const PAYMENT_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['PAYMENT_HELD', 'PAYMENT_DUPLICATE', 'PAYMENT_UNKNOWN'],
  sql: `SELECT CASE a.status WHEN 'HELD' THEN 'PAYMENT_HELD' ELSE 'PAYMENT_DUPLICATE' END AS kind, a.id, a.merchant_id,
               a.environment, CASE a.received_currency WHEN a.currency THEN a.received_santim END AS amount_santim,
               a.ended_at AS since,
               a.transaction_id || ': ' ||
               CASE WHEN a.status = 'DUPLICATE' THEN 'paid a second time'
                    WHEN ${IS_EXPECTED} THEN 'the reference ' || a.provider_reference || ' has paid another transaction'
                    WHEN a.received_currency <> a.currency THEN 'received ' || a.received_currency || ' instead of ' || a.currency
                    ELSE 'received ' || coalesce(${birr('a.received_santim')}, 'an unknown amount')
                         || ' instead of ' || ${birr('a.amount_santim')} END AS what,
               jsonb_build_object('transactionId', a.transaction_id, 'checkoutOrderNo', t.checkout_order_no,
                                  'attemptId', a.id, 'channel', a.channel,
                                  'expected', a.amount_santim * 0.01, 'received', a.received_santim * 0.01,
                                  'currency', a.received_currency, 'providerReference', a.provider_reference,
                                  'payer', ${maskedInSql('a.phone')}) AS detail,
               'payment-' || a.id AS workflow_id
        FROM payment_attempt a JOIN transaction t ON t.id = a.transaction_id
        WHERE a.status IN ('HELD', 'DUPLICATE') AND a.hold_resolution IS NULL
        UNION ALL
        SELECT 'PAYMENT_UNKNOWN', t.id, t.merchant_id, t.environment, t.amount_santim, coalesce(s.ended_at, t.created_at),
               'Ended with an unknown outcome',
               jsonb_build_object('transactionId', t.id, 'channel', t.channel), NULL
        FROM transaction t JOIN checkout_session s ON s.id = t.session_id WHERE t.needs_reconciliation`,
};

/** Attempts that should have ended: 10 minutes after their session, or a day and 10 minutes with an unknown outcome. */
export const STALLED_PAYMENTS: WorkItemSource = {
  kinds: ['PAYMENT_PENDING'],
  sql: `SELECT 'PAYMENT_PENDING' AS kind, a.id, a.merchant_id, a.environment, a.amount_santim, s.expires_at AS since,
               'The session is over and the attempt has not ended; last outcome: '
                 || coalesce(a.last_outcome, 'not queried') AS what,
               jsonb_build_object('transactionId', a.transaction_id, 'channel', a.channel, 'status', a.status) AS detail,
               'payment-' || a.id AS workflow_id
        FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id
        WHERE a.status IN ('CREATED', 'PENDING')
          AND s.expires_at + CASE a.last_outcome WHEN 'unknown' THEN interval '1 day' ELSE interval '0' END
                < CAST(:at AS timestamptz) - interval '10 minutes'`,
};

const pending = { name: 'meskot_payments_pending', help: 'Attempts that are not over, by age' };

const GAUGES = {
  held: { name: 'meskot_payments_held', help: 'Held attempts: paid with an unexpected amount, currency or reference' },
  duplicate: { name: 'meskot_payments_duplicate', help: 'Second payments of a transaction, undecided' },
  reconcile: {
    name: 'meskot_transactions_unreconciled',
    help: 'Transactions that expired with an unknown outcome',
  },
  pendingMinute: { ...pending, labels: { age: 'under 1 min' } },
  pendingMinutes: { ...pending, labels: { age: '1 to 5 min' } },
  pendingLong: { ...pending, labels: { age: '5 to 30 min' } },
  pendingOverlong: { ...pending, labels: { age: 'over 30 min' } },
} as const;

const COUNT = `
  SELECT *, (SELECT CAST(count(*) AS integer) FROM transaction WHERE needs_reconciliation) AS reconcile
  FROM (
    SELECT CAST(count(*) FILTER (WHERE status = 'HELD') AS integer) AS held,
           CAST(count(*) FILTER (WHERE status = 'DUPLICATE') AS integer) AS duplicate
    FROM payment_attempt WHERE status IN ('HELD', 'DUPLICATE') AND hold_resolution IS NULL
  ) unexpected, (
    SELECT CAST(count(*) FILTER (WHERE minutes < 1) AS integer) AS pending_minute,
           CAST(count(*) FILTER (WHERE minutes >= 1 AND minutes < 5) AS integer) AS pending_minutes,
           CAST(count(*) FILTER (WHERE minutes >= 5 AND minutes < 30) AS integer) AS pending_long,
           CAST(count(*) FILTER (WHERE minutes >= 30) AS integer) AS pending_overlong
    FROM (
      SELECT extract(epoch FROM now() - created_at) / 60 AS minutes
      FROM payment_attempt WHERE status IN ('CREATED', 'PENDING')
    ) ages
  ) open`;

/**
 * Payments that need an operator, and payments in progress by age. Counted when scraped, in one statement over indexes of
 * their own.
 */
export function measurePayments(registry: Registry, db: Database): void {
  measureRow(registry, GAUGES, { db, sql: COUNT });
}

/** Counts an attempt that ended with a result of its provider. */
export type CountResult = (attempt: Pick<AttemptRow, 'channel' | 'environment'>, status: AttemptStatus) => void;

const RESULTS = {
  name: 'meskot_payment_results_total',
  help: 'Payment attempts that a result of the provider ended, by the status that they got',
  labelNames: ['environment', 'channel', 'status'],
};

/** Once for each registry: an API and a worker in one process share it. */
export function countResults(registry: Registry): CountResult {
  const known = registry.getSingleMetric(RESULTS.name) as Counter | undefined;
  const counter = known ?? new Counter({ ...RESULTS, registers: [registry] });
  return ({ environment, channel }, status) => counter.inc({ environment, channel, status });
}

/** The journals that make transactions SUCCESS: their payments, and held ones that an operator released. */
const SUCCESS_JOURNALS = `
  SELECT id, resource_id FROM ledger_journal WHERE kind = 'PAYMENT'
  UNION ALL
  SELECT j.id, j.resource_id FROM ledger_journal j JOIN payment_attempt a ON j.posting_key = 'held-ended:' || a.id
  WHERE j.kind = 'HELD_ACCEPTED' AND a.status = 'SUCCEEDED'`;

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
