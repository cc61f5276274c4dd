import { rows, type Queryable } from '../lib/db.ts';

/** Lists that were asked for in the same night may lack the same money for the same reason. */
const NEXT_NIGHT = `interval '12 hours'`;

/**
 * Transactions that ended while their provider did not know, and that were not paid by two witnesses. One list that has
 * nothing of them is no proof: providers complete their lists late. So, of each try, for each day from the one it was sent
 * on to the one its session ended on, and only if no list ever had it: the lists of two nights after that day, or one of
 * them and the provider's own definite "not paid", asked about this very try.
 */
export async function findProvenUnpaid(
  db: Queryable,
  queried: { reconciliationId: string; at: Date },
): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    // Who ended in doubt was last answered "unknown": any other answer is of later.
    `SELECT t.id FROM reconciliation this JOIN transaction t ON t.environment = this.environment
     JOIN checkout_session s ON s.id = t.session_id
     WHERE this.id = :reconciliationId AND t.needs_reconciliation AND s.ended_at <= :at
       AND EXISTS (SELECT FROM payment_attempt a WHERE a.transaction_id = t.id AND a.channel = this.channel)
       AND NOT EXISTS (
         SELECT FROM payment_attempt a, generate_series(
           CAST(a.initiated_at AT TIME ZONE 'Africa/Addis_Ababa' AS date),
           CAST(s.ended_at AT TIME ZONE 'Africa/Addis_Ababa' AS date), interval '1 day') AS lived (day)
         WHERE a.transaction_id = t.id AND NOT EXISTS (
           SELECT FROM reconciliation r
           WHERE r.environment = a.environment AND r.channel = a.channel AND r.day = CAST(lived.day AS date)
             AND (r.last_import_started_at >= r.first_import_started_at + ${NEXT_NIGHT}
               OR (r.first_import_started_at IS NOT NULL AND a.last_outcome IN ('accepted', 'pending', 'declined')))))
       AND NOT EXISTS (
         SELECT FROM payment_attempt a JOIN statement_row l ON l.order_id = a.id AND l.type = 'payment'
         WHERE a.transaction_id = t.id)
     ORDER BY t.id`,
    queried,
  );
  return found.map(({ id }) => id);
}
