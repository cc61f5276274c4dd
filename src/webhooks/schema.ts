import { z } from 'zod';

import { publicText } from '../lib/echo.ts';
import { limitedText, patternText, plainText } from '../lib/fields.ts';
import { dateParam, pageQuery, statusParam } from '../lib/pagination.ts';
import { RESERVED_HEADERS } from './delivery/attempt.ts';
import { DELIVERY_STATUSES, EVENT_STATUSES } from './delivery/states.ts';
import { EVENT_TYPE_NAMES } from './events/catalogue.ts';

const HEADERS_MAX = 20;
/** Ample: names and values of headers have rules of their own, which say more. */
const HEADER_CHARACTERS_MAX = 10_000;
const HEADER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const HEADER_VALUE = /^[\x20-\x7e]{1,1000}$/;
const OVERLAP_SECONDS_MAX = 604_800;
const OVERLAP_SECONDS_DEFAULT = 86_400;
const RESEND_JOB_ITEMS_MAX = 10_000;

// Any id-like text: one that nobody ever had is a 404, not a 400.
const id = publicText(patternText(64, /^[\w-]{1,64}$/, 'must be an id: letters, digits, - and _'));
const instant = z.iso.datetime();
const Failure = z.object({ code: z.string(), message: z.string() });

export const EventParams = z.strictObject({ eventId: id });
export const SubscriptionParams = z.strictObject({ subscriptionId: id });
export const JobParams = z.strictObject({ jobId: id });

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
export const LogQuery = z.strictObject(pageQuery);
export const StatsQuery = z.strictObject({ ...narrowing, ...days });

/** One event to one subscription. */
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

/** One POST to a receiver. The numbers are null for one that was asked for by hand; the outcome, while it is being sent. */
export const Attempt = z.object({
  attemptId: z.string(),
  deliveryId: z.string(),
  subscriptionId: z.string(),
  sequence: z.int(),
  deliveryNumber: z.int().nullable(),
  retryNumber: z.int().nullable(),
  trigger: z.enum(['auto', 'manual', 'operator']),
  reason: z.string().nullable().meta({ description: 'Why an operator asked for it' }),
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

export const ResendBody = z.strictObject({ subscriptionId: id.optional(), force: z.boolean().optional() });
export const Resent = z.object({ eventId: z.string(), deliveries: z.array(Delivery) });

export const ResendJobBody = z.strictObject({
  status: z.enum(['FAILED', 'SKIPPED']),
  startDate: dateParam,
  endDate: dateParam,
  subscriptionId: id.optional(),
  limit: z.int().min(1).max(RESEND_JOB_ITEMS_MAX).default(RESEND_JOB_ITEMS_MAX),
});
export const ResendJobMade = z.object({ jobId: z.string(), matched: z.int() });
export const ResendJob = z.object({
  jobId: z.string(),
  status: z.enum(['RUNNING', 'DONE', 'CANCELLED']),
  matched: z.int(),
  sent: z.int(),
  delivered: z.int(),
  failed: z.int(),
  createdAt: instant,
  endedAt: instant.nullable(),
});

const customHeaders = z
  .record(limitedText(HEADER_CHARACTERS_MAX), limitedText(HEADER_CHARACTERS_MAX))
  .superRefine((headers, context) => {
    const names = Object.keys(headers);
    const reject = (issue: string): void => context.addIssue({ code: 'custom', message: issue });
    if (names.length > HEADERS_MAX) reject(`must be at most ${HEADERS_MAX}, got ${names.length}`);
    if (new Set(names.map((name) => name.toLowerCase())).size < names.length) reject('must not name a header twice');
    for (const [name, value] of Object.entries(headers)) {
      const problem = headerProblem(name, value);
      if (problem) context.addIssue({ code: 'custom', message: problem, path: [name.slice(0, 64)] });
    }
  })
  .meta({ description: 'Sent with every delivery; stored encrypted, only the names are shown again' });

function headerProblem(name: string, value: string): string | null {
  const shown = JSON.stringify(name.slice(0, 64));
  if (!HEADER_NAME.test(name)) {
    return `must have a name of 1 to 64 letters, digits, - and _ that begins with a letter or digit, got ${shown}`;
  }
  const lower = name.toLowerCase();
  if (RESERVED_HEADERS.has(lower) || lower.startsWith('webhook-') || lower.startsWith('x-service-')) {
    return `is a header this service sets itself: choose another name, got ${shown}`;
  }
  if (!HEADER_VALUE.test(value)) {
    const found = /[^\x20-\x7e]/.test(value) ? 'others' : value.length;
    return `must be 1 to 1,000 printable ASCII characters without line breaks, got ${found}`;
  }
  return null;
}

const subscriptionFields = {
  url: z.string().min(1).max(2_000).meta({ example: 'https://shop.example.et/webhooks' }),
  eventTypes: z
    .array(z.enum([...EVENT_TYPE_NAMES, '*']))
    .min(1)
    .max(50)
    .transform((types) => [...new Set(types)])
    .meta({ description: '"*" = all but aliases' }),
  active: z.boolean(),
  description: plainText(500),
  signatureEncoding: z.enum(['base64', 'hex']).meta({ description: 'of the header X-Service-Signature' }),
  headers: customHeaders,
};

export const NewSubscription = z.strictObject({
  url: subscriptionFields.url,
  eventTypes: subscriptionFields.eventTypes,
  active: subscriptionFields.active.default(true),
  description: subscriptionFields.description.default(''),
  signatureEncoding: subscriptionFields.signatureEncoding.default('base64'),
  headers: subscriptionFields.headers.default({}),
});
export type NewSubscription = z.output<typeof NewSubscription>;

export const SubscriptionChanges = z.strictObject(subscriptionFields).partial();
export type SubscriptionChanges = z.output<typeof SubscriptionChanges>;

export const RotateBody = z.strictObject({
  overlapSeconds: z.int().min(0).max(OVERLAP_SECONDS_MAX).default(OVERLAP_SECONDS_DEFAULT),
  force: z.boolean().default(false),
});
export const SubscriptionTestBody = z.strictObject({ event: z.enum(EVENT_TYPE_NAMES).default('webhook.test') });
export const SubscriptionTestSent = z.object({ eventId: z.string() });

export const Subscription = z.object({
  subscriptionId: z.string(),
  url: z.string(),
  eventTypes: z.array(z.string()),
  active: z.boolean(),
  description: z.string(),
  signatureEncoding: z.enum(['base64', 'hex']),
  headers: z.array(z.string()).meta({ description: 'The names only: values are never shown again' }),
  secretHint: z.string().meta({ description: 'The last four characters of the secret' }),
  previousSecretExpiresAt: instant.nullable(),
  createdAt: instant,
  health: z.object({
    state: z
      .enum(['UNVERIFIED', 'HEALTHY', 'FAILING'])
      .meta({ description: 'UNVERIFIED until the first 2xx; FAILING while its latest attempt failed' }),
    successRate24h: rate.meta({
      description:
        'The share that is DELIVERED now of the deliveries that were tried at least once, among the newest 1,000 of the last 24 hours; null while none was tried',
    }),
    lastFailure: z
      .object({ code: z.string(), message: z.string(), httpStatus: z.int().nullable(), at: instant })
      .nullable(),
  }),
});
export const SubscriptionWithSecret = Subscription.extend({
  secret: z.string().meta({ description: 'Shown this once: keep it' }),
});
