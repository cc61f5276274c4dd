import { rows, type Queryable } from '../../lib/db.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';

/** What can stand in an application's timeline. */
export const TIMELINE_KINDS = [
  'application.saved',
  'document.uploaded',
  'application.submitted',
  'review.started',
  'review.approved',
  'review.rejected',
  'review.more_info_needed',
  'tier.changed',
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** One step. `by`: key_…, opr_…, or "sandbox". */
export type TimelineRow = { occurredAt: Date; kind: TimelineKind; by: string; detail: Record<string, unknown> };

const SHOWN_MAX = 200;

/** The newest 200 steps of one application, oldest first. */
export async function readTimeline(db: Queryable, scope: MerchantScope): Promise<TimelineRow[]> {
  const newest = await rows<TimelineRow>(
    db,
    `SELECT occurred_at, kind, by, detail FROM kyc_timeline
     WHERE merchant_id = :merchantId AND environment = :environment ORDER BY id DESC LIMIT ${SHOWN_MAX}`,
    scopeOf(scope),
  );
  return newest.toReversed();
}

/** Notes a step, in the transaction of what it tells of. */
export async function appendTimeline(trx: Queryable, scope: MerchantScope, step: TimelineRow): Promise<void> {
  await rows(
    trx,
    `INSERT INTO kyc_timeline (merchant_id, environment, occurred_at, kind, by, detail)
     VALUES (:merchantId, :environment, :occurredAt, :kind, :by, CAST(:detail AS jsonb))`,
    { ...scopeOf(scope), ...step, detail: JSON.stringify(step.detail) },
  );
}
