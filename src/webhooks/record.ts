import { newId } from '../lib/ids.ts';
import type { Change } from '../lib/outbox.ts';
import type { Owner } from '../lib/owner.ts';

/** The version of every payload's shape (seed, Versioning). */
const API_VERSION = 'v1.0';

/** Something that happened, sent to every subscription that matches. `data` is a full snapshot, so order does not matter. */
export type NewEvent = Owner & {
  event: string;
  resourceType: string;
  resourceId: string;
  data: Record<string, unknown>;
  createdAt: Date;
};

/** Events that exist only where a subscription names them: another name for the same fact. */
export const EVENT_ALIASES: Readonly<Record<string, string>> = { 'payment.succeeded': 'payment.completed' };

const RECORD = `
  WITH e AS (
    SELECT * FROM unnest(CAST(:ids AS text[]), CAST(:merchantIds AS text[]), CAST(:environments AS text[]),
        CAST(:events AS text[]), CAST(:resourceTypes AS text[]), CAST(:resourceIds AS text[]), CAST(:payloads AS text[]),
        CAST(:createdAt AS timestamptz[]), CAST(:isAlias AS boolean[]))
      AS e (id, merchant_id, environment, event, resource_type, resource_id, payload, created_at, is_alias)
  ), delivery AS (
    INSERT INTO webhook_delivery (id, event_id, subscription_id, merchant_id, environment, event, status, next_attempt_at, created_at)
    SELECT 'whd_' || substr(e.id, 5, 24) || two_digits(row_number() OVER (PARTITION BY e.id ORDER BY s.id) - 1), e.id, s.id,
           e.merchant_id, e.environment, e.event, CASE WHEN s.active THEN 'PENDING' ELSE 'SKIPPED' END,
           CASE WHEN s.active THEN e.created_at END, e.created_at
    FROM e
    -- OFFSET 0: looked up for each event, not read as a whole.
    CROSS JOIN LATERAL (
      SELECT s.id, s.active, s.event_types FROM webhook_subscription s
      WHERE s.merchant_id = e.merchant_id AND s.environment = e.environment AND s.deleted_at IS NULL OFFSET 0
    ) s
    WHERE CASE WHEN CAST(:only AS text) IS NOT NULL THEN s.id = :only
               WHEN e.is_alias THEN e.event = ANY (s.event_types)
               ELSE s.event_types && ARRAY['*', e.event] END
    RETURNING event_id
  )
  INSERT INTO webhook_event (id, merchant_id, environment, event, api_version, resource_type, resource_id, payload, created_at)
  SELECT id, merchant_id, environment, event, '${API_VERSION}', resource_type, resource_id, convert_to(payload, 'UTF8'), created_at
  FROM e WHERE NOT is_alias OR id IN (SELECT event_id FROM delivery)`;

/**
 * Records events in the transaction of the change they tell of: the exact bytes to be signed, and one delivery per
 * matching subscription, which is its place in the dispatcher's queue. One statement whatever the number of events.
 * @param only the subscription that gets it, whatever its event types (test events); all that match unless given.
 * @returns the new event ids, in the order of `events`, aliases left out.
 */
export async function recordEvents(change: Change, events: NewEvent[], only?: string): Promise<string[]> {
  if (events.length === 0) return [];
  const recorded = events.flatMap((event) => {
    const own = { ...event, id: newId('evt', event.createdAt.getTime()), isAlias: false };
    const alias = EVENT_ALIASES[event.event];
    if (alias === undefined || only !== undefined) return [own];
    return [own, { ...own, event: alias, id: newId('evt', event.createdAt.getTime()), isAlias: true }];
  });
  await change.write(RECORD, {
    ids: recorded.map((event) => event.id),
    merchantIds: recorded.map((event) => event.merchantId),
    environments: recorded.map((event) => event.environment),
    events: recorded.map((event) => event.event),
    resourceTypes: recorded.map((event) => event.resourceType),
    resourceIds: recorded.map((event) => event.resourceId),
    payloads: recorded.map(serialise),
    createdAt: recorded.map((event) => event.createdAt.toISOString()),
    isAlias: recorded.map((event) => event.isAlias),
    only: only ?? null,
  });
  change.triggerDispatcher();
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
