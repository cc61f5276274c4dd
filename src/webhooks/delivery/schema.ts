import { z } from 'zod';

import { mustBe, patternText } from '../../lib/fields.ts';
import { dateParam, pageQuery } from '../../lib/pagination.ts';
import { DELIVERY_STATUSES } from './states.ts';

const RESEND_JOB_ITEMS_MAX = 10_000;

/** Any text like an id: an unknown one gets 404, not 400. */
export const id = patternText(64, /^[\w-]{1,64}$/, mustBe('an id: letters, digits, - and _'));
/** A row's time as ISO 8601. */
export const instant = z.preprocess(
  (at: Date | string) => (at instanceof Date ? at.toISOString() : at),
  z.iso.datetime(),
);
const Failure = z.object({ code: z.string(), message: z.string() });

export const EventParams = z.strictObject({ eventId: id });
export const JobParams = z.strictObject({ jobId: id });
export const LogQuery = z.strictObject(pageQuery);

/** One event to one subscription: its row as `queries.ts` reads it, and its JSON. */
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

export const ResendBody = z.strictObject({ subscriptionId: id.optional(), force: z.boolean().optional() });
export const Resent = z.object({ eventId: z.string(), deliveries: z.array(Delivery) });

export const ResendJobBody = z.strictObject({
  status: z.enum(['FAILED', 'SKIPPED']),
  startDate: dateParam,
  endDate: dateParam,
  subscriptionId: id.optional(),
  limit: z.int().min(1).max(RESEND_JOB_ITEMS_MAX).default(RESEND_JOB_ITEMS_MAX),
});
export const CreatedResendJob = z.object({ jobId: z.string(), matched: z.int() });
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
