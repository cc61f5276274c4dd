import type { Speaker } from '../keys/four-eyes.ts';
import { paidAfterAllFact, paidOutFact, releasedFact, reversedFact, type Posting } from '../ledger/facts.ts';
import { post } from '../ledger/post.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { OUTBOX_INSERT, type Change, type OutboxRow } from '../lib/outbox.ts';
import { recordSettlementEvent, type SettlementEvent } from './events.ts';
import { moneyOut, readSettlement, SETTLEMENT_COLUMNS, type SettlementRow } from './model.ts';
import { isOpen, whence, type SettlementStatus } from './states.ts';
import type { TimelineKind } from './timeline.ts';
import { settlementMessage, type SettlementSignal } from './workflow-input.ts';

/** Who does something to a settlement, and when: an operator (opr_…), the merchant (key_…), or the sandbox. */
export type Actor = Speaker & {
  at: Date;
  /** false: it is the workflow itself that decides, as in the sandbox. */
  tellWorkflow?: boolean;
};

/** A settlement after an operation; `changed` is false when it was so already. */
export type Moved =
  | { settlement: SettlementRow; changed: true; before: Pick<SettlementRow, 'status' | 'bankReference'> }
  | { settlement: SettlementRow; changed: false };

/** One move of a settlement: to which state, and what is kept of it. */
export type Move = {
  id: string;
  to: Exclude<SettlementStatus, 'REQUESTED'>;
  /** Where it must stand; unless said, where its money is set aside and leads there. */
  from?: readonly SettlementStatus[];
  kind: TimelineKind;
  detail: Record<string, unknown>;
  by: string;
  at: Date;
  /** Unless it is the workflow itself that moves it. */
  tellWorkflow?: boolean;
  bankReference?: string | undefined;
  creditedAt?: Date;
  /** Of money that has come back: the bank's trace id of its way. */
  returnReference?: string;
  failure?: { code: string; message: string };
  /** Why it cannot be made as the settlement stands, where there is more to say than the state. */
  instead?: (row: SettlementRow) => string | null;
};

const TOLD = {
  APPROVED: { event: 'settlement.updated', signal: 'approved' },
  PROCESSING: { event: 'settlement.processing', signal: 'sent' },
  COMPLETED: { event: 'settlement.completed', signal: 'bankAnswered' },
  FAILED: { event: 'settlement.failed', signal: 'bankAnswered' },
  REJECTED: { event: 'settlement.rejected', signal: 'rejected' },
  CANCELLED: { event: 'settlement.canceled', signal: 'cancelled' },
} as const satisfies Record<Move['to'], { event: SettlementEvent; signal: SettlementSignal }>;

/** What the ledger books of a move; null: the money stays set aside. */
function bookingOf(from: SettlementStatus, to: Move['to']): ((out: ReturnType<typeof moneyOut>) => Posting) | null {
  if (from === 'COMPLETED') return reversedFact;
  if (from === 'FAILED') return paidAfterAllFact;
  if (to === 'COMPLETED') return paidOutFact;
  return isOpen(to) ? null : releasedFact;
}

/**
 * Makes one move, in the change's transaction: the row, its timeline, its event, its journal; then its workflow is told.
 * Where it stood elsewhere nothing changes: then it answers as it stands when `isSo` says that this is what was asked
 * for, and throws INVALID_STATE otherwise.
 */
export async function moveSettlement(
  change: Change,
  move: Move,
  isSo: (row: SettlementRow) => boolean,
): Promise<Moved> {
  const moved = await moveRow(change, move);
  if (moved) {
    const { statusBefore, referenceBefore, ...row } = moved;
    await recordSettlementEvent(change, { row, event: TOLD[move.to].event, at: move.at });
    const booking = bookingOf(statusBefore, move.to);
    if (booking) await post(change.trx, booking(moneyOut(row)), move.at);
    return { settlement: row, changed: true, before: { status: statusBefore, bankReference: referenceBefore } };
  }
  const settlement = await readSettlement(change.trx, move.id);
  if (settlement.status === move.to && isSo(settlement)) return { settlement, changed: false };
  const wanted = (move.from ?? whence(move.to)).join(' or ');
  const stands = `This settlement is ${settlement.status}: only one that is ${wanted} can become ${move.to}.`;
  throw new AppError('INVALID_STATE', move.instead?.(settlement) ?? stands);
}

type MovedRow = SettlementRow & { statusBefore: SettlementStatus; referenceBefore: string | null };

async function moveRow(change: Change, move: Move): Promise<MovedRow | undefined> {
  const { tellWorkflow = true } = move;
  const messages: OutboxRow[] = tellWorkflow
    ? [{ id: newId('obx'), ...settlementMessage(move.id, TOLD[move.to].signal) }]
    : [];
  const [row] = await rows<MovedRow>(
    change.trx,
    `WITH before AS (
       SELECT id AS before_id, status AS status_before, bank_reference AS reference_before FROM settlement
       WHERE id = :id AND status = ANY (:from) FOR UPDATE
     ), moved AS (
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
         late_credit_ended = CASE WHEN status = 'FAILED' THEN 'BOOKED' ELSE late_credit_ended END,
         failure = CAST(:failure AS jsonb)
       FROM before WHERE id = before_id
       RETURNING ${SETTLEMENT_COLUMNS}, status_before, reference_before
     ), noted AS (
       INSERT INTO settlement_timeline (settlement_id, at, kind, actor, detail)
       SELECT id, CAST(:at AS timestamptz), :kind, :by, CAST(:detail AS jsonb) FROM moved
     ), told AS (${OUTBOX_INSERT} WHERE EXISTS (SELECT 1 FROM moved))
     SELECT * FROM moved`,
    {
      id: move.id,
      to: move.to,
      ended: !isOpen(move.to),
      from: [...(move.from ?? whence(move.to))],
      kind: move.kind,
      detail: JSON.stringify(move.detail),
      by: move.by,
      at: move.at,
      bankReference: move.bankReference ?? null,
      creditedAt: move.creditedAt ?? null,
      returnReference: move.returnReference ?? null,
      failure: move.failure ? JSON.stringify(move.failure) : null,
      messages: JSON.stringify(messages),
    },
  );
  if (row) change.told(messages);
  return row;
}
