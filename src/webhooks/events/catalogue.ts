import { z } from 'zod';

import { withoutSafeIntegerBounds } from '../../lib/fields.ts';
import { EVENT_ALIASES } from './record.ts';

/** Every event type there is, in the order of the API and the docs. */
export const EVENT_TYPE_NAMES = [
  'checkout.completed',
  'checkout.failed',
  'checkout.canceled',
  'checkout.expired',
  'payment.created',
  'payment.succeeded',
  'payment.completed',
  'withdrawal.created',
  'withdrawal.under_review',
  'withdrawal.succeeded',
  'withdrawal.failed',
  'withdrawal.rejected',
  'withdrawal.canceled',
  'withdrawal.reversed',
  'refund.created',
  'refund.succeeded',
  'refund.failed',
  'settlement.requested',
  'settlement.processing',
  'settlement.completed',
  'settlement.failed',
  'settlement.rejected',
  'settlement.canceled',
  'settlement.updated',
  'report.ready',
  'webhook.test',
] as const;
export type EventTypeName = (typeof EVENT_TYPE_NAMES)[number];

/** The fields that `data` of every event starts with, after `object`. */
export const snapshotFields = {
  environment: z.enum(['sandbox', 'live']),
  merchantId: z.string(),
  version: z.int().min(1).meta({ description: 'Rises with every change of the object: the highest is the newest' }),
};

/** The meaning of an event type and the schema of its `data`. A slice's `events.ts` has those it records. */
type EventType = { description: string; data: z.ZodObject };
/** Every event type, with an example of its `data` (docs/events.json). */
export type EventCatalogue = Readonly<
  Record<EventTypeName, EventType & { example: Readonly<Record<string, unknown>> }>
>;

/** The event types whose `data` has this schema, by their descriptions. */
export function eventTypes<Name extends EventTypeName>(
  data: z.ZodObject,
  descriptions: Readonly<Record<Name, string>>,
): Record<Name, EventType> {
  const types = Object.entries<string>(descriptions).map(([name, description]) => [name, { description, data }]);
  return Object.fromEntries(types) as Record<Name, EventType>;
}

/** The event type that this slice records itself. */
export const SUBSCRIPTION_EVENTS = eventTypes(
  z.strictObject({
    object: z.literal('subscription'),
    ...snapshotFields,
    subscriptionId: z.string(),
    message: z.string(),
  }),
  { 'webhook.test': 'Sent when a test event is requested, to that subscription only.' },
);

/** The catalogue as the API, the docs and the portal present it; `schema` is JSON Schema of the event's `data`. */
export function listEventTypes(catalogue: EventCatalogue) {
  return EVENT_TYPE_NAMES.map((event) => {
    const { description, data, example } = catalogue[event];
    const { $schema: _dialect, ...schema } = z.toJSONSchema(data, { override: withoutSafeIntegerBounds });
    const alias = Object.values(EVENT_ALIASES).includes(event);
    return { event, description, alias, schema, example };
  });
}
