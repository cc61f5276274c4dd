import { z } from 'zod';

import type { TimelineKinds } from '../lib/timeline.ts';
import { REVIEW_REASONS } from './states.ts';

const result = z.object({
  outcome: z.string(),
  providerCode: z.string().optional(),
  amountSantim: z.int().optional(),
  currency: z.string().optional(),
  providerReference: z.string().optional(),
});

/** The kinds of a withdrawal's timeline, and the `detail` of each. */
export const TIMELINE = {
  'withdrawal.created': { description: 'Requested: its money is reserved', detail: z.object({}) },
  'review.started': {
    description: 'Under review before it is sent',
    detail: z.object({ reasons: z.array(z.enum(REVIEW_REASONS)), approvalsNeeded: z.int() }),
  },
  'review.approved': { description: 'An operator approved it', detail: z.object({ approvalsMissing: z.int() }) },
  'review.rejected': { description: 'An operator rejected it', detail: z.object({ reason: z.string() }) },
  'withdrawal.cancelled': { description: 'The merchant cancelled it', detail: z.object({}) },
  'payout.submitted': { description: 'Sent to the provider', detail: z.object({}) },
  'provider.responded': {
    description: "The provider's report changed",
    detail: result,
  },
  'provider.conflict': {
    description: 'The provider contradicts how the withdrawal ended: paid after it had declined, or the reverse',
    detail: result,
  },
  'payout.succeeded': { description: 'Paid out', detail: z.object({ providerReference: z.string() }) },
  'payout.failed': {
    description: 'Not paid; the money is released',
    detail: z.object({ code: z.string(), providerCode: z.string() }),
  },
  'withdrawal.resolved': {
    description: 'Operators have resolved the outcome; paidSantim: what the beneficiary received',
    detail: z.object({
      outcome: z.enum(['COMPLETED', 'FAILED']),
      providerReference: z.string(),
      reason: z.string(),
      paidSantim: z.int().optional(),
    }),
  },
  'payout.reversed': { description: 'Paid, and then reversed', detail: z.object({ providerReference: z.string() }) },
} as const satisfies TimelineKinds;

export type TimelineKind = keyof typeof TIMELINE;
