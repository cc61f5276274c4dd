import type { z } from 'zod';

import { rows, type Queryable } from '../../lib/db.ts';
import { notFound } from '../../lib/errors.ts';
import { paginateNewest } from '../../lib/paginate-newest.ts';
import type { DayRange, Page } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import { findDeliveriesOf } from '../delivery/queries.ts';
import { DELIVERY_STATUSES, type EventStatus } from '../delivery/states.ts';
import type { Event, EventListQuery } from './schema.ts';

export type EventRow = z.input<typeof Event>;

type EventFilter = MerchantScope &
  Pick<z.output<typeof EventListQuery>, 'event' | 'subscriptionId' | 'resourceId'> & {
    range: DayRange;
    /** null = any */
    statuses: EventStatus[] | null;
    withPayload: boolean;
  };

/** In SQL: an event's own status is that of its worst delivery. */
const EVENT_STATUS = `(
  SELECT CASE WHEN count(*) = 0 THEN 'NO_SUBSCRIBERS'
              WHEN bool_or(d.status = 'FAILED') THEN 'FAILED'
              WHEN bool_or(d.status = 'RETRYING') THEN 'RETRYING'
              WHEN bool_or(d.status = 'PENDING') THEN 'PENDING'
              WHEN bool_or(d.status = 'DELIVERED') THEN 'DELIVERED'
              ELSE 'SKIPPED' END
  FROM webhook_delivery d WHERE d.event_id = e.id)`;

const columnsOf = (withPayload: boolean): string => `e.id, e.id AS event_id, e.merchant_id, e.environment, e.event,
  e.api_version, e.resource_type, e.resource_id, e.created_at, ${EVENT_STATUS} AS status
  ${withPayload ? ", CAST(convert_from(e.payload, 'UTF8') AS json) AS payload" : ''}`;

/** A page of a merchant's events, newest first, with their deliveries. Three statements. */
export async function listEvents(db: Queryable, filter: EventFilter, page: Page) {
  const { range, withPayload, statuses: _statuses, ...values } = filter;
  const listed = {
    columns: columnsOf(withPayload),
    table: 'webhook_event e',
    time: 'e.created_at',
    where: conditionsOf(filter).join(' AND '),
    values: { ...values, from: range.from, until: range.until },
  };
  const { rows: events, pagination } = await paginateNewest<BareEvent>(db, listed, page);
  return { events: await withDeliveries(db, events), pagination };
}

const inScopeAndRange = (table: 'e' | 'd'): string =>
  `${table}.merchant_id = :merchantId AND ${table}.environment = :environment
   AND ${table}.created_at >= :from AND ${table}.created_at < :until`;

/** SQL conditions on `webhook_event e` for the filters that are set. */
function conditionsOf(filter: EventFilter): string[] {
  const { event, resourceId } = filter;
  return [
    ...deliveryConditions(filter),
    ...(event === undefined ? [] : ['e.event = :event']),
    ...(resourceId === undefined ? [] : ['e.resource_id = :resourceId']),
  ];
}

/** Rare states, which have an index of their own: `webhook_delivery_undelivered`. */
const UNDELIVERED = new Set<EventStatus>(['FAILED', 'SKIPPED']);

/**
 * The merchant's events of the range with at least one delivery in a given state, to the given subscription if there is one:
 * the deliveries that a bulk resend of that state finds. NO_SUBSCRIBERS: events without any delivery. Whatever number of rows
 * the planner expects, neither form can become a join that reads all of them once per event.
 */
function deliveryConditions({ statuses, subscriptionId }: EventFilter): string[] {
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

/** One event with its deliveries. Throws NOT_FOUND, also for another merchant's. */
export async function findEvent(
  db: Queryable,
  { withPayload, eventId, ...scope }: MerchantScope & { eventId: string; withPayload: boolean },
): Promise<EventRow> {
  const found = await rows<BareEvent>(
    db,
    `SELECT ${columnsOf(withPayload)} FROM webhook_event e
     WHERE e.id = :eventId AND e.merchant_id = :merchantId AND e.environment = :environment`,
    { eventId, ...scope },
  );
  const [event] = await withDeliveries(db, found);
  if (!event) throw notFound('event');
  return event;
}

type BareEvent = Omit<EventRow, 'deliveries'> & { id: string };

async function withDeliveries(db: Queryable, events: BareEvent[]): Promise<EventRow[]> {
  const ids = events.map((event) => event.eventId);
  const deliveries = ids.length === 0 ? [] : await findDeliveriesOf(db, ids);
  return events.map((event) => ({
    ...event,
    deliveries: deliveries.filter((delivery) => delivery.eventId === event.eventId),
  }));
}
