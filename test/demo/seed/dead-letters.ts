import { rows, type Queryable } from '../../../src/lib/db.ts';

/** The open dead letters, and over how many hours their attempts were made. */
export async function findDeadLetters(db: Queryable) {
  return rows<{ eventId: string; url: string; attempts: number; hours: string }>(
    db,
    `SELECT d.event_id, s.url, d.attempts, extract(epoch FROM max(w.started_at) - min(w.started_at)) / 3600 AS hours
     FROM webhook_dead_letter l JOIN webhook_delivery d ON d.id = l.delivery_id
     JOIN webhook_subscription s ON s.id = d.subscription_id JOIN webhook_attempt w ON w.delivery_id = d.id
     WHERE l.closed_at IS NULL AND l.opened_at < now() AND d.status = 'FAILED' GROUP BY d.id, s.id`,
  );
}
