import { requireAnotherMember } from '../../access/separation-of-duties.ts';
import { rolesWith } from '../../access/users/roles.ts';
import type { Clock } from '../../lib/clock.ts';
import { invalidState } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { formatBirr } from '../../lib/money.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import { notifyMembers } from '../../outbox/mail.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import { workOff } from '../../outbox/work-off.ts';
import { stateOf } from '../queries.ts';
import { confirmableUntil } from '../states.ts';
import { recordWithdrawalEvents } from './events.ts';
import { findWithdrawal, lockOldestAwaiting, lockWithdrawal, updateWithdrawal, type WithdrawalRow } from './queries.ts';
import { endUnsent, stageAfterConfirmation } from './review.ts';
import { transitionWithdrawal } from './transition.ts';
import { withdrawalMessage } from './workflow.ts';

/** A decision of a merchant's user. `notices`: sentences that are added to the message of the response. */
type Decision = { withdrawalId: string; userId: string; at: Date; notices: string[] };

/**
 * The confirmation by a second person of the merchant: the withdrawal goes on to its review, or to be sent. Throws NOT_FOUND;
 * INVALID_STATE unless it waits for one, after 7 days, or, in live, if the person has requested it.
 */
export async function confirmWithdrawal(
  tx: UnitOfWork,
  scope: MerchantScope,
  { withdrawalId, userId, at, notices }: Decision,
): Promise<WithdrawalRow> {
  const { trx } = tx;
  const before = await lockAwaiting(tx, scope, withdrawalId);
  const until = confirmableUntil(before.requestedAt);
  if (at >= until)
    throw invalidState(`This withdrawal could be confirmed until ${until.toISOString()}; it is cancelled.`);
  const { id, reviewReasons: reasons, approvalsNeeded } = before;
  await requireAnotherMember(trx, { userId, notices }, { ...before, what: 'withdrawal' });
  const stage = stageAfterConfirmation(before);
  const confirmed = { confirmedBy: userId, confirmedAt: at };
  const row = await updateWithdrawal(tx.trx, before, { ...confirmed, stage, version: before.version + 1 });
  await recordTimeline(trx, id, { at, kind: 'confirmation.given' });
  if (stage === 'UNDER_REVIEW') {
    await recordTimeline(trx, id, { at, kind: 'review.started', detail: { reasons, approvalsNeeded } });
    await recordWithdrawalEvents(tx, { row, events: ['withdrawal.under_review'], at });
  }
  await tx.enqueue([withdrawalMessage(id, 'confirmed')]);
  return row;
}

/** The decision not to confirm it: it is cancelled, and its money is available again. Throws NOT_FOUND, INVALID_STATE. */
export async function declineWithdrawal(
  tx: UnitOfWork,
  scope: MerchantScope,
  { withdrawalId, reason, at }: Pick<Decision, 'withdrawalId' | 'at'> & { reason: string },
): Promise<WithdrawalRow> {
  const { id } = await lockAwaiting(tx, scope, withdrawalId);
  return endUnsent(tx, id, { to: 'CANCELLED', kind: 'confirmation.declined', detail: { reason }, at });
}

/**
 * Cancels withdrawals that were not confirmed in time, oldest first, each in a transaction of its own, and mails those who
 * may confirm them, and the requester. For a periodic job.
 */
export async function cancelUnconfirmed(
  { runInTransaction, log, clock }: { runInTransaction: RunInTransaction; log: Logger; clock: Clock },
  stopping: AbortSignal,
): Promise<void> {
  await workOff(
    { runInTransaction, log },
    {
      next: async ({ trx }, failed) => {
        const oldest = await lockOldestAwaiting(trx, failed);
        return oldest && clock() >= confirmableUntil(oldest.requestedAt) ? oldest : undefined;
      },
      work: (tx, row) => cancelInTurn(tx, row, clock()),
      stopping,
    },
  );
}

async function cancelInTurn(tx: UnitOfWork, before: WithdrawalRow, at: Date): Promise<void> {
  const { id: withdrawalId, reference: requestId, channel, requestedBy } = before;
  await transitionWithdrawal(tx, before, { to: 'CANCELLED', kind: 'confirmation.expired', at });
  const facts = { withdrawalId, requestId, channel, amount: formatBirr(before.amountSantim) };
  await notifyMembers(tx, before, {
    kind: 'withdrawal.unconfirmed',
    roles: rolesWith('withdrawals:write'),
    userIds: [requestedBy],
    ...facts,
  });
}

async function lockAwaiting(tx: UnitOfWork, scope: MerchantScope, withdrawalId: string): Promise<WithdrawalRow> {
  const { id } = await findWithdrawal(tx.trx, scope, withdrawalId);
  const row = await lockWithdrawal(tx.trx, id);
  if (row.stage === 'AWAITING_CONFIRMATION') return row;
  throw invalidState(
    `This withdrawal is ${stateOf(row)}: only one that waits for a second person can be decided here.`,
  );
}
