import type { WorkItemSource } from '../../outbox/work-items.ts';

/** Deliveries whose next attempt is more than a minute late. */
export const STALLED_DELIVERIES: WorkItemSource = {
  kinds: ['DELIVERY_PAST_DUE'],
  sql: `SELECT 'DELIVERY_PAST_DUE' AS kind, d.id, d.merchant_id, d.environment, NULL::bigint AS amount_santim,
               d.next_attempt_at AS since,
               'The next attempt is late; ' || d.attempts || ' were made' AS what,
               jsonb_build_object('event', d.event, 'eventId', d.event_id, 'subscriptionId', d.subscription_id,
                                  'attempts', d.attempts) AS detail,
               'delivery-' || d.event_id || '-' || d.subscription_id AS workflow_id
        FROM webhook_delivery d
        WHERE d.next_attempt_at < CAST(:at AS timestamptz) - interval '1 minute'
          AND (d.status = 'PENDING' AND d.status_before_resend IS NULL OR d.status = 'RETRYING' OR d.status_before_resend IS NOT NULL)`,
};
