import {
  requireDistinctApprovers,
  requireIndependentApprover,
  type Actor,
  type Approver,
} from '../access/separation-of-duties.ts';
import { DAY_MS } from '../lib/dates.ts';
import { type Queryable, rows, type Trx } from '../lib/db.ts';
import { AppError, invalid } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import { SANDBOX_OPERATOR, sandboxDecision } from '../lib/sandbox-review.ts';
import type { Environment } from '../lib/scope.ts';
import { requireNotSuspended } from '../merchants/operations.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { lockWithdrawal, readWithdrawal, type WithdrawalRow } from './queries.ts';
import { CANCELLABLE_STAGES, type ReviewReason } from './states.ts';
import { transitionWithdrawal } from './transition.ts';
import { withdrawalMessage } from './workflow.ts';

/** When withdrawals are reviewed; set for a merchant or for the platform. */
export type ReviewPolicy = { largeAmountSantim: Santim; twoPersonSantim: Santim; perHourMax: number };

export type ReviewFacts = {
  environment: Environment;
  amountSantim: Santim;
  policy: ReviewPolicy;
  /** The merchant's withdrawals of the last hour, without this one. */
  inLastHour: number;
  paidThereBefore: boolean;
  /** The first payout to the beneficiary under the name now given; null if none. */
  firstPaidThereAsAt: Date | null;
  at: Date;
};

/** How long a destination, or another name for one, counts as new after its first payout. */
const NEW_FOR_MS = 2 * DAY_MS;

/** Why this withdrawal is reviewed, and how many operators must approve it; without a reason, none. */
export function assessReview(facts: ReviewFacts): { reasons: ReviewReason[]; approvalsNeeded: 0 | 1 | 2 } {
  const { policy, amountSantim } = facts;
  const { paidThereBefore, firstPaidThereAsAt: knownSince } = facts;
  const isNew = knownSince !== null && facts.at.getTime() - knownSince.getTime() < NEW_FOR_MS;
  const found: [ReviewReason, boolean][] = [
    ['FIRST_TO_BENEFICIARY', !paidThereBefore],
    ['BENEFICIARY_RENAMED', paidThereBefore && knownSince === null],
    ['NEW_BENEFICIARY', isNew],
    ['LARGE_AMOUNT', amountSantim >= policy.largeAmountSantim],
    ['MANY_IN_AN_HOUR', facts.inLastHour >= policy.perHourMax],
    ['SANDBOX_TEST', facts.environment === 'sandbox' && sandboxDecision(amountSantim) !== 'approve'],
  ];
  const reasons = found.flatMap(([reason, applies]) => (applies ? [reason] : []));
  if (reasons.length === 0) return { reasons, approvalsNeeded: 0 };
  return { reasons, approvalsNeeded: amountSantim >= policy.twoPersonSantim ? 2 : 1 };
}

/** The review policy of a merchant: its own, or (`own` false) the platform's. */
export async function readReviewPolicy(db: Queryable, merchantId: string): Promise<ReviewPolicy & { own: boolean }> {
  const [policy] = await rows<ReviewPolicy & { own: boolean }>(
    db,
    `SELECT large_amount_santim, two_person_santim, per_hour_max, merchant_id IS NOT NULL AS own FROM review_policy
     WHERE merchant_id = :merchantId OR merchant_id IS NULL ORDER BY merchant_id IS NULL LIMIT 1`,
    { merchantId },
  );
  if (!policy) throw new Error('the platform always has a policy');
  return policy;
}

/** Gives a merchant its own policy, for later withdrawals. Throws VALIDATION_ERROR. */
export async function setReviewPolicy(
  trx: Trx,
  { merchantId, ...policy }: ReviewPolicy & { merchantId: string },
): Promise<void> {
  const { largeAmountSantim, twoPersonSantim } = policy;
  if (twoPersonSantim < largeAmountSantim) {
    const issue = `must be at least largeAmount, got ${formatBirr(twoPersonSantim)} and ${formatBirr(largeAmountSantim)}`;
    throw invalid('twoPersonAmount', issue);
  }
  await rows(
    trx,
    `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
     VALUES (:merchantId, :largeAmountSantim, :twoPersonSantim, :perHourMax)
     ON CONFLICT (merchant_id) DO UPDATE SET large_amount_santim = excluded.large_amount_santim,
       two_person_santim = excluded.two_person_santim, per_hour_max = excluded.per_hour_max, updated_at = now()`,
    { merchantId, ...policy },
  );
}

/** Who decides: an operator or the sandbox. */
export type Decider = Actor & {
  at: Date;
  /** false where the workflow itself decides, as in the sandbox. */
  notifyWorkflow?: boolean;
};

/**
 * One operator's approval. The last one needed releases the withdrawal for sending. Throws NOT_FOUND; INVALID_STATE if it
 * is not under review, its merchant is suspended, or the approver is not independent of the requester and of the other
 * approvers (access/separation-of-duties.ts).
 */
export async function approveWithdrawal(
  tx: UnitOfWork,
  id: string,
  { operatorId, keyId, at, notifyWorkflow = true }: Decider,
): Promise<WithdrawalRow> {
  const { trx } = tx;
  const row = await lockUnderReview(tx, id);
  // The sandbox's own approval needs no check: an approved withdrawal of a suspended merchant is not sent (sync.ts).
  if (notifyWorkflow) {
    const what = 'this withdrawal is not approved';
    await requireNotSuspended(trx, row.merchantId, { what, instead: 'reject the withdrawal' });
  }
  const { requestedBy } = row;
  const secretHolders = await requireIndependentApprover(trx, { what: 'withdrawal', requestedBy, operatorId, keyId });
  const sql = 'SELECT operator_id, secret_holders FROM withdrawal_approval WHERE withdrawal_id = :id';
  const approvals = await rows<Approver>(trx, sql, { id });
  if (approvals.some((approval) => approval.operatorId === operatorId)) {
    throw new AppError(
      'INVALID_STATE',
      'You have already approved this withdrawal. Another operator must approve it too.',
    );
  }
  requireDistinctApprovers(approvals, { operatorId, secretHolders }, 'approve');
  const approvalsMissing = Math.max(row.approvalsNeeded - approvals.length - 1, 0);
  const [updated] = await rows<WithdrawalRow>(
    trx,
    `WITH added AS (
       INSERT INTO withdrawal_approval (withdrawal_id, operator_id, secret_holders, approved_at) VALUES (:id, :operatorId, :secretHolders, :at)
     ), timeline_row AS (
       INSERT INTO withdrawal_timeline (withdrawal_id, occurred_at, kind, detail)
       VALUES (:id, :at, 'review.approved', jsonb_build_object('approvalsMissing', CAST(:approvalsMissing AS int)))
     )
     UPDATE withdrawal SET version = version + 1,
       stage = CASE CAST(:approvalsMissing AS int) WHEN 0 THEN 'CREATED' ELSE stage END
     WHERE id = :id RETURNING *`,
    { id, operatorId, secretHolders, at, approvalsMissing },
  );
  if (approvalsMissing === 0 && notifyWorkflow) await tx.enqueue([withdrawalMessage(id, 'approved')]);
  return updated ?? row;
}

/**
 * An operator's rejection: the money is released to the merchant. Possible until the withdrawal is sent, also after
 * its approval. Throws NOT_FOUND, INVALID_STATE.
 */
export async function rejectWithdrawal(
  tx: UnitOfWork,
  id: string,
  { reason, at, notifyWorkflow = true }: Decider & { reason: string },
): Promise<WithdrawalRow> {
  const updated = await transitionWithdrawal(tx, {
    id,
    stages: CANCELLABLE_STAGES,
    to: 'REJECTED',
    kind: 'review.rejected',
    detail: { reason },
    failure: { code: 'REJECTED', message: reason, providerCode: '', retryable: false },
    event: 'withdrawal.rejected',
    at,
    signal: notifyWorkflow ? 'rejected' : null,
  });
  if (updated) return updated;
  throw notUnsent(await readWithdrawal(tx.trx, id), 'rejected');
}

/** Signals the workflows of approved withdrawals that were not sent while the merchant was suspended. */
export async function resumeUnsent(tx: UnitOfWork, merchantId: string): Promise<void> {
  const unsent = await rows<{ id: string }>(
    tx.trx,
    `SELECT id FROM withdrawal WHERE merchant_id = :merchantId AND status = 'PENDING' AND stage = 'CREATED'`,
    { merchantId },
  );
  await tx.enqueue(unsent.map(({ id }) => withdrawalMessage(id, 'approved')));
}

/** The merchant's cancellation. Throws INVALID_STATE once it was sent or has ended. */
export async function cancelWithdrawal(tx: UnitOfWork, row: WithdrawalRow, at: Date): Promise<WithdrawalRow> {
  const updated = await transitionWithdrawal(tx, {
    id: row.id,
    stages: CANCELLABLE_STAGES,
    to: 'CANCELLED',
    kind: 'withdrawal.cancelled',
    detail: {},
    event: 'withdrawal.canceled',
    at,
    signal: 'cancelled',
  });
  if (updated) return updated;
  throw notUnsent(await readWithdrawal(tx.trx, row.id), 'cancelled');
}

function notUnsent({ status, stage }: WithdrawalRow, change: 'cancelled' | 'rejected'): AppError {
  const state = status === 'PENDING' ? `was sent to its provider already (${stage})` : `is ${status}`;
  return new AppError('INVALID_STATE', `This withdrawal ${state}: only one that was not sent yet can be ${change}.`);
}

/** Locks the withdrawal, so that concurrent approvals are counted one after the other. Throws NOT_FOUND, INVALID_STATE. */
async function lockUnderReview(tx: UnitOfWork, id: string): Promise<WithdrawalRow> {
  const row = await lockWithdrawal(tx.trx, id);
  if (row.stage === 'UNDER_REVIEW') return row;
  const status = row.status === 'PENDING' ? row.stage : row.status;
  throw new AppError('INVALID_STATE', `This withdrawal is ${status}: only one under review can be decided.`);
}

/**
 * The sandbox's own review (lib/sandbox-review.ts): approves or rejects a sandbox withdrawal that is still under review, or
 * leaves it to an operator. Gives both approvals where two are needed. Called by the workflow, so no signal is sent.
 */
export async function autoDecide(
  deps: { db: Queryable; runInTransaction: RunInTransaction },
  withdrawalId: string,
  at: Date,
): Promise<void> {
  const row = await readWithdrawal(deps.db, withdrawalId);
  if (row.environment !== 'sandbox' || row.stage !== 'UNDER_REVIEW') return;
  const decision = sandboxDecision(row.amountSantim);
  if (decision === 'wait') return;
  const decider = { at, notifyWorkflow: false };
  try {
    if (decision === 'reject') {
      const reason = 'The sandbox rejects amounts that end in .13.';
      await deps.runInTransaction((tx) =>
        rejectWithdrawal(tx, row.id, { ...decider, operatorId: SANDBOX_OPERATOR, reason }),
      );
      return;
    }
    await deps.runInTransaction(async (tx) => {
      // An operator may have given one of two approvals.
      for (let current = row, given = 1; current.stage === 'UNDER_REVIEW'; given += 1) {
        current = await approveWithdrawal(tx, row.id, { ...decider, operatorId: `${SANDBOX_OPERATOR}-${given}` });
      }
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'INVALID_STATE') throw error;
  }
}
