import type { AuditedChange } from '../access/audit.ts';
import type { Actor } from '../access/separation-of-duties.ts';
import { post } from '../ledger/post.ts';
import { latePayoutPosting, payoutPosting, releasePosting, reversalPosting } from '../ledger/postings.ts';
import { first, updateRow } from '../lib/db.ts';
import { found, invalidState } from '../lib/errors.ts';
import { toBirr } from '../lib/money.ts';
import { scopeOf } from '../lib/scope.ts';
import { recordTimeline } from '../lib/timeline.ts';
import { requireNotSuspended } from '../merchants/operations.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { recordSettlementEvent } from './events.ts';
import { lockSettlement, toPayout, type SettlementRow } from './queries.ts';
import type { TimelineKind } from './schema.ts';
import { isOpen, statusesBefore, type SettlementStatus } from './states.ts';
import { settlementMessage } from './workflow.ts';

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

/** A change of a settlement: the columns that it writes, and the entry of its timeline. Without `to` the status stays. */
export type Change = {
  to?: keyof typeof EVENTS_AND_SIGNALS;
  kind: TimelineKind;
  detail?: Record<string, unknown>;
  changes?: Partial<SettlementRow>;
};

const EVENTS_AND_SIGNALS = {
  APPROVED: { event: 'settlement.updated', signal: 'approved' },
  PROCESSING: { event: 'settlement.processing', signal: 'sent' },
  COMPLETED: { event: 'settlement.completed', signal: 'bankResultRecorded' },
  FAILED: { event: 'settlement.failed', signal: 'bankResultRecorded' },
  REJECTED: { event: 'settlement.rejected', signal: 'rejected' },
  CANCELLED: { event: 'settlement.canceled', signal: 'cancelled' },
} as const;

/**
 * Locks a settlement and writes the change that `decide` returns for it, in the caller's transaction; null: it changes
 * nothing. Throws NOT_FOUND, and what `decide` throws.
 */
export async function changeSettlement(
  tx: UnitOfWork,
  { id, ...actor }: SettlementActor & { id: string },
  decide: (row: SettlementRow) => Change | null | Promise<Change | null>,
): Promise<TransitionResult> {
  const row = await lockSettlement(tx, id);
  const change = await decide(row);
  if (!change) return { settlement: row, changed: false };
  const settlement = await writeSettlement(tx, row, { ...actor, ...change });
  return { settlement, changed: true, before: { status: row.status, bankReference: row.bankReference } };
}

/** Writes a change of a locked settlement and its timeline; with a new status also its event, signal and journal. */
export async function writeSettlement(
  tx: UnitOfWork,
  before: SettlementRow,
  { to, kind, detail = {}, changes = {}, operatorId, at, notifyWorkflow = true }: Change & SettlementActor,
): Promise<SettlementRow> {
  const { id } = before;
  const ended = to && isOpen(to) ? null : at;
  const status = to && {
    status: to,
    version: before.version + 1,
    completedAt: before.status === 'COMPLETED' ? before.completedAt : ended,
  };
  const columns = {
    ...(to && { failure: null }),
    ...changes,
    ...status,
    // As a parameter, an array would be an array of PostgreSQL.
    ...(changes.skippedDays && { skippedDays: JSON.stringify(changes.skippedDays) }),
  };
  const row = found(await updateRow<SettlementRow>(tx.trx, { table: 'settlement', id }, columns), 'settlement');
  await recordTimeline(tx.trx, id, { at, kind, actor: operatorId, detail });
  if (!to) return row;
  const { event, signal } = EVENTS_AND_SIGNALS[to];
  await recordSettlementEvent(tx, { row, event, at });
  if (notifyWorkflow && isOpen(before.status)) await tx.enqueue([settlementMessage(id, signal)]);
  const posting = postingOf(before.status, to);
  const posted = posting ? await post(tx.trx, posting(toPayout(row)), at) : 'posted';
  if (posted !== 'posted') throw new Error(`settlement ${id} is ${to} without its journal: ${posted}`);
  return row;
}

/** The posting of a transition; null: the money stays reserved. */
function postingOf(from: SettlementStatus, to: SettlementStatus) {
  if (from === 'COMPLETED') return reversalPosting;
  if (from === 'FAILED') return latePayoutPosting;
  if (to === 'COMPLETED') return payoutPosting;
  return isOpen(to) ? null : releasePosting;
}

/** Throws INVALID_STATE unless a settlement is in one of these states, by default the open ones that lead to `to`. */
export function ensureStatus({ status }: SettlementRow, to: SettlementStatus, from = statusesBefore(to)): void {
  if (from.includes(status)) return;
  const wanted = from.join(' or ');
  throw invalidState(`This settlement is ${status}: only one that is ${wanted} can become ${to}.`);
}

/** Throws INVALID_STATE if the merchant is suspended or the bank account was rejected since the request. */
export async function ensureSendable(
  { trx }: UnitOfWork,
  { merchantId, bankAccountId }: SettlementRow,
  { verb, instead }: { verb: 'approved' | 'sent'; instead: string },
): Promise<void> {
  await requireNotSuspended(trx, merchantId, { what: `this settlement is not ${verb}`, instead });
  const sql = `SELECT rejection_reason FROM bank_account WHERE id = :bankAccountId AND status = 'REJECTED'`;
  const rejected = await first<{ rejectionReason: string }>(trx, sql, { bankAccountId });
  if (!rejected) return;
  const why = `The bank account ${bankAccountId} was rejected since the request (${rejected.rejectionReason})`;
  throw invalidState(`${why}: the settlement is not ${verb}; ${instead}.`);
}

/** A transition in the audit log; null if nothing has changed. */
export function settlementAudit(result: TransitionResult): AuditedChange | null {
  if (!result.changed) return null;
  const { settlement, before } = result;
  const { id: resourceId, status, bankReference, returnReference, lateCredit, amountSantim } = settlement;
  const returned = returnReference !== null && { returnReference };
  const after = { status, bankReference, amount: toBirr(amountSantim), ...returned, ...(lateCredit && { lateCredit }) };
  return { resourceType: 'settlement', resourceId, ...scopeOf(settlement), before, after };
}
