import { rows, type Knex } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';
import type { DeliveryStatus } from './states.ts';

/**
 * Ends an open delivery as FAILED with a dead letter, because somebody cancelled its workflow. It can be resent. What
 * is final already stays as it is; a forced resend of a delivered one goes back to DELIVERED.
 * @returns what it is now; SKIPPED when it is gone.
 */
export async function giveUpDelivery(db: Knex, request: { deliveryId: string; at: Date }): Promise<DeliveryStatus> {
  const [now] = await rows<{ status: DeliveryStatus }>(
    db,
    `WITH given_up AS (
       UPDATE webhook_delivery
       SET status = CASE WHEN resend_from = 'DELIVERED' THEN 'DELIVERED' ELSE 'FAILED' END, next_attempt_at = NULL, resend_from = NULL, sending_attempt_id = NULL, sending_since = NULL,
           dead_lettered_at = CASE WHEN resend_from = 'DELIVERED' THEN dead_lettered_at ELSE coalesce(dead_lettered_at, :at) END
       WHERE id = :deliveryId AND status IN ('PENDING', 'RETRYING')
       RETURNING id, merchant_id, environment, status
     ), told AS (
       DELETE FROM outbox b USING given_up g WHERE b.delivery_id = g.id
     ), dead AS (
       INSERT INTO webhook_dead_letter (id, delivery_id, merchant_id, environment, opened_at, reason)
       SELECT :deadLetterId, id, merchant_id, environment, :at, 'canceled' FROM given_up WHERE status = 'FAILED'
       ON CONFLICT (delivery_id) WHERE closed_at IS NULL DO NOTHING
     )
     SELECT coalesce(g.status, d.status) AS status
     FROM webhook_delivery d LEFT JOIN given_up g ON g.id = d.id WHERE d.id = :deliveryId`,
    { ...request, deadLetterId: newId('whl') },
  );
  return now?.status ?? 'SKIPPED';
}
