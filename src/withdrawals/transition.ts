import { post } from '../ledger/post.ts';
import { latePayoutPosting, payoutPosting, releasePosting, reversalPosting } from '../ledger/postings.ts';
import { rows } from '../lib/db.ts';
import { newId } from '../lib/ids.ts';
import type { Santim } from '../lib/money.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import { OUTBOX_INSERT, type UnitOfWork, type OutboxRow } from '../outbox/record.ts';
import type { PayoutOutcome } from '../providers/provider.ts';
import { recordWithdrawalEvents, type WithdrawalEvent } from './events.ts';
import { toPayout, type WithdrawalRow } from './queries.ts';
import { WITHDRAWAL_TRANSITIONS, WITHDRAWAL_STATUSES, type WithdrawalStage, type WithdrawalStatus } from './states.ts';
import type { TimelineKind } from './timeline.ts';
import { withdrawalMessage, type WithdrawalSignal } from './workflow.ts';

/** A transition of a withdrawal. The statuses before it follow from WITHDRAWAL_TRANSITIONS. */
export type Transition = {
  id: string;
  to: Exclude<WithdrawalStatus, 'PENDING'>;
  /** The status before it, if only one is allowed. FAILED must be given: it is left by operators' resolution only. */
  from?: WithdrawalStatus;
  /** The stages before it, if only some are allowed: a cancellation or rejection comes before anything is sent. */
  stages?: readonly WithdrawalStage[];
  kind: TimelineKind;
  detail: Record<string, unknown>;
  event: WithdrawalEvent;
  providerReference?: string | null;
  providerCode?: string | null;
  failure?: Record<string, unknown> | null;
  /** What the beneficiary received, if not the amount. */
  paidSantim?: Santim;
  outcome?: PayoutOutcome['kind'];
  /** When the provider was queried, by the clock. */
  checkedAt?: Date;
  /** No transition if the provider has ever reported the payout as paid. */
  unlessReportedPaid?: boolean;
  at: Date;
  /** The signal for the workflow; null where the workflow itself makes the transition. */
  signal: WithdrawalSignal | null;
};

const POSTINGS = {
  SUCCESS: payoutPosting,
  FAILED: releasePosting,
  REJECTED: releasePosting,
  CANCELLED: releasePosting,
  REVERSED: reversalPosting,
} as const;

/**
 * Makes one transition: the row, its timeline, its event, its journal. Closes an open case (conflicts.ts).
 * Four statements. Returns null, with nothing changed, if the withdrawal was not in a status or stage before it.
 */
export async function transitionWithdrawal(tx: UnitOfWork, transition: Transition): Promise<WithdrawalRow | null> {
  const messages: OutboxRow[] = transition.signal
    ? [{ id: newId('obx'), ...withdrawalMessage(transition.id, transition.signal) }]
    : [];
  const [row] = await rows<WithdrawalRow>(
    tx.trx,
    `WITH updated AS (
       UPDATE withdrawal SET status = :to, stage = 'COMPLETED', lease_until = NULL, version = version + 1,
         provider_reference = coalesce(:providerReference, provider_reference),
         provider_code = coalesce(:providerCode, provider_code), last_outcome = coalesce(:outcome, last_outcome),
         last_checked_at = coalesce(CAST(:checkedAt AS timestamptz), last_checked_at),
         failure = CAST(:failure AS jsonb),
         paid_santim = CASE WHEN CAST(:paidSantim AS bigint) IS NULL THEN paid_santim
                            ELSE nullif(CAST(:paidSantim AS bigint), amount_santim) END,
         completed_at = CASE WHEN CAST(:to AS text) = 'REVERSED' THEN completed_at ELSE CAST(:at AS timestamptz) END,
         reversed_at = CASE WHEN CAST(:to AS text) = 'REVERSED' THEN CAST(:at AS timestamptz) END
       WHERE id = :id AND status = ANY (:from) AND (CAST(:stages AS text[]) IS NULL OR stage = ANY (:stages))
         AND NOT (CAST(:unlessReportedPaid AS boolean) AND first_reported_paid_at IS NOT NULL)
       RETURNING *
     ), closed_case AS (
       UPDATE payout_case c SET closed_at = CAST(:at AS timestamptz)
       FROM updated WHERE c.withdrawal_id = updated.id AND c.closed_at IS NULL
     ), timeline_row AS (
       ${TIMELINE_INSERT}
       SELECT id, CAST(:at AS timestamptz), :kind, CAST(:detail AS jsonb) FROM updated
     ), outbox_row AS (${OUTBOX_INSERT} WHERE EXISTS (SELECT 1 FROM updated))
     SELECT * FROM updated`,
    {
      id: transition.id,
      to: transition.to,
      from: transition.from
        ? [transition.from]
        : WITHDRAWAL_STATUSES.filter((one) => canTransition(one, transition.to)),
      stages: transition.stages ? [...transition.stages] : null,
      kind: transition.kind,
      detail: JSON.stringify(transition.detail),
      providerReference: transition.providerReference ?? null,
      providerCode: transition.providerCode ?? null,
      outcome: transition.outcome ?? null,
      checkedAt: transition.checkedAt ?? null,
      unlessReportedPaid: transition.unlessReportedPaid ?? false,
      paidSantim: transition.paidSantim ?? null,
      failure: transition.failure ? JSON.stringify(transition.failure) : null,
      at: transition.at,
      messages: JSON.stringify(messages),
    },
  );
  if (!row) return null;
  tx.enqueued(messages);
  await recordWithdrawalEvents(tx, { row, events: [transition.event], at: transition.at });
  const posting =
    transition.from === 'FAILED' && transition.to === 'SUCCESS' ? latePayoutPosting : POSTINGS[transition.to];
  const posted = await post(tx.trx, posting(toPayout(row)), transition.at);
  if (posted !== 'posted') throw new Error(`withdrawal ${row.id}: ${transition.to} is posted already`);
  return row;
}

/** Whether the transition is possible without operators: FAILED is left by their resolution only. */
function canTransition(from: WithdrawalStatus, to: WithdrawalStatus): boolean {
  return from !== 'FAILED' && WITHDRAWAL_TRANSITIONS[from].includes(to);
}
