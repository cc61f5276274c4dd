import { z } from 'zod';

import { rows, type Queryable } from '../lib/db.ts';

const dates = z.object({ effectiveDate: z.string(), earliestExpected: z.string(), expectedBy: z.string() });

/** What can stand in a settlement's timeline, and what its `detail` holds. */
export const TIMELINE = {
  'settlement.requested': { says: 'Asked for: its money is set aside', detail: z.object({}) },
  'review.approved': { says: 'An operator approved it', detail: z.object({}) },
  'review.rejected': { says: 'An operator rejected it; the money is back', detail: z.object({ reason: z.string() }) },
  'settlement.cancelled': { says: 'The merchant took it back', detail: z.object({}) },
  'bank.sent': { says: 'Sent to the bank', detail: z.object({ bankReference: z.string().optional() }) },
  'bank.credited': {
    says: "Credited to the merchant's account",
    detail: z.object({ bankReference: z.string(), creditedAt: z.string() }),
  },
  'bank.failed': {
    says: 'The bank did not credit it; the money is back',
    detail: z.object({ reason: z.string(), bankReference: z.string().optional() }),
  },
  'bank.returned': {
    says: 'The bank sent back what it had credited; the money is back',
    detail: z.object({ reason: z.string(), bankReference: z.string() }),
  },
  'bank.creditedLate': {
    says: 'The bank says it has credited it after all; operators look into it',
    detail: z.object({ bankReference: z.string(), creditedAt: z.string() }),
  },
  'bank.creditDismissed': {
    says: 'Operators have looked: it was not credited after all',
    detail: z.object({ bankReference: z.string(), reason: z.string() }),
  },
  'dates.changed': {
    says: 'The calendar has changed, and with it the days it is expected on',
    detail: dates.extend({ before: dates }),
  },
  'settlement.overdue': {
    says: 'Its last expected day is over, and it is still open',
    detail: z.object({ expectedBy: z.string() }),
  },
} as const;

export type TimelineKind = keyof typeof TIMELINE;
export type TimelineRow = { at: Date; kind: TimelineKind; detail: Record<string, unknown> };

/** Everything that happened to one settlement, oldest first. */
export async function readTimeline(db: Queryable, settlementId: string): Promise<TimelineRow[]> {
  return rows<TimelineRow>(
    db,
    'SELECT at, kind, detail FROM settlement_timeline WHERE settlement_id = :settlementId ORDER BY id',
    { settlementId },
  );
}
