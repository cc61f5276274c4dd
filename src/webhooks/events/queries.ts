import { z } from 'zod';

import { first, rows, type Queryable } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import { paginateNewest } from '../../lib/paginate-newest.ts';
import { pageOffset, readPage, toPage, type DayRange, type Page } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import { DELIVERY_STATUSES, WORST_FIRST, type EventStatus } from '../delivery/states.ts';
import { Delivery, type Attempt, type Event, type EventListQuery } from './schema.ts';

/** A delivery with its event, for the detail of the resource that the event is about. */
export const ResourceDelivery = z.object({ eventId: z.string(), event: z.string(), ...Delivery.shape });
export type ResourceDelivery = z.input<typeof ResourceDelivery>;

const DELIVERIES = `
  SELECT d.*, d.id AS delivery_id, s.url FROM webhook_delivery d JOIN webhook_subscription s ON s.id = d.subscription_id`;

/** The current state of these deliveries. */
export async function findDeliveries(db: Queryable, deliveryIds: string[]): Promise<ResourceDelivery[]> {
  return rows(db, `${DELIVERIES} WHERE d.id = ANY(:deliveryIds) ORDER BY d.id`, { deliveryIds });
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
export async function listAttempts(db: Queryable, event: MerchantScope & { eventId: string }, page: Page) {
  const { total } = found(
    await first<{ total: number }>(
      db,
      `SELECT CAST((SELECT count(*) FROM webhook_attempt a JOIN webhook_delivery d ON d.id = a.delivery_id
                    WHERE d.event_id = e.id) AS integer) AS total
       FROM webhook_event e WHERE e.id = :eventId AND e.merchant_id = :merchantId AND e.environment = :environment`,
      event,
    ),
    'event',
  );
  const attempts = await rows<AttemptRow>(
    db,
    `SELECT a.*, CAST(a.started_at AS text) AS position, a.id AS attempt_id, d.subscription_id, a.source AS "trigger"
     FROM webhook_attempt a JOIN webhook_delivery d ON d.id = a.delivery_id
     WHERE d.event_id = :eventId
       ${page.after ? 'AND (a.started_at, a.id) > (CAST(:at AS timestamptz), :id)' : ''}
     ORDER BY a.started_at, a.id LIMIT :most OFFSET :offset`,
    { ...event, ...page.after, most: page.limit + 1, offset: pageOffset(page) },
  );
  return toPage(page, total, attempts);
}

export type EventRow = z.input<typeof Event>;

type EventFilter = MerchantScope & z.output<typeof EventListQuery> & { range: DayRange };

const columnsOf = (
  include: 'payload' | undefined,
): string => `e.id, e.id AS event_id, e.merchant_id, e.environment, e.event,
  e.api_version, e.resource_type, e.resource_id, e.created_at
  ${include ? ", CAST(convert_from(e.payload, 'UTF8') AS json) AS payload" : ''}`;

/** A page of a merchant's events, newest first, with their deliveries. Three statements. */
export async function listEvents(db: Queryable, filter: EventFilter) {
  const conditions = [
    ...deliveryConditions(filter),
    ...(filter.event === undefined ? [] : ['e.event = :event']),
    ...(filter.resourceId === undefined ? [] : ['e.resource_id = :resourceId']),
  ];
  const listed = {
    columns: columnsOf(filter.include),
    table: 'webhook_event e',
    time: 'e.created_at',
    where: conditions.join(' AND '),
    values: { ...filter, ...filter.range },
  };
  const { rows: events, pagination } = await paginateNewest<BareEvent>(db, listed, readPage(filter));
  return { data: await withDeliveries(db, events), pagination };
}

const inScopeAndRange = (table: 'e' | 'd'): string =>
  `${table}.merchant_id = :merchantId AND ${table}.environment = :environment
   AND ${table}.created_at >= :from AND ${table}.created_at < :until`;

/** Rare states, which have an index of their own: `webhook_delivery_undelivered`. */
const UNDELIVERED = new Set<EventStatus>(['FAILED', 'SKIPPED']);

/**
 * The merchant's events of the range with at least one delivery in a given state, to the given subscription if there is one:
 * the deliveries that a bulk resend of that state finds. NO_SUBSCRIBERS: events without any delivery. Whatever number of rows
 * the planner expects, neither form can become a join that reads all of them once per event.
 */
function deliveryConditions({ status: statuses, subscriptionId }: EventFilter): string[] {
  if (!statuses && subscriptionId === undefined) return [inScopeAndRange('e')];
  const list = (statuses ?? DELIVERY_STATUSES).map((status) => `'${status}'`).join(', ');
  const isMatch = `d.status IN (${list}) ${subscriptionId === undefined ? '' : 'AND d.subscription_id = :subscriptionId'}`;
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

type EventTarget = MerchantScope & { eventId: string; include?: 'payload' | undefined };

/** One event with its deliveries. Throws NOT_FOUND, also for another merchant's. */
export async function findEvent(db: Queryable, { include, ...target }: EventTarget): Promise<EventRow> {
  const events = await rows<BareEvent>(
    db,
    `SELECT ${columnsOf(include)} FROM webhook_event e
     WHERE e.id = :eventId AND e.merchant_id = :merchantId AND e.environment = :environment`,
    target,
  );
  const [event] = await withDeliveries(db, events);
  return found(event, 'event');
}

type BareEvent = Omit<EventRow, 'deliveries' | 'status'> & { id: string };

/** An event's own status is that of its worst delivery. */
async function withDeliveries(db: Queryable, events: BareEvent[]): Promise<EventRow[]> {
  const eventIds = events.map((event) => event.eventId);
  const all = await rows<ResourceDelivery>(db, `${DELIVERIES} WHERE d.event_id = ANY(:eventIds) ORDER BY d.id`, {
    eventIds,
  });
  return events.map((event) => {
    const deliveries = all.filter((delivery) => delivery.eventId === event.eventId);
    const worst = WORST_FIRST.find((status) => deliveries.some((delivery) => delivery.status === status));
    return { ...event, status: worst ?? 'NO_SUBSCRIBERS', deliveries };
  });
}
