import { rows, type Queryable } from '../../lib/db.ts';
import { notFound } from '../../lib/errors.ts';
import { pageOffset, toPage, type Page } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { DeliveryStatus } from './states.ts';

type Failure = { code: string; message: string };

export type DeliveryRow = {
  id: string;
  eventId: string;
  subscriptionId: string;
  url: string;
  status: DeliveryStatus;
  attempts: number;
  lastAttemptAt: Date | null;
  lastHttpStatus: number | null;
  lastFailure: Failure | null;
  nextAttemptAt: Date | null;
  deadLetteredAt: Date | null;
  deliveredAt: Date | null;
};

export type AttemptRow = {
  id: string;
  position: string;
  deliveryId: string;
  subscriptionId: string;
  sequence: number;
  deliveryNumber: number | null;
  retryNumber: number | null;
  source: 'auto' | 'manual' | 'operator';
  reason: string | null;
  url: string;
  startedAt: Date;
  durationMs: number | null;
  timings: Record<string, number | null> | null;
  httpStatus: number | null;
  failure: Failure | null;
  responseHeaders: Record<string, string> | null;
  responseExcerpt: string | null;
  secretHint: string;
};

const DELIVERIES = `
  SELECT d.id, d.event_id, d.subscription_id, s.url, d.status, d.attempts, d.last_attempt_at, d.last_http_status,
         d.last_failure, d.next_attempt_at, d.dead_lettered_at, d.delivered_at
  FROM webhook_delivery d JOIN webhook_subscription s ON s.id = d.subscription_id`;

/** The current state of these deliveries. */
export async function findDeliveries(db: Queryable, deliveryIds: string[]): Promise<DeliveryRow[]> {
  return rows(db, `${DELIVERIES} WHERE d.id = ANY(:deliveryIds) ORDER BY d.id`, { deliveryIds });
}

/** All deliveries of these events. */
export async function findDeliveriesOf(db: Queryable, eventIds: string[]): Promise<DeliveryRow[]> {
  return rows(db, `${DELIVERIES} WHERE d.event_id = ANY(:eventIds) ORDER BY d.id`, { eventIds });
}

/** A page of an event's attempts, oldest first, over all its deliveries. Throws NOT_FOUND, also for another merchant's event. */
export async function listAttempts(db: Queryable, query: MerchantScope & { eventId: string }, page: Page) {
  const [counted] = await rows<{ total: number }>(
    db,
    `SELECT CAST((SELECT count(*) FROM webhook_attempt a JOIN webhook_delivery d ON d.id = a.delivery_id
                  WHERE d.event_id = e.id) AS integer) AS total
     FROM webhook_event e
     WHERE e.id = :eventId AND e.merchant_id = :merchantId AND e.environment = :environment`,
    { eventId: query.eventId, merchantId: query.merchantId, environment: query.environment },
  );
  if (!counted) throw notFound('event');
  const found = await rows<AttemptRow>(
    db,
    `SELECT a.id, CAST(a.started_at AS text) AS position, a.delivery_id, d.subscription_id, a.sequence,
            a.delivery_number, a.retry_number, a.source, a.reason, a.url, a.started_at, a.duration_ms, a.timings,
            a.http_status, a.failure, a.response_headers, a.response_excerpt, a.secret_hint
     FROM webhook_attempt a JOIN webhook_delivery d ON d.id = a.delivery_id
     WHERE d.event_id = :eventId
       ${page.after ? 'AND (a.started_at, a.id) > (CAST(:afterAt AS timestamptz), :afterId)' : ''}
     ORDER BY a.started_at, a.id LIMIT :limit OFFSET :offset`,
    {
      eventId: query.eventId,
      afterAt: page.after?.at ?? null,
      afterId: page.after?.id ?? null,
      limit: page.limit + 1,
      offset: pageOffset(page),
    },
  );
  const cut = toPage(page, counted.total, found);
  return { attempts: cut.rows, pagination: cut.pagination };
}
