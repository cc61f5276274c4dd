import { paidOutFact, releasedFact } from '../ledger/facts.ts';
import { post } from '../ledger/post.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { OUTBOX_INSERT, type Change, type OutboxRow } from '../lib/outbox.ts';
import { recordSettlementEvent, type SettlementEvent } from './events.ts';
import { moneyOut, readSettlement, SETTLEMENT_COLUMNS, type SettlementRow } from './model.ts';
import { whence, type SettlementStatus } from './states.ts';
import type { TimelineKind } from './timeline.ts';
import { settlementMessage, type SettlementSignal } from './workflow-input.ts';

/** Who does something to a settlement, and when: an operator (opr_…), the merchant (key_…), or the sandbox. */
export type Actor = {
  operatorId: string;
  at: Date;
  /** false: it is the workflow itself that decides, as in the sandbox. */
  tellWorkflow?: boolean;
};

/** A settlement after an operation; `changed` is false when it was so already. */
export type Moved = { settlement: SettlementRow; changed: boolean };

/** One move of a settlement: to which state, and what is kept of it. */
export type Move = {
  id: string;
  to: Exclude<SettlementStatus, 'REQUESTED'>;
  /** Where it must stand; anywhere that leads there unless said. */
  from?: readonly SettlementStatus[];
  kind: TimelineKind;
  detail: Record<string, unknown>;
  by: string;
  at: Date;
  /** Unless it is the workflow itself that moves it. */
  tellWorkflow?: boolean;
  bankReference?: string | undefined;
  creditedAt?: Date;
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

/** What the ledger books of an end. */
const BOOKED = {
  COMPLETED: paidOutFact,
  FAILED: releasedFact,
  REJECTED: releasedFact,
  CANCELLED: releasedFact,
} as const;

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
  const row = await moveRow(change, move);
  if (row) {
    await recordSettlementEvent(change, { row, event: TOLD[move.to].event, at: move.at });
    if (isBooked(move.to)) await post(change.trx, BOOKED[move.to](moneyOut(row)), move.at);
    return { settlement: row, changed: true };
  }
  const settlement = await readSettlement(change.trx, move.id);
  if (settlement.status === move.to && isSo(settlement)) return { settlement, changed: false };
  const wanted = (move.from ?? whence(move.to)).join(' or ');
  const stands = `This settlement is ${settlement.status}: only one that is ${wanted} can become ${move.to}.`;
  throw new AppError('INVALID_STATE', move.instead?.(settlement) ?? stands);
}

async function moveRow(change: Change, move: Move): Promise<SettlementRow | undefined> {
  const { tellWorkflow = true } = move;
  const messages: OutboxRow[] = tellWorkflow
    ? [{ id: newId('obx'), ...settlementMessage(move.id, TOLD[move.to].signal) }]
    : [];
  const [row] = await rows<SettlementRow>(
    change.trx,
    `WITH moved AS (
       UPDATE settlement SET status = :to, version = version + 1,
         approved_by = CASE CAST(:to AS text) WHEN 'APPROVED' THEN :by ELSE approved_by END,
         approved_at = CASE CAST(:to AS text) WHEN 'APPROVED' THEN CAST(:at AS timestamptz) ELSE approved_at END,
         sent_at = CASE CAST(:to AS text) WHEN 'PROCESSING' THEN CAST(:at AS timestamptz) ELSE sent_at END,
         sent_by = CASE CAST(:to AS text) WHEN 'PROCESSING' THEN :by ELSE sent_by END,
         completed_at = CASE WHEN CAST(:ended AS boolean) THEN CAST(:at AS timestamptz) END,
         credited_at = :creditedAt, bank_reference = coalesce(:bankReference, bank_reference),
         failure = CAST(:failure AS jsonb)
       WHERE id = :id AND status = ANY (:from)
       RETURNING ${SETTLEMENT_COLUMNS}
     ), noted AS (
       INSERT INTO settlement_timeline (settlement_id, at, kind, actor, detail)
       SELECT id, CAST(:at AS timestamptz), :kind, :by, CAST(:detail AS jsonb) FROM moved
     ), told AS (${OUTBOX_INSERT} WHERE EXISTS (SELECT 1 FROM moved))
     SELECT * FROM moved`,
    {
      id: move.id,
      to: move.to,
      ended: isBooked(move.to),
      from: [...(move.from ?? whence(move.to))],
      kind: move.kind,
      detail: JSON.stringify(move.detail),
      by: move.by,
      at: move.at,
      bankReference: move.bankReference ?? null,
      creditedAt: move.creditedAt ?? null,
      failure: move.failure ? JSON.stringify(move.failure) : null,
      messages: JSON.stringify(messages),
    },
  );
  if (row) change.told(messages);
  return row;
}

function isBooked(status: SettlementStatus): status is keyof typeof BOOKED {
  return Object.hasOwn(BOOKED, status);
}
