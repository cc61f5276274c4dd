import { requireOtherEyes, type Speaker } from '../keys/four-eyes.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Change, RunChange } from '../lib/outbox.ts';
import { ownerOf, type Owner } from '../lib/owner.ts';
import { SANDBOX_OPERATOR } from '../lib/sandbox-review.ts';
import { findTier, lockApplication, readApplication, type ApplicationRow } from './model.ts';
import { DECIDABLE, sandboxDecision, type KycStatus } from './states.ts';
import { noteStep, type TimelineKind } from './timeline.ts';

export { lockApplication, readApplication };

/** Whose application, who decides, and when. */
export type Decision = Owner & Speaker & { at: Date };

/** A decision about what was handed in: about that `submission` and no later one, which nobody has read yet. */
export type Verdict = Decision & { submission: number };

/** The tier that an approval gives unless it names one. */
export const APPROVED_TIER = 2;

/** SUBMITTED → UNDER_REVIEW: an operator has taken it up. Throws INVALID_STATE. */
export async function startReview(change: Change, decision: Decision): Promise<ApplicationRow> {
  return move(change, decision, { from: ['SUBMITTED'], to: 'UNDER_REVIEW', kind: 'review.started', detail: {} });
}

/**
 * An operator's yes: the merchant stands in this tier (1 or above; 2, the full one, unless said) from now on. Of two
 * decisions at once one counts, the other gets INVALID_STATE, as do one about an earlier submission and an operator who
 * may have handed it in (keys/four-eyes.ts). Throws VALIDATION_ERROR for a tier that is not there.
 */
export async function approveKyc(
  change: Change,
  decision: Verdict & { tier?: number | undefined },
): Promise<ApplicationRow> {
  const tier = await requireTier(change, decision.tier ?? APPROVED_TIER);
  const before = await readApplication(change.trx, decision);
  if (DECIDABLE.includes(before.status)) await requireOthers(change, decision, before);
  return move(change, decision, { from: DECIDABLE, to: 'APPROVED', kind: 'review.approved', detail: { tier }, tier });
}

/** An operator's no, for a reason that the merchant is shown. It may apply again. Throws INVALID_STATE. */
export async function rejectKyc(change: Change, decision: Verdict & { reason: string }): Promise<ApplicationRow> {
  const { reason } = decision;
  const detail = { reason };
  return move(change, decision, { from: DECIDABLE, to: 'REJECTED', kind: 'review.rejected', detail, message: reason });
}

/** The merchant is to send more before it can be decided: `what` is shown to it. Throws INVALID_STATE. */
export async function requestMoreInfo(change: Change, decision: Verdict & { what: string }): Promise<ApplicationRow> {
  const { what } = decision;
  const detail = { what };
  const kind = 'review.more_info_needed';
  return move(change, decision, { from: DECIDABLE, to: 'MORE_INFO_NEEDED', kind, detail, message: what });
}

/**
 * Another tier for a merchant that is approved; a higher one not by an operator who may have handed it in. Throws
 * INVALID_STATE, VALIDATION_ERROR.
 */
export async function changeTier(
  change: Change,
  decision: Decision & { tier: number; reason: string },
): Promise<ApplicationRow> {
  const tier = await requireTier(change, decision.tier);
  const before = await readApplication(change.trx, decision);
  if (before.status === 'APPROVED' && tier > before.tier) await requireOthers(change, decision, before);
  const detail = { tier, reason: decision.reason };
  return move(change, decision, { from: ['APPROVED'], to: 'APPROVED', kind: 'tier.changed', detail, tier });
}

/** A rehearsal whose time has come is decided now; whatever else it is comes back as it was. */
export async function decideIfDue(change: Change, row: ApplicationRow, at: Date): Promise<ApplicationRow> {
  if (row.environment !== 'sandbox' || row.decideAt === null || row.decideAt > at) return row;
  const { submissions: submission, decideAt } = row;
  const decision = { ...ownerOf(row), submission, operatorId: SANDBOX_OPERATOR, at: decideAt };
  switch (sandboxDecision(row.details.tin)) {
    case 'approve':
      return approveKyc(change, decision);
    case 'reject':
      return rejectKyc(change, { ...decision, reason: 'The sandbox rejects a TIN that ends in 13.' });
    case 'ask':
      return requestMoreInfo(change, { ...decision, what: 'The sandbox asks for more when a TIN ends in 15.' });
    case 'wait':
      return row;
  }
}

/** Decides the rehearsals whose time has come, at most `most`; those that another process has locked are its own. */
export async function decideDueInSandbox(runChange: RunChange, at: Date, most: number): Promise<number> {
  return runChange(async (change) => {
    const due = await rows<ApplicationRow>(
      change.trx,
      `SELECT * FROM kyc_application WHERE decide_at <= :at AND environment = 'sandbox' AND status = 'SUBMITTED'
       ORDER BY decide_at LIMIT :most FOR UPDATE SKIP LOCKED`,
      { at, most },
    );
    for (const row of due) await decideIfDue(change, row, at);
    return due.length;
  });
}

async function requireOthers(
  { trx }: Change,
  { operatorId, keyId }: Speaker,
  { submittedBy }: ApplicationRow,
): Promise<void> {
  const handedIn = { what: 'application', done: 'handed in', requestedBy: submittedBy } as const;
  await requireOtherEyes(trx, { ...handedIn, operatorId, keyId });
}

async function requireTier(change: Change, tier: number): Promise<number> {
  if (tier > 0 && (await findTier(change.trx, tier))) return tier;
  const issue = `must be the number of a tier above 0, got ${tier}`;
  throw new AppError('VALIDATION_ERROR', `tier ${issue}`, { details: [{ field: 'tier', issue }] });
}

type Move = {
  from: readonly KycStatus[];
  to: KycStatus;
  kind: TimelineKind;
  detail: Record<string, unknown>;
  message?: string;
  /** Of an approval; whatever is not approved is in tier 0. */
  tier?: number;
};

/** One conditional UPDATE, with its step in the timeline. */
async function move(
  change: Change,
  decision: Decision | Verdict,
  { from, to, ...step }: Move,
): Promise<ApplicationRow> {
  const { operatorId, at } = decision;
  const submission = 'submission' in decision ? decision.submission : null;
  const [row] = await rows<ApplicationRow>(
    change.trx,
    `UPDATE kyc_application SET status = :to, tier = :tier, message = :message, decide_at = NULL, updated_at = :at,
       decided_by = CASE WHEN :decides THEN CAST(:operatorId AS text) ELSE decided_by END,
       decided_at = CASE WHEN :decides THEN CAST(:at AS timestamptz) ELSE decided_at END
     WHERE merchant_id = :merchantId AND environment = :environment AND status = ANY (:from)
       AND submissions = coalesce(CAST(:submission AS integer), submissions)
     RETURNING *`,
    {
      ...ownerOf(decision),
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
  if (!row) throw await refused(change, { ...decision, from, submission });
  await noteStep(change.trx, decision, { at, kind: step.kind, by: operatorId, detail: step.detail });
  return row;
}

type Refused = Owner & { from: readonly KycStatus[]; submission: number | null };

async function refused(change: Change, { from, submission, ...owner }: Refused): Promise<AppError> {
  const { status, submissions } = await readApplication(change.trx, owner);
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
