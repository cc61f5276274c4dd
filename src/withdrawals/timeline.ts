import { z } from 'zod';

import { rows, type Queryable } from '../lib/db.ts';
import { REVIEW_REASONS } from './states.ts';

const result = z.object({
  outcome: z.string(),
  providerCode: z.string().optional(),
  amountSantim: z.int().optional(),
  currency: z.string().optional(),
  providerReference: z.string().optional(),
});

/** What can stand in a withdrawal's timeline, and what its `detail` holds. */
export const TIMELINE = {
  'withdrawal.created': { description: 'Asked for: its money is set aside', detail: z.object({}) },
  'review.started': {
    description: 'Somebody looks at it before it is sent',
    detail: z.object({ reasons: z.array(z.enum(REVIEW_REASONS)), approvalsNeeded: z.int() }),
  },
  'review.approved': { description: 'An operator approved it', detail: z.object({ approvalsMissing: z.int() }) },
  'review.rejected': { description: 'An operator rejected it', detail: z.object({ reason: z.string() }) },
  'withdrawal.cancelled': { description: 'The merchant took it back', detail: z.object({}) },
  'payout.submitted': { description: 'Sent to the provider', detail: z.object({}) },
  'provider.responded': {
    description: "The provider's answer changed",
    detail: result,
  },
  'provider.conflict': {
    description: 'The provider says otherwise than before: paid what it had refused, or the other way round',
    detail: result,
  },
  'payout.succeeded': { description: 'Paid out', detail: z.object({ providerReference: z.string() }) },
  'payout.failed': {
    description: 'Not paid; the money is back',
    detail: z.object({ code: z.string(), providerCode: z.string() }),
  },
  'withdrawal.resolved': {
    description: 'An operator has looked at the provider and ended what was open; paidSantim: what the beneficiary got',
    detail: z.object({
      outcome: z.enum(['COMPLETED', 'FAILED']),
      providerReference: z.string(),
      reason: z.string(),
      paidSantim: z.int().optional(),
    }),
  },
  'payout.reversed': { description: 'It was paid and came back', detail: z.object({ providerReference: z.string() }) },
} as const;

export type TimelineKind = keyof typeof TIMELINE;
export type TimelineRow = { occurredAt: Date; kind: TimelineKind; detail: Record<string, unknown> };

/** Everything that happened to one withdrawal, oldest first. */
export async function readTimeline(db: Queryable, withdrawalId: string): Promise<TimelineRow[]> {
  return rows<TimelineRow>(
    db,
    'SELECT occurred_at, kind, detail FROM withdrawal_timeline WHERE withdrawal_id = :withdrawalId ORDER BY id',
    { withdrawalId },
  );
}
