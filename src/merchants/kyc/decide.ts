import { requireAnotherPerson, type Actor } from '../../access/separation-of-duties.ts';
import { type Database, rows } from '../../lib/db.ts';
import { AppError, invalid } from '../../lib/errors.ts';
import { SANDBOX_OPERATOR } from '../../lib/sandbox-review.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import type { UnitOfWork, RunInTransaction } from '../../outbox/record.ts';
import type { KycStatus } from '../operations.ts';
import {
  applicationId,
  findTier,
  kycOf,
  lockApplication,
  readApplication,
  type ApplicationRow,
  type Kyc,
} from './queries.ts';
import type { TimelineKind } from './schema.ts';
import { DECIDABLE, sandboxDecision } from './states.ts';

/** The application, the operator, and the time. */
export type Decision = MerchantScope & Actor & { at: Date };

/** A decision about one `submission`, not about a later one that the operator has not read. */
export type ReviewDecision = Decision & { submission: number };

/** The default tier of an approval. */
export const APPROVED_TIER = 2;

/** SUBMITTED → UNDER_REVIEW. Throws INVALID_STATE. */
export async function startReview(tx: UnitOfWork, decision: Decision): Promise<ApplicationRow> {
  return transition(tx, decision, { from: ['SUBMITTED'], to: 'UNDER_REVIEW', kind: 'review.started', detail: {} });
}

/**
 * SUBMITTED or UNDER_REVIEW → APPROVED, with a tier above 0; by default 2, the full one. Throws INVALID_STATE for the second
 * of two concurrent decisions, for an earlier submission, and in live for the operator behind the submission
 * (access/separation-of-duties.ts); VALIDATION_ERROR for an unknown tier.
 */
export async function approveKyc(
  tx: UnitOfWork,
  decision: ReviewDecision & { tier?: number | undefined },
): Promise<ApplicationRow> {
  const tier = await ensureTier(tx, decision.tier ?? APPROVED_TIER);
  const before = await readApplication(tx.trx, decision);
  if (DECIDABLE.includes(before.status)) await ensureIndependent(tx, decision, before);
  return transition(tx, decision, { from: DECIDABLE, to: 'APPROVED', kind: 'review.approved', detail: { tier }, tier });
}

/** SUBMITTED or UNDER_REVIEW → REJECTED. The merchant reads the reason and may apply again. Throws INVALID_STATE. */
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

/** SUBMITTED or UNDER_REVIEW → MORE_INFO_NEEDED. The merchant reads `what`. Throws INVALID_STATE. */
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
 * Changes the tier of an APPROVED merchant; a higher one in live not by the operator behind the submission.
 * Throws INVALID_STATE, VALIDATION_ERROR.
 */
export async function changeTier(
  tx: UnitOfWork,
  decision: Decision & { tier: number; reason: string },
): Promise<ApplicationRow> {
  const tier = await ensureTier(tx, decision.tier);
  const before = await readApplication(tx.trx, decision);
  if (before.status === 'APPROVED' && tier > before.tier) await ensureIndependent(tx, decision, before);
  const detail = { tier, reason: decision.reason };
  return transition(tx, decision, { from: ['APPROVED'], to: 'APPROVED', kind: 'tier.changed', detail, tier });
}

/** Decides a sandbox application that is due; returns any other unchanged. */
export async function decideIfDue(tx: UnitOfWork, row: ApplicationRow, at: Date): Promise<ApplicationRow> {
  if (row.environment !== 'sandbox' || row.autoDecideAt === null || row.autoDecideAt > at) return row;
  const { submissions: submission, autoDecideAt } = row;
  const decision = { ...scopeOf(row), submission, operatorId: SANDBOX_OPERATOR, at: autoDecideAt };
  switch (sandboxDecision(row.details.tin)) {
    case 'approve':
      return approveKyc(tx, decision);
    case 'reject':
      return rejectKyc(tx, { ...decision, reason: 'The sandbox rejects a TIN that ends in 13.' });
    case 'request_info':
      return requestMoreInfo(tx, {
        ...decision,
        what: 'The sandbox requests more information for a TIN that ends in 15.',
      });
    case 'wait':
      return row;
  }
}

/** Decides at most `most` due sandbox applications; skips those locked by another process. */
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

type Deps = { db: Database; runInTransaction: RunInTransaction };

/** A merchant's KYC; decides a due sandbox application first. */
export async function readKyc({ db, runInTransaction }: Deps, scope: MerchantScope, at: Date): Promise<Kyc> {
  const found = await readApplication(db, scope);
  if (found.autoDecideAt === null || found.autoDecideAt > at) return kycOf(db, found);
  return kycOf(db, await runInTransaction(async (tx) => decideIfDue(tx, await lockApplication(tx.trx, scope), at)));
}

async function ensureIndependent(
  { trx }: UnitOfWork,
  operator: Actor,
  { environment, submittedBy: preparedBy }: ApplicationRow,
): Promise<void> {
  await requireAnotherPerson(trx, operator, { environment, what: 'application', done: 'submitted', preparedBy });
}

async function ensureTier(tx: UnitOfWork, tier: number): Promise<number> {
  if (tier > 0 && (await findTier(tx.trx, tier))) return tier;
  const issue = `must be the number of a tier above 0, got ${tier}`;
  throw invalid('tier', issue);
}

type Transition = {
  from: readonly KycStatus[];
  to: KycStatus;
  kind: TimelineKind;
  detail: Record<string, unknown>;
  message?: string;
  /** Only of APPROVED; all others are in tier 0. */
  tier?: number;
};

/** One conditional UPDATE, with its timeline entry. */
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
  if (!row) throw await stateError(tx, { ...decision, from, submission });
  await recordTimeline<TimelineKind>(tx.trx, applicationId(decision), {
    at,
    actor: operatorId,
    kind: step.kind,
    detail: step.detail,
  });
  return row;
}

type FailedTransition = MerchantScope & { from: readonly KycStatus[]; submission: number | null };

async function stateError(tx: UnitOfWork, { from, submission, ...scope }: FailedTransition): Promise<AppError> {
  const { status, submissions } = await readApplication(tx.trx, scope);
  if (submission !== null && submission !== submissions && from.includes(status)) {
    const newer = `you decide about submission ${submission}, and submission ${submissions} waits`;
    return new AppError(
      'INVALID_STATE',
      `This application was submitted again meanwhile: ${newer}. Read that one first.`,
    );
  }
  const allowed = from.join(' or ');
  return new AppError('INVALID_STATE', `This application is ${status}: that is possible only while it is ${allowed}.`);
}
