import { post } from '../../ledger/post.ts';
import { latePayoutPosting, payoutPosting, releasePosting, reversalPosting } from '../../ledger/postings.ts';
import { rows } from '../../lib/db.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { recordWithdrawalEvents } from './events.ts';
import { toPayout, updateWithdrawal, type WithdrawalRow } from './queries.ts';
import type { TimelineKind } from './schema.ts';
import { WITHDRAWAL_TRANSITIONS, type WithdrawalStatus } from './states.ts';
import { withdrawalMessage } from './workflow.ts';

/** One transition of a withdrawal. `changes`: what its row stores besides the status. */
export type Transition = {
  to: Exclude<WithdrawalStatus, 'PENDING'>;
  kind: TimelineKind;
  detail?: Record<string, unknown>;
  changes?: Partial<WithdrawalRow>;
  at: Date;
  /** false: the workflow itself makes the transition. */
  notifyWorkflow?: boolean | undefined;
};

/** The event of a transition, the signal to the workflow of a withdrawal that was PENDING, and the journal. */
const EFFECTS = {
  SUCCESS: { event: 'withdrawal.succeeded', signal: 'providerResultRecorded', posting: payoutPosting },
  FAILED: { event: 'withdrawal.failed', signal: 'providerResultRecorded', posting: releasePosting },
  REJECTED: { event: 'withdrawal.rejected', signal: 'rejected', posting: releasePosting },
  CANCELLED: { event: 'withdrawal.canceled', signal: 'cancelled', posting: releasePosting },
  REVERSED: { event: 'withdrawal.reversed', signal: 'providerResultRecorded', posting: reversalPosting },
} as const;

/**
 * Writes one transition of a locked withdrawal in the caller's transaction: the row, its timeline, its event, the signal to
 * its workflow, and its journal. Closes an open case of its provider's contradictions.
 */
export async function transitionWithdrawal(
  tx: UnitOfWork,
  before: WithdrawalRow,
  { to, kind, detail, changes, at, notifyWorkflow = true }: Transition,
): Promise<WithdrawalRow> {
  const { id, status } = before;
  if (!WITHDRAWAL_TRANSITIONS[status].includes(to)) throw new Error(`withdrawal ${id} is ${status}, not to be ${to}`);
  const { event, signal, posting } = EFFECTS[to];
  const row = await updateWithdrawal(tx.trx, before, {
    failure: null,
    ...changes,
    status: to,
    stage: 'COMPLETED',
    leaseUntil: null,
    version: before.version + 1,
    ...(to === 'REVERSED' ? { reversedAt: at } : { completedAt: at }),
  });
  await rows(tx.trx, 'UPDATE payout_case SET closed_at = :at WHERE payout_id = :id AND closed_at IS NULL', {
    id,
    at,
  });
  await recordTimeline(tx.trx, id, { at, kind, ...(detail && { detail }) });
  await recordWithdrawalEvents(tx, { row, events: [event], at });
  if (notifyWorkflow && status === 'PENDING') await tx.enqueue([withdrawalMessage(id, signal)]);
  const posted = await post(tx.trx, (status === 'FAILED' ? latePayoutPosting : posting)(toPayout(row)), at);
  if (posted !== 'posted') throw new Error(`withdrawal ${id} is ${to} without its journal: ${posted}`);
  return row;
}
