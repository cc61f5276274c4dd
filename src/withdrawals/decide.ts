import { requireOtherEyes, requireOtherPerson, type Speaker, type Voice } from '../keys/four-eyes.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Change } from '../lib/outbox.ts';
import { requireNotSuspended } from '../merchants/suspended.ts';
import { readWithdrawal, type WithdrawalRow } from './model.ts';
import { moveWithdrawal } from './settle.ts';
import { CANCELLABLE_STAGES } from './states.ts';
import { withdrawalMessage } from './workflow-input.ts';

export { readWithdrawal };

/** Who decides: an operator, or the sandbox by itself. */
export type Decider = Speaker & {
  at: Date;
  /** false: it is the workflow itself that decides, as in the sandbox. */
  tellWorkflow?: boolean;
};

/**
 * One operator's yes. With the last one that is needed the withdrawal is about to be sent. Throws INVALID_STATE when it
 * is not under review, its merchant is suspended, this operator has said so already or has asked for it, or one person
 * may be behind this word and another one (keys/four-eyes.ts).
 */
export async function approveWithdrawal(
  change: Change,
  id: string,
  { operatorId, keyId, at, tellWorkflow = true }: Decider,
): Promise<WithdrawalRow> {
  const { trx } = change;
  const row = await lockUnderReview(change, id);
  // The sandbox's own yes sends nothing, and what is approved is not sent while the merchant is suspended (check.ts).
  if (tellWorkflow) {
    const what = 'this withdrawal is not approved';
    await requireNotSuspended(trx, row.merchantId, { what, instead: 'reject the withdrawal' });
  }
  const { requestedBy } = row;
  const eyes = await requireOtherEyes(trx, { what: 'withdrawal', requestedBy, operatorId, keyId });
  const sql = 'SELECT operator_id, eyes FROM withdrawal_approval WHERE withdrawal_id = :id';
  const said = await rows<Voice>(trx, sql, { id });
  if (said.some((voice) => voice.operatorId === operatorId)) {
    throw new AppError('INVALID_STATE', 'You have approved this withdrawal already. Another operator must do so too.');
  }
  requireOtherPerson(said, { operatorId, eyes }, 'approve');
  const approvalsMissing = Math.max(row.approvalsNeeded - said.length - 1, 0);
  const [moved] = await rows<WithdrawalRow>(
    trx,
    `WITH added AS (
       INSERT INTO withdrawal_approval (withdrawal_id, operator_id, eyes, at) VALUES (:id, :operatorId, :eyes, :at)
     ), noted AS (
       INSERT INTO withdrawal_timeline (withdrawal_id, at, kind, detail)
       VALUES (:id, :at, 'review.approved', jsonb_build_object('approvalsMissing', CAST(:approvalsMissing AS int)))
     )
     UPDATE withdrawal SET version = version + 1,
       stage = CASE CAST(:approvalsMissing AS int) WHEN 0 THEN 'CREATED' ELSE stage END
     WHERE id = :id RETURNING *`,
    { id, operatorId, eyes, at, approvalsMissing },
  );
  if (approvalsMissing === 0 && tellWorkflow) await change.tell([withdrawalMessage(id, 'approved')]);
  return moved ?? row;
}

/**
 * An operator's no: the money is the merchant's again. Throws INVALID_STATE once it was sent, or has ended: what was
 * approved, and is not sent because its merchant is suspended, can still be refused.
 */
export async function rejectWithdrawal(
  change: Change,
  id: string,
  { reason, at, tellWorkflow = true }: Decider & { reason: string },
): Promise<WithdrawalRow> {
  const moved = await moveWithdrawal(change, {
    id,
    stages: CANCELLABLE_STAGES,
    to: 'REJECTED',
    kind: 'review.rejected',
    detail: { reason },
    failure: { code: 'REJECTED', message: reason, providerCode: '', retryable: false },
    event: 'withdrawal.rejected',
    at,
    wake: tellWorkflow ? 'rejected' : null,
  });
  if (moved) return moved;
  throw notUnsent(await readWithdrawal(change.trx, id), 'rejected');
}

/** Wakes what was approved and not sent, as while its merchant was suspended. */
export async function wakeUnsent(change: Change, merchantId: string): Promise<void> {
  const unsent = await rows<{ id: string }>(
    change.trx,
    `SELECT id FROM withdrawal WHERE merchant_id = :merchantId AND status = 'PENDING' AND stage = 'CREATED'`,
    { merchantId },
  );
  await change.tell(unsent.map(({ id }) => withdrawalMessage(id, 'approved')));
}

/** The merchant takes it back. Throws INVALID_STATE once it was sent, or has ended. */
export async function cancelWithdrawal(change: Change, row: WithdrawalRow, at: Date): Promise<WithdrawalRow> {
  const moved = await moveWithdrawal(change, {
    id: row.id,
    stages: CANCELLABLE_STAGES,
    to: 'CANCELLED',
    kind: 'withdrawal.cancelled',
    detail: {},
    event: 'withdrawal.canceled',
    at,
    wake: 'cancelled',
  });
  if (moved) return moved;
  throw notUnsent(await readWithdrawal(change.trx, row.id), 'cancelled');
}

function notUnsent({ status, stage }: WithdrawalRow, done: 'cancelled' | 'rejected'): AppError {
  const stands = status === 'PENDING' ? `was sent to its provider already (${stage})` : `is ${status}`;
  return new AppError('INVALID_STATE', `This withdrawal ${stands}: only one that was not sent yet can be ${done}.`);
}

/** So that two operators' words are counted one after the other. Throws NOT_FOUND, INVALID_STATE. */
async function lockUnderReview(change: Change, id: string): Promise<WithdrawalRow> {
  await rows(change.trx, 'SELECT 1 FROM withdrawal WHERE id = :id FOR UPDATE', { id });
  const row = await readWithdrawal(change.trx, id);
  if (row.stage === 'UNDER_REVIEW') return row;
  const stands = row.status === 'PENDING' ? row.stage : row.status;
  throw new AppError('INVALID_STATE', `This withdrawal is ${stands}: only one under review can be decided.`);
}
