import { z } from 'zod';

import { first, rows, type Queryable } from '../../lib/db.ts';
import { notFound } from '../../lib/errors.ts';
import { pageOffset, toPage, type Page } from '../../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { Delivery, type Attempt } from './schema.ts';

/** A delivery with its event, for the detail of the resource that the event is about. */
export const ResourceDelivery = z.object({ eventId: z.string(), event: z.string(), ...Delivery.shape });
export type ResourceDelivery = z.input<typeof ResourceDelivery>;

const DELIVERIES = `
  SELECT d.id AS delivery_id, d.event_id, d.event, d.subscription_id, s.url, d.status, d.attempts, d.last_attempt_at,
         d.last_http_status, d.last_failure, d.next_attempt_at, d.dead_lettered_at, d.delivered_at
  FROM webhook_delivery d JOIN webhook_subscription s ON s.id = d.subscription_id`;

/** The current state of these deliveries. */
export async function findDeliveries(db: Queryable, deliveryIds: string[]): Promise<ResourceDelivery[]> {
  return rows(db, `${DELIVERIES} WHERE d.id = ANY(:deliveryIds) ORDER BY d.id`, { deliveryIds });
}

/** All deliveries of these events. */
export async function findDeliveriesOf(db: Queryable, eventIds: string[]): Promise<ResourceDelivery[]> {
  return rows(db, `${DELIVERIES} WHERE d.event_id = ANY(:eventIds) ORDER BY d.id`, { eventIds });
}

/** Every delivery of the events about one resource (a transaction), oldest event first. */
export async function findResourceDeliveries(
  db: Queryable,
  scope: MerchantScope,
  resourceId: string,
): Promise<ResourceDelivery[]> {
  return rows(
    db,
    `${DELIVERIES} JOIN webhook_event e ON e.id = d.event_id
     WHERE e.merchant_id = :merchantId AND e.environment = :environment AND e.resource_id = :resourceId
     ORDER BY e.created_at, d.id`,
    { ...scope, resourceId },
  );
}

type AttemptRow = z.input<typeof Attempt> & { id: string; position: string };

/** A page of an event's attempts, oldest first, over all its deliveries. Throws NOT_FOUND, also for another merchant's event. */
export async function listAttempts(db: Queryable, query: MerchantScope & { eventId: string }, page: Page) {
  const { eventId } = query;
  const counted = await first<{ total: number }>(
    db,
    `SELECT CAST((SELECT count(*) FROM webhook_attempt a JOIN webhook_delivery d ON d.id = a.delivery_id
                  WHERE d.event_id = e.id) AS integer) AS total
     FROM webhook_event e
     WHERE e.id = :eventId AND e.merchant_id = :merchantId AND e.environment = :environment`,
    { ...scopeOf(query), eventId },
  );
  if (!counted) throw notFound('event');
  const found = await rows<AttemptRow>(
    db,
    `SELECT a.id, CAST(a.started_at AS text) AS position, a.id AS attempt_id, a.delivery_id, d.subscription_id, a.sequence,
            a.delivery_number, a.retry_number, a.source AS "trigger", a.reason, a.url, a.started_at, a.duration_ms,
            a.timings, a.http_status, a.failure, a.response_headers, a.response_excerpt, a.secret_hint
     FROM webhook_attempt a JOIN webhook_delivery d ON d.id = a.delivery_id
     WHERE d.event_id = :eventId
       ${page.after ? 'AND (a.started_at, a.id) > (CAST(:afterAt AS timestamptz), :afterId)' : ''}
     ORDER BY a.started_at, a.id LIMIT :limit OFFSET :offset`,
    {
      eventId,
      afterAt: page.after?.at ?? null,
      afterId: page.after?.id ?? null,
      limit: page.limit + 1,
      offset: pageOffset(page),
    },
  );
  return toPage(page, counted.total, found);
}
