import { newId } from '../../lib/ids.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';

/** The version of every payload's shape (seed, Versioning). */
const API_VERSION = 'v1.0';

/** An event for every matching subscription. `data` is a full snapshot, so that the order of events does not matter. */
type NewEvent = MerchantScope & {
  event: string;
  resourceType: string;
  resourceId: string;
  data: Record<string, unknown>;
  createdAt: Date;
};

/** Other names of events, by event: recorded only where a subscription names them. */
export const EVENT_ALIASES: Readonly<Record<string, string>> = { 'payment.succeeded': 'payment.completed' };

/** Events of one statement; each number of events has its own, prepared once. */
const EVENTS_MAX = 8;

const RECORD = Array.from({ length: EVENTS_MAX }, (_, last) => recordSql(last + 1));

function recordSql(events: number): string {
  const row = (n: number): string =>
    `(CAST(:id${n} AS text), CAST(:event${n} AS text), CAST(:resourceType${n} AS text), CAST(:resourceId${n} AS text),
      CAST(:merchantId${n} AS text), CAST(:environment${n} AS text), CAST(:payload${n} AS text),
      CAST(:createdAt${n} AS timestamptz), CAST(:isAlias${n} AS boolean))`;
  return `
  WITH event (id, event, resource_type, resource_id, merchant_id, environment, payload, created_at, is_alias) AS (
    VALUES ${Array.from({ length: events }, (_, n) => row(n)).join(', ')}
  ), delivery_row AS (
    INSERT INTO webhook_delivery (id, event_id, subscription_id, merchant_id, environment, event, status, next_attempt_at, created_at)
    SELECT 'whd_' || substr(e.id, 5, 24) || two_digits(row_number() OVER (PARTITION BY e.id ORDER BY s.id) - 1), e.id, s.id,
           e.merchant_id, e.environment, e.event, CASE WHEN s.active THEN 'PENDING' ELSE 'SKIPPED' END,
           CASE WHEN s.active THEN e.created_at END, e.created_at
    FROM event e
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
  FROM event WHERE NOT is_alias OR id IN (SELECT event_id FROM delivery_row)`;
}

/**
 * Records events in the transaction of the change they are about: the exact bytes to sign, and one delivery per matching
 * subscription, which is its entry in the dispatcher's queue. One statement for up to eight events.
 * @param only the one subscription to deliver to, whatever its event types (test events); all that match unless given.
 * @returns the new event ids in the order of `events`, without aliases.
 */
export async function recordEvents(tx: UnitOfWork, events: NewEvent[], only: string | null = null): Promise<string[]> {
  if (events.length === 0) return [];
  const recorded = events.flatMap((event) => {
    const own = { ...event, id: newId('evt', event.createdAt.getTime()), isAlias: false };
    const alias = EVENT_ALIASES[event.event];
    if (alias === undefined || only !== null) return [own];
    return [own, { ...own, event: alias, id: newId('evt', event.createdAt.getTime()), isAlias: true }];
  });
  for (let from = 0; from < recorded.length; from += EVENTS_MAX) {
    const batch = recorded.slice(from, from + EVENTS_MAX);
    await tx.writeDeferred(RECORD[batch.length - 1] as string, Object.assign({ only }, ...batch.map(valuesOf)));
  }
  tx.triggerDispatcher();
  return recorded.filter((event) => !event.isAlias).map((event) => event.id);
}

function valuesOf(event: NewEvent & { id: string; isAlias: boolean }, n: number): Record<string, unknown> {
  return {
    [`id${n}`]: event.id,
    [`event${n}`]: event.event,
    [`resourceType${n}`]: event.resourceType,
    [`resourceId${n}`]: event.resourceId,
    [`merchantId${n}`]: event.merchantId,
    [`environment${n}`]: event.environment,
    [`payload${n}`]: serialise(event),
    [`createdAt${n}`]: event.createdAt.toISOString(),
    [`isAlias${n}`]: event.isAlias,
  };
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
