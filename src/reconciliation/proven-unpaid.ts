import { rows, type Queryable } from '../lib/db.ts';

/**
 * Transactions that ended while their provider did not know, and that no list has: from the day each try was sent to
 * the day the session ended, the whole list was read after that day was over.
 */
export async function findProvenUnpaid(
  db: Queryable,
  asked: { reconciliationId: string; at: Date },
): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    `SELECT t.id FROM reconciliation this JOIN transaction t ON t.environment = this.environment
     JOIN checkout_session s ON s.id = t.session_id
     WHERE this.id = :reconciliationId AND t.reconcile AND s.ended_at <= :at
       AND EXISTS (SELECT FROM payment_attempt a WHERE a.transaction_id = t.id AND a.channel = this.channel)
       AND NOT EXISTS (
         SELECT FROM payment_attempt a, generate_series(
           CAST(a.initiated_at AT TIME ZONE 'Africa/Addis_Ababa' AS date),
           CAST(s.ended_at AT TIME ZONE 'Africa/Addis_Ababa' AS date), interval '1 day') AS lived (day)
         WHERE a.transaction_id = t.id AND NOT EXISTS (
           SELECT FROM reconciliation r
           WHERE r.environment = a.environment AND r.channel = a.channel AND r.day = CAST(lived.day AS date) AND r.read > 0
             AND r.read_begun_at >= CAST(r.day + 1 AS timestamp) AT TIME ZONE 'Africa/Addis_Ababa'))
       AND NOT EXISTS (
         SELECT FROM payment_attempt a JOIN listed_row l ON l.order_id = a.id AND l.type = 'payment'
         WHERE a.transaction_id = t.id)
     ORDER BY t.id`,
    asked,
  );
  return found.map(({ id }) => id);
}
