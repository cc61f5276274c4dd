import { ensureUnused } from '../ledger/external-references.ts';
import { addisDay, startOfAddisDay } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { lockSettlement, SETTLEMENT_COLUMNS, type LateCredit, type SettlementRow } from './queries.ts';
import type { TimelineKind } from './schema.ts';
import { transitionSettlement, type SettlementActor, type TransitionResult } from './transition.ts';

/**
 * The bank says that it has credited a settlement whose money went back to the merchant when it FAILED. Nothing is
 * booked: it is kept, and waits for operators to book or dismiss it. Said again it changes nothing. Throws INVALID_STATE
 * while another credit of the same settlement waits. `row` is locked.
 */
export async function noteLateCredit(
  tx: UnitOfWork,
  row: SettlementRow,
  { operatorId, at, bankReference, creditedAt }: SettlementActor & { bankReference: string; creditedAt: Date },
): Promise<TransitionResult> {
  const known = row.lateCredit;
  if (known?.bankReference === bankReference && addisDay(new Date(known.creditedAt)) === addisDay(creditedAt)) {
    return { settlement: row, changed: false };
  }
  if (known && row.lateCreditResolution === null) {
    throw new AppError(
      'INVALID_STATE',
      `This settlement is FAILED, and another credit of it waits for operators: ${known.bankReference}.`,
    );
  }
  const detail = { bankReference, creditedAt: creditedAt.toISOString() };
  const lateCredit: LateCredit = { ...detail, operatorId, at: at.toISOString() };
  return write(tx, row, { lateCredit, ended: null, kind: 'bank.credited_late', detail, by: operatorId, at });
}

/** The time of a credit as said; midnight stands for a day alone, which means no hour before it was sent. */
export function withinDay({ sentAt, requestedAt }: SettlementRow, creditedAt: Date): Date {
  const earliest = sentAt ?? requestedAt;
  const isDayAlone = startOfAddisDay(addisDay(creditedAt)).getTime() === creditedAt.getTime();
  return isDayAlone && creditedAt < earliest ? earliest : creditedAt;
}

/** Why a credit that was just reported is not booked, in words for who reports it; null: it is. */
export function lateCreditIssue(row: SettlementRow, bankReference: string): string | null {
  const { status, lateCredit, lateCreditResolution } = row;
  if (status !== 'FAILED' || lateCredit?.bankReference !== bankReference) return null;
  const about = `This settlement is FAILED and its money went back to the merchant: the credit ${bankReference}`;
  if (lateCreditResolution === 'DISMISSED') return `${about} was looked into and dismissed.`;
  return `${about} is not booked, and waits for operators to book or dismiss it (SETTLEMENT_CREDITED_LATE in the queue).`;
}

/**
 * The credit that came after the failure is true: the settlement is COMPLETED, and what was given back is taken again.
 * Said again it changes nothing. Throws NOT_FOUND, INSUFFICIENT_BALANCE while the merchant has not enough, and
 * INVALID_STATE when no such credit waits or it is the second one, and DUPLICATE_REFERENCE when its trace id is booked as
 * something else by now.
 */
export async function bookLateCredit(
  tx: UnitOfWork,
  id: string,
  { operatorId, at }: SettlementActor,
): Promise<TransitionResult> {
  const row = await lockSettlement(tx, id);
  if (row.lateCreditResolution === 'BOOKED') return { settlement: row, changed: false };
  const late = ensurePending(row);
  const { bankReference } = late;
  const creditedAt = withinDay(row, new Date(late.creditedAt));
  if (row.returnedAt !== null) {
    const issue = `This settlement was credited under ${row.bankReference} and returned before: a second credit cannot be booked`;
    throw new AppError('INVALID_STATE', `${issue}. Have the bank take it back, then dismiss it.`);
  }
  const { environment } = row;
  await ensureUnused(tx, { environment, way: 'out', reference: bankReference, field: 'bankReference', id });
  const detail = { bankReference, creditedAt: creditedAt.toISOString() };
  const booked = { to: 'COMPLETED', from: ['FAILED'], kind: 'bank.credited', detail, by: operatorId, at } as const;
  // Its workflow has ended with the failure.
  const credit = { bankReference, creditedAt, notifyWorkflow: false };
  return transitionSettlement(tx, { ...booked, ...credit, id }, () => false);
}

/**
 * The credit that came after the failure is none, or the bank has taken it back: the settlement stays FAILED. Said again
 * it changes nothing. Throws NOT_FOUND, and INVALID_STATE when no such credit waits.
 */
export async function dismissLateCredit(
  tx: UnitOfWork,
  id: string,
  { operatorId, at, reason }: SettlementActor & { reason: string },
): Promise<TransitionResult> {
  const row = await lockSettlement(tx, id);
  if (row.lateCreditResolution === 'DISMISSED') return { settlement: row, changed: false };
  const lateCredit = ensurePending(row);
  const detail = { bankReference: lateCredit.bankReference, reason };
  return write(tx, row, {
    lateCredit,
    ended: 'DISMISSED',
    kind: 'bank.credit_dismissed',
    detail,
    by: operatorId,
    at,
  });
}

function ensurePending({ status, lateCredit, lateCreditResolution }: SettlementRow): LateCredit {
  if (lateCredit && lateCreditResolution === null) return lateCredit;
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

async function write(tx: UnitOfWork, row: SettlementRow, written: Written): Promise<TransitionResult> {
  const [settlement] = await rows<SettlementRow>(
    tx.trx,
    `WITH timeline_row AS (
       INSERT INTO settlement_timeline (settlement_id, occurred_at, kind, actor, detail)
       VALUES (:id, :at, :kind, :by, CAST(:detail AS jsonb))
     )
     UPDATE settlement SET late_credit = CAST(:lateCredit AS jsonb), late_credit_resolution = :ended
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
