import { bookReference, type ExternalReference } from '../ledger/external-references.ts';
import { addisDay, startOfAddisDay } from '../lib/dates.ts';
import { AppError } from '../lib/errors.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { lockSettlement, type LateCredit, type SettlementRow } from './queries.ts';
import {
  transitionSettlement,
  writeSettlement,
  type SettlementActor,
  type SettlementChange,
  type TransitionResult,
} from './transition.ts';

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
    const pending = `another credit of it is pending: ${known.bankReference}.`;
    throw new AppError('INVALID_STATE', `This settlement is FAILED, and ${pending}`);
  }
  const detail = { bankReference, creditedAt: creditedAt.toISOString() };
  const changes = { lateCredit: { ...detail, operatorId, at: at.toISOString() }, lateCreditResolution: null };
  return write(tx, row, { changes, kind: 'bank.credited_late', detail, by: operatorId, at });
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
  if (row.returnedAt !== null) {
    const issue = `This settlement was credited under ${row.bankReference} and returned before: a second credit cannot be booked`;
    throw new AppError('INVALID_STATE', `${issue}. Have the bank take it back, then dismiss it.`);
  }
  const credit = { bankReference: late.bankReference, creditedAt: new Date(late.creditedAt) };
  await bookReference(tx, creditReference(row, credit), 'bankReference');
  return transitionSettlement(tx, row, {
    to: 'COMPLETED',
    kind: 'bank.credited',
    detail: credit,
    by: operatorId,
    at,
    changes: { ...credit, lateCreditResolution: 'BOOKED' },
    // Its workflow ended with the failure.
    notifyWorkflow: false,
  });
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
  const detail = { bankReference: ensurePending(row).bankReference, reason };
  const changes = { lateCreditResolution: 'DISMISSED' } as const;
  return write(tx, row, { changes, kind: 'bank.credit_dismissed', detail, by: operatorId, at });
}

function ensurePending({ status, lateCredit, lateCreditResolution }: SettlementRow): LateCredit {
  if (lateCredit && lateCreditResolution === null) return lateCredit;
  throw new AppError('INVALID_STATE', `This settlement is ${status}: it has no late credit to decide.`);
}

async function write(tx: UnitOfWork, row: SettlementRow, change: SettlementChange): Promise<TransitionResult> {
  const settlement = await writeSettlement(tx, row, change);
  return { settlement, changed: true, before: { status: row.status, bankReference: row.bankReference } };
}
