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
  applicationOf,
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

/**
 * A decision of an operator. `submission`: the one that was read, so that a later one is not decided unread. The merchant
 * reads `message`: why it was rejected, or what is missing. `tier`: the full one unless given.
 */
export type KycCommand =
  | { type: 'review' }
  | { type: 'approve'; submission: number; tier?: number | undefined }
  | { type: 'reject' | 'request-info'; submission: number; message: string };

/** The default tier of an approval. */
export const APPROVED_TIER = 2;

/**
 * SUBMITTED → UNDER_REVIEW; SUBMITTED or UNDER_REVIEW → APPROVED, with a tier above 0, REJECTED or MORE_INFO_NEEDED, after
 * which the merchant may apply again. Throws INVALID_STATE for the second of two concurrent decisions, for an earlier
 * submission, and in live for the approval of the operator behind the submission (access/separation-of-duties.ts);
 * VALIDATION_ERROR for an unknown tier.
 */
export async function decideKyc(tx: UnitOfWork, decision: Decision, command: KycCommand): Promise<ApplicationRow> {
  switch (command.type) {
    case 'review':
      return transition(tx, decision, { from: ['SUBMITTED'], to: 'UNDER_REVIEW', kind: 'review.started', detail: {} });
    case 'approve': {
      const { submission } = command;
      const tier = await ensureTier(tx, command.tier ?? APPROVED_TIER);
      const before = await readApplication(tx.trx, decision);
      if (DECIDABLE.includes(before.status)) await ensureIndependent(tx, decision, before);
      const approved = { from: DECIDABLE, to: 'APPROVED', kind: 'review.approved', detail: { tier }, tier } as const;
      return transition(tx, decision, { ...approved, submission });
    }
    case 'reject': {
      const { submission, message } = command;
      const rejected = { from: DECIDABLE, to: 'REJECTED', kind: 'review.rejected' } as const;
      return transition(tx, decision, { ...rejected, submission, message, detail: { reason: message } });
    }
    case 'request-info': {
      const { submission, message } = command;
      const requested = { from: DECIDABLE, to: 'MORE_INFO_NEEDED', kind: 'review.more_info_needed' } as const;
      return transition(tx, decision, { ...requested, submission, message, detail: { what: message } });
    }
  }
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
  const decision = { ...scopeOf(row), operatorId: SANDBOX_OPERATOR, at: autoDecideAt };
  const type = sandboxDecision(row.details.tin);
  if (type === 'wait') return row;
  const command = type === 'approve' ? { type } : { type, message: SANDBOX_MESSAGES[type] };
  return decideKyc(tx, decision, { ...command, submission });
}

const SANDBOX_MESSAGES = {
  reject: 'The sandbox rejects a TIN that ends in 13.',
  'request-info': 'The sandbox requests more information for a TIN that ends in 15.',
};

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
  throw invalid('tier', `must be the number of a tier above 0, got ${tier}`);
}

type Transition = {
  from: readonly KycStatus[];
  to: KycStatus;
  kind: TimelineKind;
  detail: Record<string, unknown>;
  message?: string;
  /** Only of APPROVED; all others are in tier 0. */
  tier?: number;
  /** Any, unless given. */
  submission?: number;
};

/** One conditional UPDATE, with its timeline entry. */
async function transition(tx: UnitOfWork, decision: Decision, step: Transition): Promise<ApplicationRow> {
  const { operatorId, at } = decision;
  const { from, to, submission, kind, detail } = step;
  const change = {
    status: to,
    tier: step.tier ?? 0,
    reviewMessage: step.message ?? null,
    autoDecideAt: null,
    updatedAt: at,
    ...(to !== 'UNDER_REVIEW' && { decidedBy: operatorId, decidedAt: at }),
  };
  const [row] = await applicationOf(tx, decision)
    .whereIn('status', from)
    .where(submission === undefined ? {} : { submissions: submission })
    .update(change)
    .returning('*');
  if (!row) throw stateError(await readApplication(tx.trx, decision), step);
  await recordTimeline<TimelineKind>(tx.trx, applicationId(decision), { at, actor: operatorId, kind, detail });
  return row;
}

function stateError({ status, submissions }: ApplicationRow, { from, submission }: Transition): AppError {
  if (submission !== undefined && submission !== submissions && from.includes(status)) {
    const newer = `you decide about submission ${submission}, and submission ${submissions} waits`;
    return new AppError(
      'INVALID_STATE',
      `This application was submitted again meanwhile: ${newer}. Read that one first.`,
    );
  }
  const allowed = from.join(' or ');
  return new AppError('INVALID_STATE', `This application is ${status}: that is possible only while it is ${allowed}.`);
}
