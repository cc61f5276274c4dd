import { paidAfterAllFact, paidOutFact, releasedFact, reversedFact } from '../ledger/facts.ts';
import { post } from '../ledger/post.ts';
import { rows } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';
import type { Santim } from '../lib/money.ts';
import { OUTBOX_INSERT, type Change, type OutboxRow } from '../lib/outbox.ts';
import type { PayoutOutcome } from '../providers/provider.ts';
import { recordWithdrawalEvents, type WithdrawalEvent } from './events.ts';
import { moneyOut, type WithdrawalRow } from './model.ts';
import { WITHDRAWAL_MOVES, WITHDRAWAL_STATUSES, type WithdrawalStage, type WithdrawalStatus } from './states.ts';
import type { TimelineKind } from './timeline.ts';
import { withdrawalMessage, type WithdrawalSignal } from './workflow-input.ts';

/** One move of a withdrawal: where to, and what is kept of it. Where from, the table of states says. */
export type Move = {
  id: string;
  to: Exclude<WithdrawalStatus, 'PENDING'>;
  /** Where it must stand; anywhere that leads there by itself unless said. */
  from?: WithdrawalStatus;
  /** Only while it stands in one of these: a cancel or a rejection comes before anything is sent. */
  stages?: readonly WithdrawalStage[];
  kind: TimelineKind;
  detail: Record<string, unknown>;
  event: WithdrawalEvent;
  providerReference?: string | null;
  providerCode?: string | null;
  failure?: Record<string, unknown> | null;
  /** What the beneficiary got; the amount unless said. */
  paidSantim?: Santim;
  outcome?: PayoutOutcome['kind'];
  /** When its provider was asked, by the clock. */
  checkedAt?: Date;
  /** Not if its provider has ever said that it paid. */
  unlessSaidPaid?: boolean;
  at: Date;
  /** Wakes the workflow, unless it is the workflow that moves it. */
  wake: WithdrawalSignal | null;
};

const BOOKED = {
  SUCCESS: paidOutFact,
  FAILED: releasedFact,
  REJECTED: releasedFact,
  CANCELLED: releasedFact,
  REVERSED: reversedFact,
} as const;

/**
 * Makes one move, in the change's transaction: the row, its timeline, its event, its journal. null when it stood
 * elsewhere: then nothing has changed. Four statements.
 */
export async function moveWithdrawal(change: Change, move: Move): Promise<WithdrawalRow | null> {
  const messages: OutboxRow[] = move.wake ? [{ id: newId('obx'), ...withdrawalMessage(move.id, move.wake) }] : [];
  const [row] = await rows<WithdrawalRow>(
    change.trx,
    `WITH moved AS (
       UPDATE withdrawal SET status = :to, stage = 'ENDED', lease_until = NULL, version = version + 1,
         provider_reference = coalesce(:providerReference, provider_reference),
         provider_code = coalesce(:providerCode, provider_code), last_outcome = coalesce(:outcome, last_outcome),
         last_checked_at = coalesce(CAST(:checkedAt AS timestamptz), last_checked_at),
         failure = CAST(:failure AS jsonb),
         contradiction_ended_at = CASE WHEN contradicted_at IS NOT NULL THEN coalesce(contradiction_ended_at, CAST(:at AS timestamptz)) END,
         paid_santim = CASE WHEN CAST(:paidSantim AS bigint) IS NULL THEN paid_santim
                            ELSE nullif(CAST(:paidSantim AS bigint), amount_santim) END,
         completed_at = CASE WHEN CAST(:to AS text) = 'REVERSED' THEN completed_at ELSE CAST(:at AS timestamptz) END,
         reversed_at = CASE WHEN CAST(:to AS text) = 'REVERSED' THEN CAST(:at AS timestamptz) END
       WHERE id = :id AND status = ANY (:from) AND (CAST(:stages AS text[]) IS NULL OR stage = ANY (:stages))
         AND NOT (CAST(:unlessSaidPaid AS boolean) AND paid_said_at IS NOT NULL)
       RETURNING *
     ), noted AS (
       INSERT INTO withdrawal_timeline (withdrawal_id, at, kind, detail)
       SELECT id, CAST(:at AS timestamptz), :kind, CAST(:detail AS jsonb) FROM moved
     ), told AS (${OUTBOX_INSERT} WHERE EXISTS (SELECT 1 FROM moved))
     SELECT * FROM moved`,
    {
      id: move.id,
      to: move.to,
      from: move.from ? [move.from] : WITHDRAWAL_STATUSES.filter((one) => leadsTo(one, move.to)),
      stages: move.stages ? [...move.stages] : null,
      kind: move.kind,
      detail: JSON.stringify(move.detail),
      providerReference: move.providerReference ?? null,
      providerCode: move.providerCode ?? null,
      outcome: move.outcome ?? null,
      checkedAt: move.checkedAt ?? null,
      unlessSaidPaid: move.unlessSaidPaid ?? false,
      paidSantim: move.paidSantim ?? null,
      failure: move.failure ? JSON.stringify(move.failure) : null,
      at: move.at,
      messages: JSON.stringify(messages),
    },
  );
  if (!row) return null;
  change.told(messages);
  await recordWithdrawalEvents(change, { row, events: [move.event], at: move.at });
  const fact = move.from === 'FAILED' && move.to === 'SUCCESS' ? paidAfterAllFact : BOOKED[move.to];
  const posted = await post(change.trx, fact(moneyOut(row)), move.at);
  if (posted !== 'posted') throw new Error(`withdrawal ${row.id}: ${move.to} was booked before`);
  return row;
}

/** Whether it may go there with nobody's word for it: what has failed stays so. */
function leadsTo(from: WithdrawalStatus, to: WithdrawalStatus): boolean {
  return from !== 'FAILED' && WITHDRAWAL_MOVES[from].includes(to);
}
