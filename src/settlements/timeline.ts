import { z } from 'zod';

import { rows, type Queryable } from '../lib/db.ts';

const dates = z.object({ effectiveDate: z.string(), earliestExpected: z.string(), expectedBy: z.string() });

/** What can stand in a settlement's timeline, and what its `detail` holds. */
export const TIMELINE = {
  'settlement.requested': { description: 'Asked for: its money is set aside', detail: z.object({}) },
  'review.approved': { description: 'An operator approved it', detail: z.object({}) },
  'review.rejected': {
    description: 'An operator rejected it; the money is back',
    detail: z.object({ reason: z.string() }),
  },
  'settlement.cancelled': { description: 'The merchant took it back', detail: z.object({}) },
  'bank.sent': { description: 'Sent to the bank', detail: z.object({ bankReference: z.string().optional() }) },
  'bank.credited': {
    description: "Credited to the merchant's account",
    detail: z.object({ bankReference: z.string(), creditedAt: z.string() }),
  },
  'bank.failed': {
    description: 'The bank did not credit it; the money is back',
    detail: z.object({ reason: z.string(), bankReference: z.string().optional() }),
  },
  'bank.returned': {
    description: 'The bank sent back what it had credited; the money is back',
    detail: z.object({ reason: z.string(), bankReference: z.string() }),
  },
  'bank.credited_late': {
    description: 'The bank says it has credited it after all; operators look into it',
    detail: z.object({ bankReference: z.string(), creditedAt: z.string() }),
  },
  'bank.credit_dismissed': {
    description: 'Operators have looked: it was not credited after all',
    detail: z.object({ bankReference: z.string(), reason: z.string() }),
  },
  'expected_dates.changed': {
    description: 'The calendar has changed, and with it the days it is expected on',
    detail: dates.extend({ before: dates }),
  },
  'settlement.overdue': {
    description: 'Its last expected day is over, and it is still open',
    detail: z.object({ expectedBy: z.string() }),
  },
} as const;

export type TimelineKind = keyof typeof TIMELINE;
export type TimelineRow = { occurredAt: Date; kind: TimelineKind; detail: Record<string, unknown> };

/** Everything that happened to one settlement, oldest first. */
export async function readTimeline(db: Queryable, settlementId: string): Promise<TimelineRow[]> {
  return rows<TimelineRow>(
    db,
    'SELECT occurred_at, kind, detail FROM settlement_timeline WHERE settlement_id = :settlementId ORDER BY id',
    { settlementId },
  );
}
