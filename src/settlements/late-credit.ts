import { bookReference, type ExternalReference } from '../ledger/external-references.ts';
import { addisDay, startOfAddisDay } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { lockSettlement, SETTLEMENT_COLUMNS, type LateCredit, type SettlementRow } from './queries.ts';
import type { TimelineKind } from './schema.ts';
import { transitionSettlement, type SettlementActor, type TransitionResult } from './transition.ts';

/**
 * Stores a credit that the bank reports of a FAILED settlement, whose money was released to the merchant. Books nothing: an
 * operator books or dismisses it. Idempotent. Throws INVALID_STATE while another credit of the settlement is pending.
 * `row` is locked.
 */
export async function recordLateCredit(
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
      `This settlement is FAILED, and another credit of it is pending: ${known.bankReference}.`,
    );
  }
  const detail = { bankReference, creditedAt: creditedAt.toISOString() };
  const lateCredit: LateCredit = { ...detail, operatorId, at: at.toISOString() };
  return write(tx, row, { lateCredit, ended: null, kind: 'bank.credited_late', detail, by: operatorId, at });
}

/** The reported time of a credit. Midnight means a day without a time: on the day of sending, the time of sending. */
export function withinDay({ sentAt, requestedAt }: SettlementRow, creditedAt: Date): Date {
  const earliest = sentAt ?? requestedAt;
  const isDayAlone = startOfAddisDay(addisDay(creditedAt)).getTime() === creditedAt.getTime();
  return isDayAlone && creditedAt < earliest ? earliest : creditedAt;
}

/** The bank's trace id of a settlement's credit, as the ledger books it. */
export function creditReference(
  { id, environment, amountSantim }: SettlementRow,
  { bankReference, creditedAt }: { bankReference: string; creditedAt: Date },
): ExternalReference {
  const money = { environment, direction: 'outbound', reference: bankReference, amountSantim, at: creditedAt } as const;
  return { ...money, resourceId: id, bookedAs: 'the credit of a settlement' };
}

/** Why a reported credit is not booked, as text for the operator; null: it is booked. */
export function lateCreditIssue(row: SettlementRow, bankReference: string): string | null {
  const { status, lateCredit, lateCreditResolution } = row;
  if (status !== 'FAILED' || lateCredit?.bankReference !== bankReference) return null;
  const about = `This settlement is FAILED and its money went back to the merchant: the credit ${bankReference}`;
  if (lateCreditResolution === 'DISMISSED') return `${about} was dismissed by an operator.`;
  return `${about} is not booked. Book or dismiss it (SETTLEMENT_CREDITED_LATE in the queue).`;
}

/**
 * FAILED → COMPLETED: books the pending late credit, and debits the merchant again. Idempotent. Throws NOT_FOUND,
 * INSUFFICIENT_BALANCE, INVALID_STATE without a pending credit or for a second credit, and DUPLICATE_REFERENCE when its
 * trace id was booked as something else since.
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
  await bookReference(tx, creditReference(row, { bankReference, creditedAt }), 'bankReference');
  const detail = { bankReference, creditedAt: creditedAt.toISOString() };
  const booked = { to: 'COMPLETED', from: ['FAILED'], kind: 'bank.credited', detail, by: operatorId, at } as const;
  // Its workflow ended with the failure.
  const credit = { bankReference, creditedAt, notifyWorkflow: false };
  return transitionSettlement(tx, { ...booked, ...credit, id }, () => false);
}

/**
 * Dismisses the pending late credit, which never was, or which the bank has taken back: the settlement stays FAILED.
 * Idempotent. Throws NOT_FOUND, and INVALID_STATE without a pending credit.
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
  throw new AppError('INVALID_STATE', `This settlement is ${status}: it has no late credit to decide.`);
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
  if (!settlement) throw new Error('the settlement was not updated');
  return { settlement, changed: true, before: { status: row.status, bankReference: row.bankReference } };
}
