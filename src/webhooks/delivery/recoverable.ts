import { rows, type Queryable } from '../../lib/db.ts';
import type { OpenPage, RecoverableWorkflow } from '../../outbox/recoverable.ts';
import type { WorkItemSource } from '../../outbox/work-items.ts';
import { isScheduled } from './in-flight.ts';
import { CHECKOUT_ORDER_NO, deliveryWorkflow, type DeliveryToStart } from './workflow-input.ts';

/** Of each subscription, so that many late deliveries of one hide none of another. */
const PAST_DUE_OF_EACH = 5;
const PAST_DUE_MAX = 1_000;

/** The latest first. A loose scan: deliveries whose attempt is due later are not read. */
const PAST_DUE = `
  WITH RECURSIVE waiting (subscription_id) AS (
    SELECT min(d.subscription_id) FROM webhook_delivery d WHERE ${isScheduled('d')}
    UNION ALL
    SELECT (SELECT min(d.subscription_id) FROM webhook_delivery d WHERE ${isScheduled('d')} AND d.subscription_id > w.subscription_id)
    FROM waiting w WHERE w.subscription_id IS NOT NULL
  )
  SELECT late.id FROM waiting w CROSS JOIN LATERAL (
    SELECT d.id, d.next_attempt_at FROM webhook_delivery d
    WHERE ${isScheduled('d')} AND d.subscription_id = w.subscription_id AND d.next_attempt_at < now() - interval '60 seconds'
    ORDER BY d.next_attempt_at LIMIT ${PAST_DUE_OF_EACH}) late
  ORDER BY late.next_attempt_at LIMIT ${PAST_DUE_MAX}`;

/**
 * Deliveries that wait for a retry or a resend and have no outbox row, so must have a running workflow. First attempts are
 * left to the dispatcher. Past due: the next attempt is a minute late. Deliveries recorded or attempted in the last half
 * minute are left out, because Temporal's list of workflows lags.
 */
export async function findRecoverableDeliveries(
  db: Queryable,
  { onlyPastDue, ...page }: OpenPage,
): Promise<RecoverableWorkflow[]> {
  const open = await rows<DeliveryToStart & { overdue: boolean }>(
    db,
    `SELECT d.id AS delivery_id, d.event_id, d.event AS event_type, d.subscription_id, d.merchant_id, d.environment,
            d.retry_count AS attempts_made, d.next_attempt_at, s.url, ${CHECKOUT_ORDER_NO} AS checkout_order_no,
            d.next_attempt_at < now() - interval '60 seconds' AS overdue
     FROM webhook_delivery d
     JOIN webhook_subscription s ON s.id = d.subscription_id
     JOIN webhook_event e ON e.id = d.event_id
     WHERE d.id > :after AND ${isScheduled('d')}
       AND greatest(d.created_at, d.last_attempt_at) < now() - interval '30 seconds'
       AND NOT EXISTS (SELECT FROM outbox b WHERE b.workflow_id = 'delivery-' || d.event_id || '-' || d.subscription_id)
       ${onlyPastDue ? `AND d.id = ANY (ARRAY(${PAST_DUE}))` : ''}
     ORDER BY d.id LIMIT :limit`,
    page,
  );
  return open.map((delivery) => ({
    id: delivery.deliveryId,
    overdue: delivery.overdue,
    message: {
      kind: 'signalWithStart',
      signal: 'deliveryChanged',
      priority: 'normal',
      ...deliveryWorkflow({ ...delivery, lastOutcome: null }),
    },
  }));
}

/** Deliveries whose next attempt is more than a minute late. */
export const STALLED_DELIVERIES: WorkItemSource = {
  kinds: ['DELIVERY_PAST_DUE'],
  sql: `SELECT 'DELIVERY_PAST_DUE' AS kind, d.id, d.merchant_id, d.environment, NULL::bigint AS amount_santim,
               d.next_attempt_at AS since,
               'The next attempt is late; attempts so far: ' || d.attempts AS what,
               jsonb_build_object('event', d.event, 'eventId', d.event_id, 'subscriptionId', d.subscription_id,
                                  'attempts', d.attempts) AS detail,
               'delivery-' || d.event_id || '-' || d.subscription_id AS workflow_id
        FROM webhook_delivery d
        WHERE d.next_attempt_at < CAST(:at AS timestamptz) - interval '1 minute'
          AND (d.status = 'PENDING' AND d.status_before_resend IS NULL OR d.status = 'RETRYING' OR d.status_before_resend IS NOT NULL)`,
};
