import { DAY_MS } from '../lib/dates.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import type { Owner } from '../lib/owner.ts';
import { cutPage, offsetOf, type DayRange, type Page } from '../lib/page.ts';
import type { DeliveryStatus, EventStatus } from './states.ts';

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

type BareEventRow = Owner & {
  id: string;
  position: string;
  event: string;
  apiVersion: string;
  resourceType: string;
  resourceId: string;
  status: EventStatus;
  createdAt: Date;
  payload?: Buffer;
};

export type EventRow = BareEventRow & { deliveries: DeliveryRow[] };

export type AttemptRow = {
  id: string;
  position: string;
  deliveryId: string;
  subscriptionId: string;
  sequence: number;
  deliveryNumber: number | null;
  retryNumber: number | null;
  trigger: 'auto' | 'manual' | 'operator';
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

export type EventFilter = Owner & {
  range: DayRange;
  /** null = any */
  statuses: EventStatus[] | null;
  event?: string | undefined;
  subscriptionId?: string | undefined;
  resourceId?: string | undefined;
  withPayload: boolean;
};

/** An event's own status: its worst delivery first. */
const EVENT_STATUS = `(
  SELECT CASE WHEN count(*) = 0 THEN 'NO_SUBSCRIBERS'
              WHEN bool_or(d.status = 'FAILED') THEN 'FAILED'
              WHEN bool_or(d.status = 'RETRYING') THEN 'RETRYING'
              WHEN bool_or(d.status = 'PENDING') THEN 'PENDING'
              WHEN bool_or(d.status = 'DELIVERED') THEN 'DELIVERED'
              ELSE 'SKIPPED' END
  FROM webhook_delivery d WHERE d.event_id = e.id)`;

const EVENT_COLUMNS = `e.id, CAST(e.created_at AS text) AS position, e.merchant_id, e.environment, e.event,
  e.api_version, e.resource_type, e.resource_id, e.created_at, ${EVENT_STATUS} AS status`;

/** A page of a merchant's events, newest first, with their deliveries. Three statements. */
export async function listEvents(db: Queryable, filter: EventFilter, page: Page) {
  const where = eventConditions(filter).join(' AND ');
  const after = page.after ? 'AND (e.created_at, e.id) < (CAST(:afterAt AS timestamptz), :afterId)' : '';
  const bindings = {
    ...eventBindings(filter),
    afterAt: page.after?.at ?? null,
    afterId: page.after?.id ?? null,
    limit: page.limit + 1,
    offset: offsetOf(page),
  };
  const [counted] = await rows<{ total: number }>(
    db,
    `SELECT CAST(count(*) AS integer) AS total FROM webhook_event e WHERE ${where}`,
    bindings,
  );
  const found = await rows<BareEventRow>(
    db,
    `SELECT ${EVENT_COLUMNS} ${filter.withPayload ? ', e.payload' : ''}
     FROM webhook_event e
     WHERE ${where} ${after}
     ORDER BY e.created_at DESC, e.id DESC LIMIT :limit OFFSET :offset`,
    bindings,
  );
  const cut = cutPage(page, counted?.total ?? 0, found);
  return { events: await withDeliveries(db, cut.rows), pagination: cut.pagination };
}

function eventConditions(filter: EventFilter): string[] {
  return [
    'e.merchant_id = :merchantId AND e.environment = :environment AND e.created_at >= :from AND e.created_at < :until',
    filter.event && 'e.event = :event',
    filter.resourceId && 'e.resource_id = :resourceId',
    filter.subscriptionId &&
      'EXISTS (SELECT FROM webhook_delivery d WHERE d.event_id = e.id AND d.subscription_id = :subscriptionId)',
    filter.statuses && `${EVENT_STATUS} = ANY(:statuses)`,
  ].filter((condition) => typeof condition === 'string');
}

function eventBindings(filter: EventFilter) {
  return {
    merchantId: filter.merchantId,
    environment: filter.environment,
    from: filter.range.from,
    until: filter.range.until,
    event: filter.event ?? null,
    resourceId: filter.resourceId ?? null,
    subscriptionId: filter.subscriptionId ?? null,
    statuses: filter.statuses,
  };
}

/** One event with its deliveries. Throws NOT_FOUND, also for another merchant's. */
export async function findEvent(
  db: Queryable,
  query: Owner & { eventId: string; withPayload: boolean },
): Promise<EventRow> {
  const found = await rows<BareEventRow>(
    db,
    `SELECT ${EVENT_COLUMNS} ${query.withPayload ? ', e.payload' : ''}
     FROM webhook_event e
     WHERE e.id = :eventId AND e.merchant_id = :merchantId AND e.environment = :environment`,
    { eventId: query.eventId, merchantId: query.merchantId, environment: query.environment },
  );
  const [event] = await withDeliveries(db, found);
  if (!event) throw notFound('event');
  return event;
}

const DELIVERIES = `
  SELECT d.id, d.event_id, d.subscription_id, s.url, d.status, d.attempts, d.last_attempt_at, d.last_http_status,
         d.last_failure, d.next_attempt_at, d.dead_lettered_at, d.delivered_at
  FROM webhook_delivery d JOIN webhook_subscription s ON s.id = d.subscription_id`;

async function withDeliveries(db: Queryable, events: BareEventRow[]): Promise<EventRow[]> {
  const byEvent = new Map(events.map((event) => [event.id, { ...event, deliveries: [] as DeliveryRow[] }]));
  if (byEvent.size === 0) return [];
  const deliveries = await rows<DeliveryRow>(db, `${DELIVERIES} WHERE d.event_id = ANY(:eventIds) ORDER BY d.id`, {
    eventIds: [...byEvent.keys()],
  });
  for (const delivery of deliveries) byEvent.get(delivery.eventId)?.deliveries.push(delivery);
  return [...byEvent.values()];
}

/** These deliveries, as they are now. */
export async function findDeliveries(db: Queryable, deliveryIds: string[]): Promise<DeliveryRow[]> {
  return rows(db, `${DELIVERIES} WHERE d.id = ANY(:deliveryIds) ORDER BY d.id`, { deliveryIds });
}

/** A page of an event's attempts, oldest first, over all its deliveries. Throws NOT_FOUND, also for another merchant's event. */
export async function listAttempts(db: Queryable, query: Owner & { eventId: string }, page: Page) {
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
            a.delivery_number, a.retry_number, a.trigger, a.reason, a.url, a.started_at, a.duration_ms, a.timings,
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
      offset: offsetOf(page),
    },
  );
  const cut = cutPage(page, counted.total, found);
  return { attempts: cut.rows, pagination: cut.pagination };
}

/** How a subscription has been doing in the last 24 hours. */
export type HealthRow = {
  subscriptionId: string;
  /** 0 … 1; null without a finished attempt. */
  successRate: number | null;
  lastFailure: (Failure & { httpStatus: number | null; at: string }) | null;
};

/** Health of these subscriptions, from the newest 1,000 deliveries of each, so that a busy one costs no more. */
export async function findHealth(db: Queryable, subscriptionIds: string[], now: Date): Promise<Map<string, HealthRow>> {
  const found = await rows<HealthRow>(
    db,
    `SELECT s.id AS subscription_id,
            CAST(avg(CASE WHEN a.failure IS NULL THEN 1 ELSE 0 END) AS double precision) AS success_rate,
            (array_agg(a.failure || jsonb_build_object('httpStatus', a.http_status,
               'at', to_char(a.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
               ORDER BY a.started_at DESC) FILTER (WHERE a.failure IS NOT NULL))[1] AS last_failure
     FROM unnest(CAST(:subscriptionIds AS text[])) AS s (id)
     CROSS JOIN LATERAL (
       SELECT d.id FROM webhook_delivery d
       WHERE d.subscription_id = s.id AND d.status <> 'PENDING' AND d.created_at >= :since ORDER BY d.created_at DESC LIMIT 1000
     ) d
     JOIN webhook_attempt a ON a.delivery_id = d.id AND a.ended_at IS NOT NULL
     GROUP BY s.id`,
    { subscriptionIds, since: new Date(now.getTime() - DAY_MS) },
  );
  return new Map(found.map((row) => [row.subscriptionId, row]));
}
