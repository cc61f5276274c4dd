import { requireUnused } from '../ledger/bank-references.ts';
import { addisDay, startOfAddisDay } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Change } from '../lib/outbox.ts';
import { lockSettlement, SETTLEMENT_COLUMNS, type LateCredit, type SettlementRow } from './model.ts';
import { moveSettlement, type Actor, type Moved } from './move.ts';
import type { TimelineKind } from './timeline.ts';

/**
 * The bank says that it has credited a settlement whose money went back to the merchant when it FAILED. Nothing is
 * booked: it is kept, and waits for operators to book or dismiss it. Said again it changes nothing. Throws INVALID_STATE
 * while another credit of the same settlement waits. `row` is locked.
 */
export async function noteLateCredit(
  change: Change,
  row: SettlementRow,
  { operatorId, at, bankReference, creditedAt }: Actor & { bankReference: string; creditedAt: Date },
): Promise<Moved> {
  const known = row.lateCredit;
  if (known?.bankReference === bankReference && addisDay(new Date(known.creditedAt)) === addisDay(creditedAt)) {
    return { settlement: row, changed: false };
  }
  if (known && row.lateCreditEnded === null) {
    throw new AppError(
      'INVALID_STATE',
      `This settlement is FAILED, and another credit of it waits for operators: ${known.bankReference}.`,
    );
  }
  const detail = { bankReference, creditedAt: creditedAt.toISOString() };
  const lateCredit: LateCredit = { ...detail, operatorId, at: at.toISOString() };
  return write(change, row, { lateCredit, ended: null, kind: 'bank.creditedLate', detail, by: operatorId, at });
}

/** The time of a credit as said; midnight stands for a day alone, which means no hour before it was sent. */
export function withinDay({ sentAt, requestedAt }: SettlementRow, creditedAt: Date): Date {
  const earliest = sentAt ?? requestedAt;
  const isDayAlone = startOfAddisDay(addisDay(creditedAt)).getTime() === creditedAt.getTime();
  return isDayAlone && creditedAt < earliest ? earliest : creditedAt;
}

/** Why a credit that was just reported is not booked, in words for who reports it; null: it is. */
export function lateCreditIssue(row: SettlementRow, bankReference: string): string | null {
  const { status, lateCredit, lateCreditEnded } = row;
  if (status !== 'FAILED' || lateCredit?.bankReference !== bankReference) return null;
  const about = `This settlement is FAILED and its money went back to the merchant: the credit ${bankReference}`;
  if (lateCreditEnded === 'DISMISSED') return `${about} was looked into and dismissed.`;
  return `${about} is not booked, and waits for operators to book or dismiss it (SETTLEMENT_LATE_CREDIT in the queue).`;
}

/**
 * The credit that came after the failure is true: the settlement is COMPLETED, and what was given back is taken again.
 * Said again it changes nothing. Throws NOT_FOUND, INSUFFICIENT_BALANCE while the merchant has not enough, and
 * INVALID_STATE when no such credit waits or it is the second one, and DUPLICATE_REFERENCE when its trace id is booked as
 * something else by now.
 */
export async function bookLateCredit(change: Change, id: string, { operatorId, at }: Actor): Promise<Moved> {
  const row = await lockSettlement(change, id);
  if (row.lateCreditEnded === 'BOOKED') return { settlement: row, changed: false };
  const late = requireWaiting(row);
  const { bankReference } = late;
  const creditedAt = withinDay(row, new Date(late.creditedAt));
  if (row.returnedAt !== null) {
    const issue = `This settlement was credited under ${row.bankReference} and returned before: a second credit cannot be booked`;
    throw new AppError('INVALID_STATE', `${issue}. Have the bank take it back, then dismiss it.`);
  }
  const { environment } = row;
  await requireUnused(change, { environment, way: 'out', reference: bankReference, field: 'bankReference', id });
  const detail = { bankReference, creditedAt: creditedAt.toISOString() };
  const booked = { to: 'COMPLETED', from: ['FAILED'], kind: 'bank.credited', detail, by: operatorId, at } as const;
  // Its workflow has ended with the failure.
  const credit = { bankReference, creditedAt, tellWorkflow: false };
  return moveSettlement(change, { ...booked, ...credit, id }, () => false);
}

/**
 * The credit that came after the failure is none, or the bank has taken it back: the settlement stays FAILED. Said again
 * it changes nothing. Throws NOT_FOUND, and INVALID_STATE when no such credit waits.
 */
export async function dismissLateCredit(
  change: Change,
  id: string,
  { operatorId, at, reason }: Actor & { reason: string },
): Promise<Moved> {
  const row = await lockSettlement(change, id);
  if (row.lateCreditEnded === 'DISMISSED') return { settlement: row, changed: false };
  const lateCredit = requireWaiting(row);
  const detail = { bankReference: lateCredit.bankReference, reason };
  return write(change, row, {
    lateCredit,
    ended: 'DISMISSED',
    kind: 'bank.creditDismissed',
    detail,
    by: operatorId,
    at,
  });
}

function requireWaiting({ status, lateCredit, lateCreditEnded }: SettlementRow): LateCredit {
  if (lateCredit && lateCreditEnded === null) return lateCredit;
  throw new AppError('INVALID_STATE', `This settlement is ${status}: no credit after a failure waits for a decision.`);
}

type Written = {
  lateCredit: LateCredit;
  ended: 'DISMISSED' | null;
  kind: TimelineKind;
  detail: Record<string, unknown>;
  by: string;
  at: Date;
};

async function write(change: Change, row: SettlementRow, written: Written): Promise<Moved> {
  const [settlement] = await rows<SettlementRow>(
    change.trx,
    `WITH noted AS (
       INSERT INTO settlement_timeline (settlement_id, at, kind, actor, detail)
       VALUES (:id, :at, :kind, :by, CAST(:detail AS jsonb))
     )
     UPDATE settlement SET late_credit = CAST(:lateCredit AS jsonb), late_credit_ended = :ended
     WHERE id = :id RETURNING ${SETTLEMENT_COLUMNS}`,
    {
      ...written,
      id: row.id,
      detail: JSON.stringify(written.detail),
      lateCredit: JSON.stringify(written.lateCredit),
    },
  );
  if (!settlement) throw new Error('the settlement is not there any more');
  return { settlement, changed: true, before: { status: row.status, bankReference: row.bankReference } };
}
