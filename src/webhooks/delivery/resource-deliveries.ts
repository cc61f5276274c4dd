import { z } from 'zod';

import { rows, type Queryable } from '../../lib/db.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import { presentDelivery } from './present.ts';
import { findDeliveries } from './queries.ts';
import { Delivery } from './schema.ts';

/** A delivery with its event, for the detail of the resource that the event is about. */
export const ResourceDelivery = z.object({ eventId: z.string(), event: z.string(), ...Delivery.shape });
export type ResourceDelivery = z.output<typeof ResourceDelivery>;

/** Every delivery of the events about one resource (a transaction), oldest first, each with its event. */
export async function findResourceDeliveries(
  db: Queryable,
  scope: MerchantScope,
  resourceId: string,
): Promise<ResourceDelivery[]> {
  const events = await rows<{ deliveryId: string; eventId: string; event: string }>(
    db,
    `SELECT d.id AS delivery_id, e.id AS event_id, e.event
     FROM webhook_event e JOIN webhook_delivery d ON d.event_id = e.id
     WHERE e.merchant_id = :merchantId AND e.environment = :environment AND e.resource_id = :resourceId
     ORDER BY e.created_at, d.id`,
    { ...scope, resourceId },
  );
  if (events.length === 0) return [];
  const deliveries = await findDeliveries(
    db,
    events.map((event) => event.deliveryId),
  );
  const byId = new Map(deliveries.map((delivery) => [delivery.id, presentDelivery(delivery)]));
  return events.flatMap(({ deliveryId, eventId, event }) => {
    const delivery = byId.get(deliveryId);
    return delivery ? [{ eventId, event, ...delivery }] : [];
  });
}
