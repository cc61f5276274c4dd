import { z } from 'zod';

import { instant, mustBe, patternText, reference } from '../../lib/fields.ts';
import { dateParam, pageQuery, statusParam } from '../../lib/pagination.ts';
import { DELIVERY_STATUSES, EVENT_STATUSES } from '../delivery/states.ts';
import { EVENT_TYPE_NAMES } from './catalogue.ts';

/** The most deliveries of a bulk resend. */
export const RESEND_JOB_ITEMS_MAX = 10_000;
const RESENDS_PER_SECOND_MAX = 1_000;

/** Any text like an id: an unknown one gets 404, not 400. */
export const id = patternText(64, /^[\w-]{1,64}$/, mustBe('an id: letters, digits, - and _'));
export const EventParams = z.strictObject({ eventId: id });
export const JobParams = z.strictObject({ jobId: id });
export const LogQuery = z.strictObject(pageQuery);

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
  checkoutOrderNo: reference
    .optional()
    .meta({ description: 'Events of the transaction with this order number, and of its refunds' }),
  ...include,
  ...pageQuery,
});
export const EventQuery = z.strictObject(include);
export const StatsQuery = z.strictObject({ ...narrowing, ...days, subscriptionId: id.optional() });

export const Failure = z.object({ code: z.string(), message: z.string() });

/** One event to one subscription: as `queries.ts` reads it. */
export const Delivery = z.object({
  deliveryId: z.string(),
  subscriptionId: z.string(),
  url: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int(),
  lastAttemptAt: instant.nullable(),
  lastHttpStatus: z.int().nullable(),
  lastFailure: Failure.nullable(),
  nextAttemptAt: instant.nullable(),
  deadLetteredAt: instant.nullable(),
  deliveredAt: instant.nullable(),
});

/** One POST to a receiver. The numbers are null for a resend. */
export const Attempt = z.object({
  attemptId: z.string(),
  deliveryId: z.string(),
  subscriptionId: z.string(),
  sequence: z.int(),
  deliveryNumber: z.int().nullable(),
  retryNumber: z.int().nullable(),
  trigger: z.enum(['auto', 'manual', 'operator']),
  reason: z.string().nullable().meta({ description: 'Of the operator who requested it' }),
  url: z.string(),
  startedAt: instant,
  durationMs: z.int().nullable(),
  timings: z.record(z.string(), z.number().nullable()).nullable(),
  httpStatus: z.int().nullable(),
  failure: Failure.nullable(),
  responseHeaders: z.record(z.string(), z.string()).nullable(),
  responseExcerpt: z.string().nullable(),
  secretHint: z.string(),
});

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

export const ResendBody = z.strictObject({ subscriptionId: id.optional(), force: z.boolean().optional() });
export const Resent = z.object({ eventId: z.string(), deliveries: z.array(Delivery) });

export const ResendJobBody = z.strictObject({
  status: z.enum(['FAILED', 'SKIPPED']),
  startDate: dateParam,
  endDate: dateParam,
  subscriptionId: id.optional(),
  limit: z.int().min(1).max(RESEND_JOB_ITEMS_MAX).default(RESEND_JOB_ITEMS_MAX),
  ratePerSecond: z
    .int()
    .min(1)
    .max(RESENDS_PER_SECOND_MAX)
    .optional()
    .meta({ description: 'Resends per second, never more than the installation allows, which is the default' }),
  dryRun: z.boolean().default(false).describe('Counts the matching deliveries, and resends none'),
});
export const ResendCount = z.object({ matched: z.int() });
export const CreatedResendJob = z.object({ jobId: z.string(), matched: z.int() });
export const ResendJob = z.object({
  jobId: z.string(),
  status: z.enum(['RUNNING', 'DONE', 'CANCELLED']),
  matched: z.int(),
  sent: z.int(),
  delivered: z.int(),
  failed: z.int(),
  ratePerSecond: z.int().nullable().meta({ description: 'The requested rate; null: the default' }),
  createdAt: instant,
  endedAt: instant.nullable(),
});
