import {
  requireDistinctApprovers,
  requireIndependentApprover,
  type Actor,
  type Approver,
} from '../access/separation-of-duties.ts';
import { DAY_MS } from '../lib/dates.ts';
import { rows, type Knex, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import { SANDBOX_OPERATOR, sandboxDecision } from '../lib/sandbox-review.ts';
import type { Environment } from '../lib/scope.ts';
import { requireNotSuspended } from '../merchants/suspended.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { readWithdrawal, type WithdrawalRow } from './queries.ts';
import { CANCELLABLE_STAGES, type ReviewReason } from './states.ts';
import { transitionWithdrawal } from './transition.ts';
import { withdrawalMessage } from './workflow.ts';

/** When people look; data, of a merchant or of the platform. */
export type ReviewPolicy = { largeAmountSantim: Santim; twoPersonSantim: Santim; perHourMax: number };

export type ReviewFacts = {
  environment: Environment;
  amountSantim: Santim;
  policy: ReviewPolicy;
  /** How many the merchant asked for in the last hour, this one left out. */
  inLastHour: number;
  paidThereBefore: boolean;
  /** When the merchant was first paid for there under the name it is asked for now, if ever. */
  firstPaidThereAsAt: Date | null;
  at: Date;
};

/** How long a destination, or another name for one, stays new after it was first paid. */
const NEW_FOR_MS = 2 * DAY_MS;

/** Why this withdrawal is looked at, and by how many operators; nobody where there is no reason. */
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

/** The policy a merchant's withdrawals are reviewed by: its own, or (`own` false) the platform's. */
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

/** Gives a merchant a policy of its own, for withdrawals to come. Throws VALIDATION_ERROR. */
export async function setReviewPolicy(
  trx: Knex.Transaction,
  { merchantId, ...policy }: ReviewPolicy & { merchantId: string },
): Promise<void> {
  const { largeAmountSantim, twoPersonSantim } = policy;
  if (twoPersonSantim < largeAmountSantim) {
    const issue = `must be at least largeAmount, got ${formatBirr(twoPersonSantim)} and ${formatBirr(largeAmountSantim)}`;
    throw new AppError('VALIDATION_ERROR', `twoPersonAmount ${issue}`, {
      details: [{ field: 'twoPersonAmount', issue }],
    });
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

export { readWithdrawal };

/** Who decides: an operator, or the sandbox by itself. */
export type Decider = Actor & {
  at: Date;
  /** false: it is the workflow itself that decides, as in the sandbox. */
  notifyWorkflow?: boolean;
};

/**
 * One operator's yes. With the last one that is needed the withdrawal is about to be sent. Throws INVALID_STATE when it
 * is not under review, its merchant is suspended, this operator has said so already or has asked for it, or one person
 * may be behind this word and another one (keys/four-eyes.ts).
 */
export async function approveWithdrawal(
  tx: UnitOfWork,
  id: string,
  { operatorId, keyId, at, notifyWorkflow = true }: Decider,
): Promise<WithdrawalRow> {
  const { trx } = tx;
  const row = await lockUnderReview(tx, id);
  // The sandbox's own yes sends nothing, and what is approved is not sent while the merchant is suspended (check.ts).
  if (notifyWorkflow) {
    const what = 'this withdrawal is not approved';
    await requireNotSuspended(trx, row.merchantId, { what, instead: 'reject the withdrawal' });
  }
  const { requestedBy } = row;
  const secretHolders = await requireIndependentApprover(trx, { what: 'withdrawal', requestedBy, operatorId, keyId });
  const sql = 'SELECT operator_id, secret_holders FROM withdrawal_approval WHERE withdrawal_id = :id';
  const approvals = await rows<Approver>(trx, sql, { id });
  if (approvals.some((voice) => voice.operatorId === operatorId)) {
    throw new AppError('INVALID_STATE', 'You have approved this withdrawal already. Another operator must do so too.');
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
 * An operator's no: the money is the merchant's again. Throws INVALID_STATE once it was sent, or has ended: what was
 * approved, and is not sent because its merchant is suspended, can still be refused.
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

/** Wakes what was approved and not sent, as while its merchant was suspended. */
export async function resumeUnsent(tx: UnitOfWork, merchantId: string): Promise<void> {
  const unsent = await rows<{ id: string }>(
    tx.trx,
    `SELECT id FROM withdrawal WHERE merchant_id = :merchantId AND status = 'PENDING' AND stage = 'CREATED'`,
    { merchantId },
  );
  await tx.enqueue(unsent.map(({ id }) => withdrawalMessage(id, 'approved')));
}

/** The merchant takes it back. Throws INVALID_STATE once it was sent, or has ended. */
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

function notUnsent({ status, stage }: WithdrawalRow, done: 'cancelled' | 'rejected'): AppError {
  const state = status === 'PENDING' ? `was sent to its provider already (${stage})` : `is ${status}`;
  return new AppError('INVALID_STATE', `This withdrawal ${state}: only one that was not sent yet can be ${done}.`);
}

/** So that two operators' words are counted one after the other. Throws NOT_FOUND, INVALID_STATE. */
async function lockUnderReview(tx: UnitOfWork, id: string): Promise<WithdrawalRow> {
  await rows(tx.trx, 'SELECT 1 FROM withdrawal WHERE id = :id FOR UPDATE', { id });
  const row = await readWithdrawal(tx.trx, id);
  if (row.stage === 'UNDER_REVIEW') return row;
  const status = row.status === 'PENDING' ? row.stage : row.status;
  throw new AppError('INVALID_STATE', `This withdrawal is ${status}: only one under review can be decided.`);
}

/**
 * The sandbox's own review (lib/sandbox-review.ts), of a sandbox withdrawal that nobody has decided: approves it, rejects it, or
 * leaves it to an operator; with two approvals needed it gives both at once. One that somebody has decided meanwhile
 * is left alone. It is the workflow that asks, so it is not told.
 */
export async function autoDecide(
  deps: { db: Knex; runInTransaction: RunInTransaction },
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
      // An operator may have given one of them meanwhile.
      for (let status = row, given = 1; status.stage === 'UNDER_REVIEW'; given += 1) {
        status = await approveWithdrawal(tx, row.id, { ...decider, operatorId: `${SANDBOX_OPERATOR}-${given}` });
      }
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'INVALID_STATE') throw error;
  }
}
