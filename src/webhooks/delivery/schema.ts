import { z } from 'zod';

import {
  AuditEntry,
  environment,
  id,
  links,
  reason,
  requestListQuery,
  temporalUrl,
} from '../../access/operator-schema.ts';
import { instant, plainText, reference } from '../../lib/fields.ts';
import { dateParam, statusParam } from '../../lib/pagination.ts';
import { EVENT_TYPE_NAMES } from '../events/catalogue.ts';
import { Attempt, CreatedResendJob, Delivery, ResendCount, ResendJob } from '../events/schema.ts';
import { DELIVERY_STATUSES } from './states.ts';

const HOST_CHARACTERS_MAX = 253;

/** The states of operators' lists: those with an open dead letter, also while a resend is pending, by whether it is dismissed. */
export const LISTED_STATUSES = [...DELIVERY_STATUSES, 'DEAD_LETTER', 'DISMISSED'] as const;

export const DeliveryParams = z.strictObject({ deliveryId: id });
/** What narrows a list or a bulk resend. */
const filter = {
  event: z.enum(EVENT_TYPE_NAMES).optional(),
  receiverHost: plainText(HOST_CHARACTERS_MAX).min(1).optional().describe("The host name of the receiver's URL"),
  checkoutOrderNo: reference.optional(),
};
export const DeliveryQuery = z.strictObject({
  status: statusParam(LISTED_STATUSES).optional(),
  ...filter,
  ...requestListQuery,
});
export const ResendBody = z.strictObject({
  reason: reason.describe('Recorded with the attempt, where the merchant sees it too, and in the audit log'),
  force: z.boolean().optional().describe('Also if it was delivered'),
});

/** A delivery as operators see it. */
export const OperatorDelivery = Delivery.extend({
  eventId: z.string(),
  event: z.string(),
  merchantId: z.string(),
  merchantName: z.string(),
  environment,
  checkoutOrderNo: z.string().nullable().describe('Of the transaction that the event is about'),
  receiverHost: z.string(),
  dismissedAt: instant
    .nullable()
    .describe('When an operator decided that a dead letter needs no resend; null: none has, or one was delivered'),
  createdAt: instant,
  temporalUrl,
  links,
}).meta({ id: 'OpsDelivery' });

/** The same with the event, the subscription, and every attempt. */
export const OperatorDeliveryDetail = OperatorDelivery.extend({
  resourceType: z.string(),
  resourceId: z.string(),
  subscription: z.object({
    state: z.enum(['active', 'inactive', 'deleted']),
    description: z.string(),
    consecutiveFailures: z.int().describe('Of all its deliveries'),
    throttledUntil: instant.nullable().describe('Until then few attempts run at once, because many have failed'),
  }),
  workflowId: z.string(),
  decisions: z.array(AuditEntry).describe('The decisions of operators about it, oldest first'),
  attemptLog: z.array(Attempt).describe('The last 100 attempts, oldest first, with the first part of each response'),
}).meta({ id: 'OpsDeliveryDetail' });

/** The states that a bulk resend includes. */
const RESENDABLE = ['DEAD_LETTER', 'FAILED', 'SKIPPED'] as const;

export const BulkResendBody = z
  .strictObject({
    environment,
    status: z.enum(RESENDABLE),
    ...filter,
    merchantId: id.optional(),
    startDate: dateParam.optional(),
    endDate: dateParam.optional(),
    dryRun: z.boolean().default(false).describe('Counts the matching deliveries, and resends none'),
    reason: reason
      .optional()
      .describe('Needed unless dryRun is given. Recorded with each attempt and in the audit log'),
  })
  .check(({ value: { dryRun, reason: given }, issues }) => {
    if (dryRun || given !== undefined) return;
    issues.push({ code: 'custom', path: ['reason'], message: 'is required, except with dryRun', input: given });
  });

const ratePerSecond = z.int().describe('How many are resent in a second');
export const OperatorResendCount = ResendCount.extend({ ratePerSecond }).meta({ id: 'OpsResendCount' });
export const CreatedOperatorResendJob = CreatedResendJob.extend({ ratePerSecond }).meta({ id: 'OpsCreatedResendJob' });
export const ResendJobParams = z.strictObject({ jobId: id });
/** The progress of an operator's bulk resend. */
export const OperatorResendJob = ResendJob.extend({
  environment,
  operatorId: z.string(),
  reason: z.string(),
}).meta({ id: 'OpsResendJob' });
