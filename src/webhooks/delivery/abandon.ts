import { rows, type Knex } from '../../lib/db.ts';
import { newId } from '../../lib/ids.ts';
import type { DeliveryStatus } from './states.ts';

/**
 * Ends a delivery that is not final as FAILED with a dead letter, because its workflow was cancelled. It can be resent.
 * A final one stays as it is; a forced resend of a delivered one goes back to DELIVERED.
 * @returns its status now; SKIPPED when it is gone.
 */
export async function abandonDelivery(db: Knex, request: { deliveryId: string; at: Date }): Promise<DeliveryStatus> {
  const [now] = await rows<{ status: DeliveryStatus }>(
    db,
    `WITH abandoned AS (
       UPDATE webhook_delivery
       SET status = CASE WHEN status_before_resend = 'DELIVERED' THEN 'DELIVERED' ELSE 'FAILED' END, next_attempt_at = NULL,
           status_before_resend = NULL, in_flight_attempt_id = NULL, in_flight_since = NULL,
           dead_lettered_at = CASE WHEN status_before_resend = 'DELIVERED' THEN dead_lettered_at ELSE coalesce(dead_lettered_at, :at) END
       WHERE id = :deliveryId AND status IN ('PENDING', 'RETRYING')
       RETURNING id, merchant_id, environment, status
     ), dead_letter AS (
       INSERT INTO webhook_dead_letter (id, delivery_id, merchant_id, environment, opened_at, reason)
       SELECT :deadLetterId, id, merchant_id, environment, :at, 'canceled' FROM abandoned WHERE status = 'FAILED'
       ON CONFLICT (delivery_id) WHERE closed_at IS NULL DO NOTHING
     )
     SELECT coalesce(a.status, d.status) AS status
     FROM webhook_delivery d LEFT JOIN abandoned a ON a.id = d.id WHERE d.id = :deliveryId`,
    { ...request, deadLetterId: newId('whl') },
  );
  return now?.status ?? 'SKIPPED';
}
