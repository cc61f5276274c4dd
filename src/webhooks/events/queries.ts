import { z } from 'zod';

import { addisDay, DAY_MS, daysInRange } from '../../lib/dates.ts';
import { first, rows, type Queryable } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import { instant } from '../../lib/fields.ts';
import { allOf, paginateNewest } from '../../lib/paginate-newest.ts';
import { pageOffset, readPage, toPage, type DayRange, type Page } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import { DELIVERY_STATUSES, WORST_FIRST, type EventStatus } from '../delivery/states.ts';
import { Counts, Delivery, type Attempt, type Event, type EventListQuery, type Stats } from './schema.ts';

/** A delivery with its event, for the detail of the resource that the event is about. */
export const ResourceDelivery = z.object({
  eventId: z.string(),
  event: z.string(),
  createdAt: instant.describe('When the event was recorded'),
  ...Delivery.shape,
});
export type ResourceDelivery = z.input<typeof ResourceDelivery>;

const DELIVERIES = `
  SELECT d.*, d.id AS delivery_id, s.url FROM webhook_delivery d JOIN webhook_subscription s ON s.id = d.subscription_id`;

/** The current state of these deliveries. */
export async function findDeliveries(db: Queryable, deliveryIds: string[]): Promise<ResourceDelivery[]> {
  return rows(db, `${DELIVERIES} WHERE d.id = ANY(:deliveryIds) ORDER BY d.id`, { deliveryIds });
}

/** Every delivery of the events about one resource (a transaction), oldest event first. */
export async function findResourceDeliveries(db: Queryable, scope: MerchantScope, resourceId: string) {
  const sql = `
    ${DELIVERIES} JOIN webhook_event e ON e.id = d.event_id
    WHERE e.merchant_id = :merchantId AND e.environment = :environment AND e.resource_id = :resourceId
    ORDER BY e.created_at, d.id`;
  return rows<ResourceDelivery>(db, sql, { ...scope, resourceId });
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
  const sql = `
    SELECT a.*, CAST(a.started_at AS text) AS position, a.id AS attempt_id, d.subscription_id, a.source AS "trigger"
    FROM webhook_attempt a JOIN webhook_delivery d ON d.id = a.delivery_id
    WHERE d.event_id = :eventId
      ${page.after ? 'AND (a.started_at, a.id) > (CAST(:at AS timestamptz), :id)' : ''}
    ORDER BY a.started_at, a.id LIMIT :most OFFSET :offset`;
  const values = { ...event, ...page.after, most: page.limit + 1, offset: pageOffset(page) };
  return toPage(page, total, await rows<AttemptRow>(db, sql, values));
}

export type EventRow = z.input<typeof Event>;

type EventFilter = MerchantScope &
  z.output<typeof EventListQuery> & {
    range: DayRange;
    /** Those that the events are about; null: all. */
    resourceIds: string[] | null;
  };

const columnsOf = (
  include: 'payload' | undefined,
): string => `e.id, e.id AS event_id, e.merchant_id, e.environment, e.event,
  e.api_version, e.resource_type, e.resource_id, e.created_at
  ${include ? ", CAST(convert_from(e.payload, 'UTF8') AS json) AS payload" : ''}`;

/** A page of a merchant's events, newest first, with their deliveries. Three statements. */
export async function listEvents(db: Queryable, filter: EventFilter) {
  const listed = {
    columns: columnsOf(filter.include),
    table: 'webhook_event e',
    time: 'e.created_at',
    where: allOf([
      ...deliveryConditions(filter),
      filter.event !== undefined && 'e.event = :event',
      filter.resourceId !== undefined && 'e.resource_id = :resourceId',
      filter.resourceIds && 'e.resource_id = ANY (:resourceIds)',
    ]),
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
  const sql = `
    SELECT ${columnsOf(include)} FROM webhook_event e
    WHERE e.id = :eventId AND e.merchant_id = :merchantId AND e.environment = :environment`;
  const events = await rows<BareEvent>(db, sql, target);
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

type Group = z.output<typeof Counts> & {
  by: 'all' | 'event' | 'subscription' | 'day';
  event: string;
  subscriptionId: string;
  url: string;
  date: string;
};

/** Of a day without deliveries. */
const NONE = {
  ...Object.fromEntries(Object.keys(Counts.shape).map((name) => [name, 0])),
  successRate: null,
} as z.output<typeof Counts>;

type StatsScope = MerchantScope & { subscriptionId?: string | undefined };

/**
 * Statistics of the deliveries created in a range of days, to one subscription if it is given. Times in milliseconds; rates
 * 0 … 1, null without a denominator. Dead letters are all open ones, regardless of the range.
 */
export async function readStats(db: Queryable, scope: StatsScope, range: DayRange): Promise<z.input<typeof Stats>> {
  const bindings = { ...scope, ...range };
  const condition = scope.subscriptionId === undefined ? '' : 'AND d.subscription_id = :subscriptionId';
  const groups = await rows<Group>(db, countsSql(condition), bindings);
  const failures = await rows<{ code: string; count: number }>(db, failuresSql(condition), bindings);
  const totals = await first<Totals>(db, totalsSql(condition), bindings);
  const { events, open, oldestAt, firstAttemptSuccessRate, ...latencyMs } = totals as Totals;
  const days = Array.from({ length: daysInRange(range.startDate, range.endDate) }, (_, n) =>
    addisDay(new Date(range.from.getTime() + n * DAY_MS)),
  );
  const of = (by: Group['by']): Group[] => groups.filter((group) => group.by === by);
  return {
    range,
    totals: { events, ...(of('all')[0] ?? NONE), firstAttemptSuccessRate, latencyMs },
    byEvent: of('event'),
    bySubscription: of('subscription'),
    byDay: days.map((date) => of('day').find((day) => day.date === date) ?? { date, ...NONE }),
    failures,
    deadLetters: { open, oldestAt },
  };
}

const IN_RANGE = inScopeAndRange('d');

/** All groupings in one pass over the range. `condition`: a further one of deliveries `d`, as in the others. */
const countsSql = (condition: string): string => `
  WITH counted AS (
    SELECT d.event, d.subscription_id, CAST(CAST(d.created_at AT TIME ZONE interval '3 hours' AS date) AS text) AS date,
           d.status, d.attempts
    FROM webhook_delivery d WHERE ${IN_RANGE} ${condition}
  ), grouped AS (
    SELECT CASE WHEN grouping(event) = 0 THEN 'event' WHEN grouping(subscription_id) = 0 THEN 'subscription'
                WHEN grouping(date) = 0 THEN 'day' ELSE 'all' END AS by,
           event, subscription_id, date,
           CAST(count(*) AS integer) AS deliveries,
           CAST(count(*) FILTER (WHERE attempts > 0) AS integer) AS attempted,
           ${DELIVERY_STATUSES.map(
             (status) => `CAST(count(*) FILTER (WHERE status = '${status}') AS integer) AS ${status.toLowerCase()},`,
           ).join('\n           ')}
           CAST(coalesce(sum(attempts), 0) AS integer) AS attempts
    FROM counted GROUP BY GROUPING SETS ((), (event), (subscription_id), (date))
  )
  SELECT g.*, CAST(g.delivered AS float8) / nullif(g.attempted, 0) AS success_rate, s.url
  FROM grouped g LEFT JOIN webhook_subscription s ON s.id = g.subscription_id
  ORDER BY g.by, g.event, g.subscription_id`;

const failuresSql = (condition: string): string => `
  SELECT a.failure ->> 'code' AS code, CAST(count(*) AS integer) AS count
  FROM webhook_delivery d JOIN webhook_attempt a ON a.delivery_id = d.id AND a.failure IS NOT NULL
  WHERE ${IN_RANGE} ${condition}
  GROUP BY 1 ORDER BY 2 DESC, 1`;

type Latency = z.output<typeof Stats>['totals']['latencyMs'];
type Totals = Latency & { firstAttemptSuccessRate: number | null; events: number; open: number; oldestAt: Date | null };

const totalsSql = (condition: string): string => `
  SELECT attempts.*, dead_letters.*,
         (SELECT CAST(count(*) AS integer) FROM webhook_event e WHERE ${inScopeAndRange('e')}
            ${condition && `AND EXISTS (SELECT FROM webhook_delivery d WHERE d.event_id = e.id ${condition})`}) AS events
  FROM (
    SELECT CAST(count(*) FILTER (WHERE a.sequence = 1 AND a.failure IS NULL) AS float8)
             / nullif(count(*) FILTER (WHERE a.sequence = 1), 0) AS first_attempt_success_rate,
           ${[50, 95, 99]
             .map(
               (n) =>
                 `percentile_disc(0.${n}) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.http_status IS NOT NULL) AS p${n}`,
             )
             .join(', ')}
    FROM webhook_delivery d JOIN webhook_attempt a ON a.delivery_id = d.id AND a.ended_at IS NOT NULL
    WHERE ${IN_RANGE} ${condition}
  ) attempts, (
    SELECT CAST(count(*) AS integer) AS open, min(l.opened_at) AS oldest_at
    FROM webhook_dead_letter l
    WHERE l.merchant_id = :merchantId AND l.environment = :environment AND l.closed_at IS NULL
      ${condition && `AND EXISTS (SELECT FROM webhook_delivery d WHERE d.id = l.delivery_id ${condition})`}
  ) dead_letters`;
