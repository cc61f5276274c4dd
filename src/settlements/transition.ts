import type { Actor } from '../access/separation-of-duties.ts';
import { post } from '../ledger/post.ts';
import { latePayoutPosting, payoutPosting, releasePosting, reversalPosting } from '../ledger/postings.ts';
import { AppError } from '../lib/errors.ts';
import { recordTimeline } from '../lib/timeline.ts';
import { requireNotSuspended } from '../merchants/operations.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { rejectionOf } from './bank-account/queries.ts';
import { recordSettlementEvent, type SettlementEvent } from './events.ts';
import { toPayout, type SettlementRow } from './queries.ts';
import type { TimelineKind } from './schema.ts';
import { isOpen, statusesBefore, type SettlementStatus } from './states.ts';
import { settlementMessage, type SettlementSignal } from './workflow.ts';

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

type TimelineEntry = { kind: TimelineKind; detail?: Record<string, unknown>; by: string; at: Date };

/** Columns of a settlement that change, and the entry of its timeline. */
export type SettlementChange = TimelineEntry & { changes: Partial<SettlementRow> };

/** One transition of a settlement. `changes`: what its row stores besides the status. */
export type Transition = TimelineEntry & {
  to: Exclude<SettlementStatus, 'REQUESTED'>;
  changes?: Partial<SettlementRow>;
  notifyWorkflow?: boolean | undefined;
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
function postingOf(from: SettlementStatus, to: Transition['to']) {
  if (from === 'COMPLETED') return reversalPosting;
  if (from === 'FAILED') return latePayoutPosting;
  if (to === 'COMPLETED') return payoutPosting;
  return isOpen(to) ? null : releasePosting;
}

/** Throws INVALID_STATE unless a settlement is in one of these states, by default the open ones that lead to `to`. */
export function ensureStatus({ status }: SettlementRow, to: SettlementStatus, from = statusesBefore(to)): void {
  if (from.includes(status)) return;
  const wanted = from.join(' or ');
  throw new AppError('INVALID_STATE', `This settlement is ${status}: only one that is ${wanted} can become ${to}.`);
}

/**
 * Writes one transition of a locked settlement in the caller's transaction: the row, its timeline, its event, the signal to
 * its workflow, and its journal.
 */
export async function transitionSettlement(
  tx: UnitOfWork,
  before: SettlementRow,
  { to, notifyWorkflow = true, ...change }: Transition,
): Promise<TransitionResult> {
  const { event, signal } = EVENTS_AND_SIGNALS[to];
  const ended = isOpen(to) ? null : change.at;
  const settlement = await writeSettlement(tx, before, {
    ...change,
    changes: {
      failure: null,
      ...change.changes,
      status: to,
      version: before.version + 1,
      completedAt: before.status === 'COMPLETED' ? before.completedAt : ended,
    },
  });
  await recordSettlementEvent(tx, { row: settlement, event, at: change.at });
  if (notifyWorkflow) await tx.enqueue([settlementMessage(before.id, signal)]);
  const posting = postingOf(before.status, to);
  if (posting) await post(tx.trx, posting(toPayout(settlement)), change.at);
  return { settlement, changed: true, before: { status: before.status, bankReference: before.bankReference } };
}

/** Writes columns of a locked settlement and an entry of its timeline. */
export async function writeSettlement(
  { trx }: UnitOfWork,
  { id }: SettlementRow,
  { changes: { skippedDays, ...changes }, kind, detail = {}, by, at }: SettlementChange,
): Promise<SettlementRow> {
  // As a parameter, an array would be an array of PostgreSQL.
  const columns = skippedDays ? { ...changes, skippedDays: JSON.stringify(skippedDays) } : changes;
  const [row]: SettlementRow[] = await trx('settlement').where({ id }).update(columns).returning('*');
  if (!row) throw new Error(`settlement ${id} was not updated`);
  await recordTimeline(trx, id, { at, kind, actor: by, detail });
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
