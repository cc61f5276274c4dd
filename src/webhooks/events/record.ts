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

const RECORD = `
  WITH event AS (
    SELECT * FROM json_to_recordset(CAST(:events AS json))
      AS e (id text, event text, "resourceType" text, "resourceId" text, "merchantId" text, environment text, payload text,
            "createdAt" timestamptz, "isAlias" boolean, traceparent text)
  ), delivery_row AS (
    INSERT INTO webhook_delivery (id, event_id, subscription_id, merchant_id, environment, event, status, next_attempt_at, created_at, traceparent)
    SELECT 'whd_' || substr(e.id, 5, 24) || two_digits(row_number() OVER (PARTITION BY e.id ORDER BY s.id) - 1), e.id, s.id,
           e."merchantId", e.environment, e.event, CASE WHEN s.active THEN 'PENDING' ELSE 'SKIPPED' END,
           CASE WHEN s.active THEN e."createdAt" END, e."createdAt", e.traceparent
    FROM event e
    -- OFFSET 0: looked up for each event, not read as a whole.
    CROSS JOIN LATERAL (
      SELECT s.id, s.active, s.event_types FROM webhook_subscription s
      WHERE s.merchant_id = e."merchantId" AND s.environment = e.environment AND s.deleted_at IS NULL OFFSET 0
    ) s
    WHERE CASE WHEN CAST(:only AS text) IS NOT NULL THEN s.id = :only
               WHEN e."isAlias" THEN e.event = ANY (s.event_types)
               ELSE s.event_types && ARRAY['*', e.event] END
    RETURNING event_id
  )
  INSERT INTO webhook_event (id, merchant_id, environment, event, api_version, resource_type, resource_id, payload, created_at)
  SELECT id, "merchantId", environment, event, '${API_VERSION}', "resourceType", "resourceId", convert_to(payload, 'UTF8'), "createdAt"
  FROM event WHERE NOT "isAlias" OR id IN (SELECT event_id FROM delivery_row)`;

/**
 * Records events in the transaction of the change they are about, in one statement: the exact bytes to sign, and one delivery
 * per matching subscription, which is its entry in the dispatcher's queue.
 * @param only the one subscription to deliver to, whatever its event types (test events); all that match unless given.
 * @returns the new event ids in the order of `events`, without aliases.
 */
export async function recordEvents(tx: UnitOfWork, events: NewEvent[], only: string | null = null): Promise<string[]> {
  if (events.length === 0) return [];
  const { traceparent } = tx;
  const recorded = events.flatMap((event) => {
    const alias = only === null ? EVENT_ALIASES[event.event] : undefined;
    return [buildRow(event, false), ...(alias === undefined ? [] : [buildRow({ ...event, event: alias }, true)])];
  });
  const written = traceparent === null ? recorded : recorded.map((event) => ({ ...event, traceparent }));
  await tx.writeDeferred(RECORD, { only, events: JSON.stringify(written) });
  tx.triggerDispatcher();
  return recorded.filter((event) => !event.isAlias).map((event) => event.id);
}

/** `payload`: the envelope without its signature, members in the seed's order. */
function buildRow({ data, ...row }: NewEvent, isAlias: boolean) {
  const { event, createdAt } = row;
  const id = newId('evt', createdAt.getTime());
  const envelope = { event, event_id: id, api_version: API_VERSION, created_at: createdAt.toISOString(), data };
  return { ...row, id, isAlias, payload: JSON.stringify(envelope) };
}
