import { rows, type Queryable } from '../../lib/db.ts';
import { notFound } from '../../lib/errors.ts';
import { pageOffset, toPage, type DayRange, type Page } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import { findDeliveriesOf, type DeliveryRow } from '../delivery/queries.ts';
import { DELIVERY_STATUSES, type EventStatus } from '../delivery/states.ts';

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

const inScopeAndRange = (table: 'e' | 'd'): string =>
  `${table}.merchant_id = :merchantId AND ${table}.environment = :environment
   AND ${table}.created_at >= :from AND ${table}.created_at < :until`;

function eventConditions(filter: EventFilter): string[] {
  return [
    ...rangeConditions(filter),
    filter.event && 'e.event = :event',
    filter.resourceId && 'e.resource_id = :resourceId',
  ].filter((condition) => typeof condition === 'string');
}

/** Rare states, which have an index of their own: `webhook_delivery_undelivered`. */
const UNDELIVERED = new Set<EventStatus>(['FAILED', 'SKIPPED']);

/**
 * The merchant's events of the range with at least one delivery in a given state, to the given subscription if there is one:
 * the deliveries that a bulk resend of that state finds. NO_SUBSCRIBERS: events without any delivery. Whatever number of rows
 * the planner expects, neither form can become a join that reads all of them once per event.
 */
function rangeConditions({ statuses, subscriptionId }: EventFilter): string[] {
  if (statuses === null && subscriptionId === undefined) return [inScopeAndRange('e')];
  const states = (statuses ?? DELIVERY_STATUSES).filter((status) => status !== 'NO_SUBSCRIBERS');
  const list = states.map((status) => `'${status}'`).join(', ');
  const isMatch = [
    states.length === 0 ? 'false' : `d.status IN (${list})`,
    ...(subscriptionId === undefined ? [] : ['d.subscription_id = :subscriptionId']),
  ].join(' AND ');
  if (statuses?.every((status) => UNDELIVERED.has(status))) {
    // A delivery has the merchant and the time of its event.
    return [
      `e.id = ANY(ARRAY(SELECT d.event_id FROM webhook_delivery d WHERE ${inScopeAndRange('d')} AND ${isMatch}))`,
    ];
  }
  const matchesNone = statuses?.includes('NO_SUBSCRIBERS') === true && subscriptionId === undefined;
  return [
    inScopeAndRange('e'),
    `(SELECT coalesce(bool_or(${isMatch}), ${matchesNone}) FROM webhook_delivery d WHERE d.event_id = e.id)`,
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

async function withDeliveries(db: Queryable, events: BareEventRow[]): Promise<EventRow[]> {
  const byEvent = new Map(events.map((event) => [event.id, { ...event, deliveries: [] as DeliveryRow[] }]));
  if (byEvent.size === 0) return [];
  const deliveries = await findDeliveriesOf(db, [...byEvent.keys()]);
  for (const delivery of deliveries) byEvent.get(delivery.eventId)?.deliveries.push(delivery);
  return [...byEvent.values()];
}
