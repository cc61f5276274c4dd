import { measureRow, type Registry } from '../http/metrics.ts';
import type { Database } from '../lib/db.ts';

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
