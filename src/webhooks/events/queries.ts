import { DAY_MS } from '../../lib/dates.ts';
import { rows, type Queryable } from '../../lib/db.ts';
import { notFound } from '../../lib/errors.ts';
import { toPage, pageOffset, type DayRange, type Page } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import { DELIVERY_STATUSES, type DeliveryStatus, type EventStatus } from '../delivery/states.ts';

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

type BareEventRow = MerchantScope & {
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

export type EventFilter = MerchantScope & {
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
    offset: pageOffset(page),
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
  const cut = toPage(page, counted?.total ?? 0, found);
  return { events: await withDeliveries(db, cut.rows), pagination: cut.pagination };
}

const OWN_IN_RANGE = (table: 'e' | 'd'): string =>
  `${table}.merchant_id = :merchantId AND ${table}.environment = :environment
   AND ${table}.created_at >= :from AND ${table}.created_at < :until`;

function eventConditions(filter: EventFilter): string[] {
  return [
    ...chosenEvents(filter),
    filter.event && 'e.event = :event',
    filter.resourceId && 'e.resource_id = :resourceId',
  ].filter((condition) => typeof condition === 'string');
}

/** States that few deliveries are in: those have an index of their own, `webhook_delivery_undelivered`. */
const UNDELIVERED = new Set<EventStatus>(['FAILED', 'SKIPPED']);

/**
 * The merchant's events of the range with at least one delivery in a wanted state, to the wanted subscription if one is
 * named: the deliveries that a bulk resend of that state finds. NO_SUBSCRIBERS: events without any delivery. Whatever
 * the planner believes about the number of rows, neither form can become a join that reads all of them once per event.
 */
function chosenEvents({ statuses, subscriptionId }: EventFilter): string[] {
  if (statuses === null && subscriptionId === undefined) return [OWN_IN_RANGE('e')];
  const states = (statuses ?? DELIVERY_STATUSES).filter((status) => status !== 'NO_SUBSCRIBERS');
  const named = states.map((status) => `'${status}'`).join(', ');
  const wanted = [
    states.length === 0 ? 'false' : `d.status IN (${named})`,
    ...(subscriptionId === undefined ? [] : ['d.subscription_id = :subscriptionId']),
  ].join(' AND ');
  if (statuses?.every((status) => UNDELIVERED.has(status))) {
    // A delivery has the merchant and the time of its event.
    return [`e.id = ANY(ARRAY(SELECT d.event_id FROM webhook_delivery d WHERE ${OWN_IN_RANGE('d')} AND ${wanted}))`];
  }
  const withoutAny = statuses?.includes('NO_SUBSCRIBERS') === true && subscriptionId === undefined;
  return [
    OWN_IN_RANGE('e'),
    `(SELECT coalesce(bool_or(${wanted}), ${withoutAny}) FROM webhook_delivery d WHERE d.event_id = e.id)`,
  ];
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
  };
}

/** One event with its deliveries. Throws NOT_FOUND, also for another merchant's. */
export async function findEvent(
  db: Queryable,
  query: MerchantScope & { eventId: string; withPayload: boolean },
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

/** How a subscription has been doing in the last 24 hours. */
export type HealthRow = {
  subscriptionId: string;
  /** The share of its deliveries that are DELIVERED among those that were tried, 0 … 1; null where none was. */
  successRate: number | null;
  lastFailure: (Failure & { httpStatus: number | null; at: string }) | null;
};

/** Health of these subscriptions, from the newest 1,000 deliveries of each, so that a busy one costs no more. */
export async function findHealth(db: Queryable, subscriptionIds: string[], now: Date): Promise<Map<string, HealthRow>> {
  const found = await rows<HealthRow>(
    db,
    `SELECT s.id AS subscription_id, h.success_rate, f.last_failure
     FROM unnest(CAST(:subscriptionIds AS text[])) AS s (id)
     CROSS JOIN LATERAL (
       SELECT array_agg(d.id) AS delivery_ids,
              CAST(avg(CASE WHEN d.status = 'DELIVERED' THEN 1 ELSE 0 END) AS double precision) AS success_rate
       FROM (SELECT id, status, attempts FROM webhook_delivery
             WHERE subscription_id = s.id AND status <> 'PENDING' AND created_at >= :since ORDER BY created_at DESC LIMIT 1000) d
       WHERE d.attempts > 0
     ) h
     LEFT JOIN LATERAL (
       SELECT a.failure || jsonb_build_object('httpStatus', a.http_status,
                'at', to_char(a.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS last_failure
       FROM webhook_attempt a WHERE a.delivery_id = ANY(h.delivery_ids) AND a.failure IS NOT NULL
       ORDER BY a.started_at DESC LIMIT 1
     ) f ON true`,
    { subscriptionIds, since: new Date(now.getTime() - DAY_MS) },
  );
  return new Map(found.map((row) => [row.subscriptionId, row]));
}
