import { requireIndependentApprover, type Actor } from '../../access/separation-of-duties.ts';
import { rows } from '../../lib/db.ts';
import { AppError } from '../../lib/errors.ts';
import { SANDBOX_OPERATOR } from '../../lib/sandbox-review.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork, RunInTransaction } from '../../outbox/record.ts';
import { findTier, readApplication, type ApplicationRow } from './model.ts';
import { DECIDABLE, sandboxDecision, type KycStatus } from './states.ts';
import { appendTimeline, type TimelineKind } from './timeline.ts';

/** Whose application, who decides, and when. */
export type Decision = MerchantScope & Actor & { at: Date };

/** A decision about what was handed in: about that `submission` and no later one, which nobody has read yet. */
export type ReviewDecision = Decision & { submission: number };

/** The tier that an approval gives unless it names one. */
export const APPROVED_TIER = 2;

/** SUBMITTED → UNDER_REVIEW: an operator has taken it up. Throws INVALID_STATE. */
export async function startReview(tx: UnitOfWork, decision: Decision): Promise<ApplicationRow> {
  return transition(tx, decision, { from: ['SUBMITTED'], to: 'UNDER_REVIEW', kind: 'review.started', detail: {} });
}

/**
 * An operator's yes: the merchant stands in this tier (1 or above; 2, the full one, unless said) from now on. Of two
 * decisions at once one counts, the other gets INVALID_STATE, as do one about an earlier submission and an operator who
 * may have handed it in (keys/four-eyes.ts). Throws VALIDATION_ERROR for a tier that is not there.
 */
export async function approveKyc(
  tx: UnitOfWork,
  decision: ReviewDecision & { tier?: number | undefined },
): Promise<ApplicationRow> {
  const tier = await requireTier(tx, decision.tier ?? APPROVED_TIER);
  const before = await readApplication(tx.trx, decision);
  if (DECIDABLE.includes(before.status)) await requireOthers(tx, decision, before);
  return transition(tx, decision, { from: DECIDABLE, to: 'APPROVED', kind: 'review.approved', detail: { tier }, tier });
}

/** An operator's no, for a reason that the merchant is shown. It may apply again. Throws INVALID_STATE. */
export async function rejectKyc(
  tx: UnitOfWork,
  decision: ReviewDecision & { reason: string },
): Promise<ApplicationRow> {
  const { reason } = decision;
  const detail = { reason };
  return transition(tx, decision, {
    from: DECIDABLE,
    to: 'REJECTED',
    kind: 'review.rejected',
    detail,
    message: reason,
  });
}

/** The merchant is to send more before it can be decided: `what` is shown to it. Throws INVALID_STATE. */
export async function requestMoreInfo(
  tx: UnitOfWork,
  decision: ReviewDecision & { what: string },
): Promise<ApplicationRow> {
  const { what } = decision;
  const detail = { what };
  const kind = 'review.more_info_needed';
  return transition(tx, decision, { from: DECIDABLE, to: 'MORE_INFO_NEEDED', kind, detail, message: what });
}

/**
 * Another tier for a merchant that is approved; a higher one not by an operator who may have handed it in. Throws
 * INVALID_STATE, VALIDATION_ERROR.
 */
export async function changeTier(
  tx: UnitOfWork,
  decision: Decision & { tier: number; reason: string },
): Promise<ApplicationRow> {
  const tier = await requireTier(tx, decision.tier);
  const before = await readApplication(tx.trx, decision);
  if (before.status === 'APPROVED' && tier > before.tier) await requireOthers(tx, decision, before);
  const detail = { tier, reason: decision.reason };
  return transition(tx, decision, { from: ['APPROVED'], to: 'APPROVED', kind: 'tier.changed', detail, tier });
}

/** A rehearsal whose time has come is decided now; whatever else it is comes back as it was. */
export async function decideIfDue(tx: UnitOfWork, row: ApplicationRow, at: Date): Promise<ApplicationRow> {
  if (row.environment !== 'sandbox' || row.autoDecideAt === null || row.autoDecideAt > at) return row;
  const { submissions: submission, autoDecideAt } = row;
  const decision = { ...scopeOf(row), submission, operatorId: SANDBOX_OPERATOR, at: autoDecideAt };
  switch (sandboxDecision(row.details.tin)) {
    case 'approve':
      return approveKyc(tx, decision);
    case 'reject':
      return rejectKyc(tx, { ...decision, reason: 'The sandbox rejects a TIN that ends in 13.' });
    case 'ask':
      return requestMoreInfo(tx, { ...decision, what: 'The sandbox asks for more when a TIN ends in 15.' });
    case 'wait':
      return row;
  }
}

/** Decides the rehearsals whose time has come, at most `most`; those that another process has locked are its own. */
export async function decideDueInSandbox(runInTransaction: RunInTransaction, at: Date, most: number): Promise<number> {
  return runInTransaction(async (tx) => {
    const due = await rows<ApplicationRow>(
      tx.trx,
      `SELECT * FROM kyc_application WHERE auto_decide_at <= :at AND environment = 'sandbox' AND status = 'SUBMITTED'
       ORDER BY auto_decide_at LIMIT :most FOR UPDATE SKIP LOCKED`,
      { at, most },
    );
    for (const row of due) await decideIfDue(tx, row, at);
    return due.length;
  });
}

async function requireOthers(
  { trx }: UnitOfWork,
  { operatorId, keyId }: Actor,
  { submittedBy }: ApplicationRow,
): Promise<void> {
  const handedIn = { what: 'application', done: 'submitted', requestedBy: submittedBy } as const;
  await requireIndependentApprover(trx, { ...handedIn, operatorId, keyId });
}

async function requireTier(tx: UnitOfWork, tier: number): Promise<number> {
  if (tier > 0 && (await findTier(tx.trx, tier))) return tier;
  const issue = `must be the number of a tier above 0, got ${tier}`;
  throw new AppError('VALIDATION_ERROR', `tier ${issue}`, { details: [{ field: 'tier', issue }] });
}

type Transition = {
  from: readonly KycStatus[];
  to: KycStatus;
  kind: TimelineKind;
  detail: Record<string, unknown>;
  message?: string;
  /** Of an approval; whatever is not approved is in tier 0. */
  tier?: number;
};

/** One conditional UPDATE, with its step in the timeline. */
async function transition(
  tx: UnitOfWork,
  decision: Decision | ReviewDecision,
  { from, to, ...step }: Transition,
): Promise<ApplicationRow> {
  const { operatorId, at } = decision;
  const submission = 'submission' in decision ? decision.submission : null;
  const [row] = await rows<ApplicationRow>(
    tx.trx,
    `UPDATE kyc_application SET status = :to, tier = :tier, review_message = :message, auto_decide_at = NULL, updated_at = :at,
       decided_by = CASE WHEN :decides THEN CAST(:operatorId AS text) ELSE decided_by END,
       decided_at = CASE WHEN :decides THEN CAST(:at AS timestamptz) ELSE decided_at END
     WHERE merchant_id = :merchantId AND environment = :environment AND status = ANY (:from)
       AND submissions = coalesce(CAST(:submission AS integer), submissions)
     RETURNING *`,
    {
      ...scopeOf(decision),
      from: [...from],
      submission,
      to,
      tier: step.tier ?? 0,
      message: step.message ?? null,
      decides: to !== 'UNDER_REVIEW',
      operatorId,
      at,
    },
  );
  if (!row) throw await refused(tx, { ...decision, from, submission });
  await appendTimeline(tx.trx, decision, { occurredAt: at, kind: step.kind, by: operatorId, detail: step.detail });
  return row;
}

type Rejected = MerchantScope & { from: readonly KycStatus[]; submission: number | null };

async function refused(tx: UnitOfWork, { from, submission, ...scope }: Rejected): Promise<AppError> {
  const { status, submissions } = await readApplication(tx.trx, scope);
  if (submission !== null && submission !== submissions && from.includes(status)) {
    const read = `you decide about submission ${submission}, and submission ${submissions} waits`;
    return new AppError(
      'INVALID_STATE',
      `This application was submitted again meanwhile: ${read}. Read that one first.`,
    );
  }
  const allowed = from.join(' or ');
  return new AppError('INVALID_STATE', `This application is ${status}: that is possible only while it is ${allowed}.`);
}
