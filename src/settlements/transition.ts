import type { Actor } from '../access/separation-of-duties.ts';
import { post } from '../ledger/post.ts';
import { latePayoutPosting, payoutPosting, releasePosting, reversalPosting, type Posting } from '../ledger/postings.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { requireNotSuspended } from '../merchants/operations.ts';
import { OUTBOX_INSERT, type OutboxRow, type UnitOfWork } from '../outbox/record.ts';
import { rejectionOf } from './bank-account/queries.ts';
import { recordSettlementEvent, type SettlementEvent } from './events.ts';
import { readSettlement, SETTLEMENT_COLUMNS, toPayout, type SettlementRow } from './queries.ts';
import type { TimelineKind } from './schema.ts';
import { isOpen, statusesBefore, type SettlementStatus } from './states.ts';
import { settlementMessage, type SettlementSignal } from './workflow-input.ts';

/** Who changes a settlement, and when: an operator (opr_…), the merchant (key_…), or the sandbox. */
export type SettlementActor = Actor & {
  at: Date;
  /** false: the workflow itself decides, as in the sandbox. */
  notifyWorkflow?: boolean;
};

/** A settlement after an operation; `changed` is false when it had that state already. */
export type TransitionResult =
  | { settlement: SettlementRow; changed: true; before: Pick<SettlementRow, 'status' | 'bankReference'> }
  | { settlement: SettlementRow; changed: false };

/** One transition of a settlement, and what its row and timeline store of it. */
export type Transition = {
  id: string;
  to: Exclude<SettlementStatus, 'REQUESTED'>;
  /** The states it may come from; by default the open ones that lead to `to`. */
  from?: readonly SettlementStatus[];
  kind: TimelineKind;
  detail: Record<string, unknown>;
  by: string;
  at: Date;
  notifyWorkflow?: boolean;
  bankReference?: string | undefined;
  creditedAt?: Date;
  /** The bank's trace id of money that it sent back. */
  returnReference?: string;
  failure?: { code: string; message: string };
  /** A more precise error text than one about the state; null: the default. */
  explain?: (row: SettlementRow) => string | null;
};

const EVENTS_AND_SIGNALS = {
  APPROVED: { event: 'settlement.updated', signal: 'approved' },
  PROCESSING: { event: 'settlement.processing', signal: 'sent' },
  COMPLETED: { event: 'settlement.completed', signal: 'bankResultRecorded' },
  FAILED: { event: 'settlement.failed', signal: 'bankResultRecorded' },
  REJECTED: { event: 'settlement.rejected', signal: 'rejected' },
  CANCELLED: { event: 'settlement.canceled', signal: 'cancelled' },
} as const satisfies Record<Transition['to'], { event: SettlementEvent; signal: SettlementSignal }>;

/** The posting of a transition; null: the money stays reserved. */
function postingOf(
  from: SettlementStatus,
  to: Transition['to'],
): ((out: ReturnType<typeof toPayout>) => Posting) | null {
  if (from === 'COMPLETED') return reversalPosting;
  if (from === 'FAILED') return latePayoutPosting;
  if (to === 'COMPLETED') return payoutPosting;
  return isOpen(to) ? null : releasePosting;
}

/**
 * Writes one transition in the caller's transaction: the row, its timeline, its event, its journal, and the signal to its
 * workflow. From another state nothing changes: returns the row when `isRepeat` accepts it, else throws INVALID_STATE.
 */
export async function transitionSettlement(
  tx: UnitOfWork,
  transition: Transition,
  isRepeat: (row: SettlementRow) => boolean,
): Promise<TransitionResult> {
  const updated = await updateRow(tx, transition);
  if (updated) {
    const { statusBefore, referenceBefore, ...row } = updated;
    await recordSettlementEvent(tx, { row, event: EVENTS_AND_SIGNALS[transition.to].event, at: transition.at });
    const posting = postingOf(statusBefore, transition.to);
    if (posting) await post(tx.trx, posting(toPayout(row)), transition.at);
    return { settlement: row, changed: true, before: { status: statusBefore, bankReference: referenceBefore } };
  }
  const settlement = await readSettlement(tx.trx, transition.id);
  if (settlement.status === transition.to && isRepeat(settlement)) return { settlement, changed: false };
  const wanted = (transition.from ?? statusesBefore(transition.to)).join(' or ');
  const status = `This settlement is ${settlement.status}: only one that is ${wanted} can become ${transition.to}.`;
  throw new AppError('INVALID_STATE', transition.explain?.(settlement) ?? status);
}

type TransitionRow = SettlementRow & { statusBefore: SettlementStatus; referenceBefore: string | null };

async function updateRow(tx: UnitOfWork, transition: Transition): Promise<TransitionRow | undefined> {
  const { notifyWorkflow = true } = transition;
  const messages: OutboxRow[] = notifyWorkflow
    ? [{ id: newId('obx'), ...settlementMessage(transition.id, EVENTS_AND_SIGNALS[transition.to].signal) }]
    : [];
  const [row] = await rows<TransitionRow>(
    tx.trx,
    `WITH before AS (
       SELECT id AS before_id, status AS status_before, bank_reference AS reference_before FROM settlement
       WHERE id = :id AND status = ANY (:from) FOR UPDATE
     ), updated AS (
       UPDATE settlement SET status = :to, version = version + 1,
         approved_by = CASE CAST(:to AS text) WHEN 'APPROVED' THEN :by ELSE approved_by END,
         approved_at = CASE CAST(:to AS text) WHEN 'APPROVED' THEN CAST(:at AS timestamptz) ELSE approved_at END,
         sent_at = CASE CAST(:to AS text) WHEN 'PROCESSING' THEN CAST(:at AS timestamptz) ELSE sent_at END,
         sent_by = CASE CAST(:to AS text) WHEN 'PROCESSING' THEN :by ELSE sent_by END,
         completed_at = CASE WHEN status = 'COMPLETED' THEN completed_at
                             WHEN CAST(:ended AS boolean) THEN CAST(:at AS timestamptz) END,
         credited_at = coalesce(:creditedAt, credited_at), bank_reference = coalesce(:bankReference, bank_reference),
         returned_at = CASE WHEN status = 'COMPLETED' THEN CAST(:at AS timestamptz) ELSE returned_at END,
         return_reference = coalesce(:returnReference, return_reference),
         late_credit_resolution = CASE WHEN status = 'FAILED' THEN 'BOOKED' ELSE late_credit_resolution END,
         failure = CAST(:failure AS jsonb)
       FROM before WHERE id = before_id
       RETURNING ${SETTLEMENT_COLUMNS}, status_before, reference_before
     ), timeline_row AS (
       INSERT INTO settlement_timeline (settlement_id, occurred_at, kind, actor, detail)
       SELECT id, CAST(:at AS timestamptz), :kind, :by, CAST(:detail AS jsonb) FROM updated
     ), outbox_row AS (${OUTBOX_INSERT} WHERE EXISTS (SELECT 1 FROM updated))
     SELECT * FROM updated`,
    {
      id: transition.id,
      to: transition.to,
      ended: !isOpen(transition.to),
      from: [...(transition.from ?? statusesBefore(transition.to))],
      kind: transition.kind,
      detail: JSON.stringify(transition.detail),
      by: transition.by,
      at: transition.at,
      bankReference: transition.bankReference ?? null,
      creditedAt: transition.creditedAt ?? null,
      returnReference: transition.returnReference ?? null,
      failure: transition.failure ? JSON.stringify(transition.failure) : null,
      messages: JSON.stringify(messages),
    },
  );
  if (row) tx.enqueued(messages);
  return row;
}

/**
 * Money may leave for this settlement: its merchant is not suspended, and its bank account was not rejected since the
 * request. Throws INVALID_STATE, with what to do.
 */
export async function ensureSendable(
  { trx }: UnitOfWork,
  row: SettlementRow,
  { verb, instead }: { verb: 'approved' | 'sent'; instead: string },
): Promise<void> {
  await requireNotSuspended(trx, row.merchantId, { what: `this settlement is not ${verb}`, instead });
  const rejection = await rejectionOf(trx, row.bankAccountId);
  if (rejection === null) return;
  const why = `The bank account ${row.bankAccountId} was rejected since the request (${rejection})`;
  throw new AppError('INVALID_STATE', `${why}: the settlement is not ${verb}; ${instead}.`);
}
