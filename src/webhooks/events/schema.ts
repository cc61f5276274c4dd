import { z } from 'zod';

import { dateParam, pageQuery, statusParam } from '../../lib/pagination.ts';
import { Delivery, id } from '../delivery/schema.ts';
import { EVENT_STATUSES } from '../delivery/states.ts';
import { EVENT_TYPE_NAMES } from './catalogue.ts';

const instant = z.iso.datetime();
const narrowing = { merchantId: id.optional().meta({ description: 'Your own merchant id; it can only narrow' }) };
const days = { startDate: dateParam.optional(), endDate: dateParam.optional() };
const include = {
  include: z.enum(['payload']).optional().meta({ description: 'payload adds the body that is signed' }),
};

export const EventListQuery = z.strictObject({
  status: statusParam(EVENT_STATUSES)
    .optional()
    .meta({
      description: `Events with at least one delivery in this state, of the subscription if subscriptionId is given: the deliveries that POST /api/checkout/webhooks/events/resend finds, where their subscription is active. NO_SUBSCRIBERS: events without a delivery. One of ${EVENT_STATUSES.join(', ')}, a comma list of them, or ALL`,
    }),
  ...narrowing,
  ...days,
  event: z.enum(EVENT_TYPE_NAMES).optional(),
  subscriptionId: id.optional(),
  resourceId: id.optional(),
  ...include,
  ...pageQuery,
});
export const EventQuery = z.strictObject(include);
export const StatsQuery = z.strictObject({ ...narrowing, ...days });

/** An event and what became of it. `payload` is the envelope that is signed, without its signature. */
export const Event = z.object({
  eventId: z.string(),
  event: z.string(),
  apiVersion: z.string(),
  merchantId: z.string(),
  environment: z.enum(['sandbox', 'live']),
  resourceType: z.string(),
  resourceId: z.string(),
  status: z.enum(EVENT_STATUSES).meta({
    description:
      'Of its deliveries the first that there is of FAILED, RETRYING, PENDING, DELIVERED, SKIPPED; NO_SUBSCRIBERS without any',
  }),
  createdAt: instant,
  deliveries: z.array(Delivery),
  payload: z.record(z.string(), z.unknown()).optional(),
});

const rate = z.number().min(0).max(1).nullable();
const counts = {
  deliveries: z.int().meta({ description: 'delivered + failed + retrying + pending + skipped' }),
  attempted: z.int().meta({ description: 'Deliveries of which at least the first attempt has ended' }),
  delivered: z.int(),
  failed: z.int(),
  retrying: z.int(),
  pending: z.int(),
  skipped: z.int(),
  attempts: z.int().meta({ description: 'Attempts made, retries and resends included' }),
  successRate: rate.meta({
    description:
      'delivered / attempted: the share of deliveries that are DELIVERED now among those that were tried at least once, so one that waits for its next retry counts as not delivered; null while none was tried',
  }),
};
const milliseconds = z.int().nullable();

export const Stats = z.object({
  range: z.object({ startDate: z.iso.date(), endDate: z.iso.date() }),
  totals: z.object({
    events: z.int(),
    ...counts,
    firstAttemptSuccessRate: rate.meta({ description: 'share of first attempts that were answered 2xx in time' }),
    latencyMs: z
      .object({ p50: milliseconds, p95: milliseconds, p99: milliseconds })
      .meta({ description: 'how long receivers took to answer, whatever they answered' }),
  }),
  byEvent: z.array(z.object({ event: z.string(), ...counts })),
  bySubscription: z.array(z.object({ subscriptionId: z.string(), url: z.string(), ...counts })),
  byDay: z.array(z.object({ date: z.iso.date(), ...counts })),
  failures: z.array(z.object({ code: z.string(), count: z.int() })),
  deadLetters: z.object({ open: z.int(), oldestAt: instant.nullable() }),
});

export const EventTypeEntry = z.object({
  event: z.enum(EVENT_TYPE_NAMES),
  description: z.string(),
  alias: z.boolean(),
  schema: z.record(z.string(), z.unknown()),
  example: z.record(z.string(), z.unknown()),
});
