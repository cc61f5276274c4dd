import {
  requireIndependentApprover,
  requireDistinctApprovers,
  type Actor,
  type Approver,
} from '../access/separation-of-duties.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { lock } from '../lib/lock.ts';
import { requireNotSuspended } from '../merchants/operations.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { readWithdrawal, type WithdrawalRow } from './model.ts';
import { CANCELLABLE_STAGES } from './states.ts';
import { transitionWithdrawal } from './transition.ts';
import { withdrawalMessage } from './workflow-input.ts';

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
  await lock(tx.trx, 'withdrawal', id);
  const row = await readWithdrawal(tx.trx, id);
  if (row.stage === 'UNDER_REVIEW') return row;
  const status = row.status === 'PENDING' ? row.stage : row.status;
  throw new AppError('INVALID_STATE', `This withdrawal is ${status}: only one under review can be decided.`);
}
