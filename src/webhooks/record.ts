import { rows, type Queryable } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';
import { OUTBOX_INSERT, type Change, type OutboxRow } from '../lib/outbox.ts';
import type { Owner } from '../lib/owner.ts';
import { deliveryWorkflow } from './workflow-input.ts';

/** The version of every payload's shape (seed, Versioning). */
const API_VERSION = 'v1.0';

/** Something that happened, told to every subscription that asked for it. `data` is a full snapshot, so order does not matter. */
export type NewEvent = Owner & {
  event: string;
  resourceType: string;
  resourceId: string;
  data: Record<string, unknown>;
  createdAt: Date;
};

/** Events that exist only where a subscription names them: another name for the same fact. */
export const EVENT_ALIASES: Readonly<Record<string, string>> = { 'payment.succeeded': 'payment.completed' };

type Subscriber = Owner & {
  id: string;
  eventTypes: string[];
  active: boolean;
  slow: boolean;
};

/**
 * Records events in the transaction of the change they tell of: the exact bytes to be signed, one delivery per matching
 * subscription, one outbox row per delivery. Two statements whatever the number of events.
 * @param only the subscriptions that may match; all of the merchant's unless given (test events).
 * @returns the new event ids, in the order of `events`, aliases left out.
 */
export async function recordEvents(change: Change, events: NewEvent[], only?: Subscriber[]): Promise<string[]> {
  if (events.length === 0) return [];
  const subscribers = only ?? (await findSubscribers(change, events));
  const recorded = events.flatMap((event) => {
    const own = { ...event, id: newId('evt', event.createdAt.getTime()), isAlias: false };
    const alias = EVENT_ALIASES[event.event];
    const wanted =
      alias !== undefined && subscribers.some((one) => sameMerchant(one, event) && one.eventTypes.includes(alias));
    return wanted ? [own, { ...own, event: alias, id: newId('evt', event.createdAt.getTime()), isAlias: true }] : [own];
  });
  const deliveries = recorded.flatMap((event) =>
    subscribers.filter((one) => matches(one, event)).map((one) => newDelivery(event, one)),
  );
  const messages: OutboxRow[] = deliveries.flatMap((delivery) => (delivery.start ? [delivery.start] : []));
  await change.write(
    `WITH event AS (
       INSERT INTO webhook_event (id, merchant_id, environment, event, api_version, resource_type, resource_id, payload, created_at)
       SELECT e.id, e."merchantId", e.environment, e.event, :apiVersion, e."resourceType", e."resourceId",
              convert_to(e.payload, 'UTF8'), e."createdAt"
       FROM jsonb_to_recordset(CAST(:events AS jsonb))
         AS e (id text, "merchantId" text, environment text, event text, "resourceType" text, "resourceId" text,
               payload text, "createdAt" timestamptz)
     ), delivery AS (
       INSERT INTO webhook_delivery (id, event_id, subscription_id, merchant_id, environment, event, status, next_attempt_at, created_at)
       SELECT d.id, d."eventId", d."subscriptionId", d."merchantId", d.environment, d.event, d.status,
              CASE WHEN d.status = 'PENDING' THEN d."createdAt" END, d."createdAt"
       FROM jsonb_to_recordset(CAST(:deliveries AS jsonb))
         AS d (id text, "eventId" text, "subscriptionId" text, "merchantId" text, environment text, event text,
               status text, "createdAt" timestamptz)
     )
     ${OUTBOX_INSERT}`,
    {
      apiVersion: API_VERSION,
      events: JSON.stringify(recorded.map((event) => ({ ...event, data: undefined, payload: serialise(event) }))),
      deliveries: JSON.stringify(deliveries.map((delivery) => ({ ...delivery, start: undefined }))),
      messages: JSON.stringify(messages),
    },
  );
  change.told(messages);
  return recorded.filter((event) => !event.isAlias).map((event) => event.id);
}

/** The envelope without its signature, members in the seed's order. */
function serialise(event: NewEvent & { id: string }): string {
  return JSON.stringify({
    event: event.event,
    event_id: event.id,
    api_version: API_VERSION,
    created_at: event.createdAt.toISOString(),
    data: event.data,
  });
}

const SUBSCRIBER =
  's.id, s.merchant_id, s.environment, s.event_types, s.active, coalesce(s.slow_until > now(), false) AS slow';

async function findSubscribers(change: Change, events: NewEvent[]): Promise<Subscriber[]> {
  const owners = [...new Map(events.map((event) => [`${event.merchantId} ${event.environment}`, event])).values()];
  return rows<Subscriber>(
    change.trx,
    `SELECT ${SUBSCRIBER}
     FROM webhook_subscription s
     JOIN unnest(CAST(:merchantIds AS text[]), CAST(:environments AS text[])) AS o (merchant_id, environment)
       ON o.merchant_id = s.merchant_id AND o.environment = s.environment
     WHERE s.deleted_at IS NULL
     ORDER BY s.id`,
    { merchantIds: owners.map((one) => one.merchantId), environments: owners.map((one) => one.environment) },
  );
}

/** One subscription; undefined when the merchant has no such. */
export async function findSubscriber(
  db: Queryable,
  wanted: Owner & { subscriptionId: string },
): Promise<Subscriber | undefined> {
  const [found] = await rows<Subscriber>(
    db,
    `SELECT ${SUBSCRIBER} FROM webhook_subscription s
     WHERE s.id = :subscriptionId AND s.merchant_id = :merchantId AND s.environment = :environment
       AND s.deleted_at IS NULL`,
    wanted,
  );
  return found;
}

function sameMerchant(one: Subscriber, event: NewEvent): boolean {
  return one.merchantId === event.merchantId && one.environment === event.environment;
}

function matches(one: Subscriber, event: NewEvent & { isAlias: boolean }): boolean {
  if (!sameMerchant(one, event)) return false;
  return one.eventTypes.includes(event.event) || (!event.isAlias && one.eventTypes.includes('*'));
}

function newDelivery(event: NewEvent & { id: string }, one: Subscriber) {
  const delivery = {
    id: newId('whd', event.createdAt.getTime()),
    eventId: event.id,
    subscriptionId: one.id,
    merchantId: event.merchantId,
    environment: event.environment,
    event: event.event,
    createdAt: event.createdAt,
  };
  if (!one.active) return { ...delivery, status: 'SKIPPED', start: null };
  const start: OutboxRow = {
    id: newId('obx'),
    kind: 'start',
    deliveryId: delivery.id,
    subscriptionId: one.id,
    ...deliveryWorkflow({
      ...delivery,
      deliveryId: delivery.id,
      eventType: event.event,
      attemptsMade: 0,
      nextAttemptAt: null,
      lane: one.slow ? 'slow' : 'fast',
    }),
  };
  return { ...delivery, status: 'PENDING', start };
}
