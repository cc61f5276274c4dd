import { z } from 'zod';

import { dateParam, pageQuery, statusParam } from '../../lib/pagination.ts';
import { Delivery, id, instant } from '../delivery/schema.ts';
import { EVENT_STATUSES } from '../delivery/states.ts';
import { EVENT_TYPE_NAMES } from './catalogue.ts';

const narrowing = { merchantId: id.optional().meta({ description: 'Your own merchant id; any other is NOT_FOUND' }) };
const days = { startDate: dateParam.optional(), endDate: dateParam.optional() };
const include = {
  include: z.enum(['payload']).optional().meta({ description: 'payload adds the signed body' }),
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

/** An event and its deliveries. `payload` is the signed envelope without its signature. */
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
      'The first of FAILED, RETRYING, PENDING, DELIVERED and SKIPPED that one of its deliveries has; NO_SUBSCRIBERS without deliveries',
  }),
  createdAt: instant,
  deliveries: z.array(Delivery),
  payload: z.record(z.string(), z.unknown()).optional(),
});

const rate = z.number().min(0).max(1).nullable();
export const Counts = z.object({
  deliveries: z.int().meta({ description: 'delivered + failed + retrying + pending + skipped' }),
  attempted: z.int().meta({ description: 'Deliveries with at least one completed attempt' }),
  delivered: z.int(),
  failed: z.int(),
  retrying: z.int(),
  pending: z.int(),
  skipped: z.int(),
  attempts: z.int().meta({ description: 'Attempts, including retries and resends' }),
  successRate: rate.meta({
    description:
      'delivered / attempted: the share of DELIVERED among the deliveries with at least one completed attempt, so one that waits for its next retry counts as not delivered; null when there is none',
  }),
});
const milliseconds = z.int().nullable();

export const Stats = z.object({
  range: z.object({ startDate: z.iso.date(), endDate: z.iso.date() }),
  totals: z.object({
    events: z.int(),
    ...Counts.shape,
    firstAttemptSuccessRate: rate.meta({ description: 'The share of first attempts with a 2xx response in time' }),
    latencyMs: z
      .object({ p50: milliseconds, p95: milliseconds, p99: milliseconds })
      .meta({ description: 'The response times of receivers, whatever the status' }),
  }),
  byEvent: z.array(z.object({ event: z.string(), ...Counts.shape })),
  bySubscription: z.array(z.object({ subscriptionId: z.string(), url: z.string(), ...Counts.shape })),
  byDay: z.array(z.object({ date: z.iso.date(), ...Counts.shape })),
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
