import { requireAnotherPerson } from '../access/separation-of-duties.ts';
import { bookReference, ensureUnused, type ExternalReference } from '../ledger/external-references.ts';
import { addisDay, startOfAddisDay } from '../lib/dates.ts';
import { invalid, invalidState } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { LateCredit, SettlementRow } from './queries.ts';
import { changeSettlement, ensureSendable, ensureStatus, type Change, type SettlementActor } from './transition.ts';

/**
 * APPROVED → PROCESSING: claims the settlement for sending. Only this operator orders the transfer: idempotent for the
 * same operator and reference, INVALID_STATE with the operator's id for all others. Also throws NOT_FOUND, and
 * INVALID_STATE when in live the operator has approved it, its merchant is suspended, or its bank account was rejected since the request.
 */
export async function markSent(
  tx: UnitOfWork,
  id: string,
  { bankReference, ...sender }: SettlementActor & { bankReference?: string | undefined },
) {
  const { operatorId, at: sentAt } = sender;
  return changeSettlement(tx, { ...sender, id }, async (row) => {
    const { environment, status, approvedBy: preparedBy, sentBy } = row;
    if (sentBy !== null) {
      const isSame = sentBy === operatorId && row.bankReference === (bankReference ?? null);
      if (status === 'PROCESSING' && isSame) return null;
      const under = row.bankReference === null ? 'without a reference' : `under the reference ${row.bankReference}`;
      throw invalidState(
        `${sentBy} sent this settlement to the bank at ${row.sentAt?.toISOString()}, ${under}; it is ${status}. ` +
          `Do not send it again. If you did, contact ${sentBy} first.`,
      );
    }
    ensureStatus(row, 'PROCESSING');
    const approved = { environment, what: 'settlement', preparedBy, done: 'approved', verb: 'send' } as const;
    await requireAnotherPerson(tx.trx, sender, approved);
    await ensureSendable(tx, row, { verb: 'sent', instead: 'mark it as failed' });
    const detail = bankReference === undefined ? {} : { bankReference };
    return { to: 'PROCESSING', kind: 'bank.sent', detail, changes: { sentBy: operatorId, sentAt, ...detail } };
  });
}

/** `amountSantim`: the amount that the bank reports, if it does; it must be the settlement's. */
export type Credit = SettlementActor & { bankReference: string; creditedAt: Date; amountSantim?: Santim | undefined };

/**
 * PROCESSING → COMPLETED: the bank has credited it under this trace id. `creditedAt` is the bank's time, `at` ours.
 * Idempotent, even if the bank has sent the money back since. The credit of a FAILED settlement, whose money was released to
 * the merchant, books nothing and is stored: an operator books or dismisses it. Throws NOT_FOUND, INVALID_STATE from another
 * state or while another late credit is pending, DUPLICATE_REFERENCE when the trace id is booked as something else, and
 * VALIDATION_ERROR for a day before it was sent or after today, or for another amount.
 */
export async function markCredited(tx: UnitOfWork, id: string, credit: Credit) {
  const { bankReference, amountSantim } = credit;
  return changeSettlement(tx, { ...credit, id }, async (row) => {
    if (amountSantim !== undefined && amountSantim !== row.amountSantim) {
      const issue = `must be the settlement's, ${formatBirr(row.amountSantim)} ETB, got ${formatBirr(amountSantim)}`;
      throw invalid('amount', `${issue}: clarify it with the bank; nothing was booked`);
    }
    if (row.bankReference === bankReference && isSameDay(row.creditedAt, credit.creditedAt)) return null;
    if (row.status !== 'FAILED') ensureStatus(row, 'COMPLETED');
    const creditedAt = timeOfCredit(row, credit);
    const reference = creditReference(row, { bankReference, creditedAt });
    if (row.status === 'FAILED') {
      await ensureUnused(tx.trx, reference, 'bankReference');
      return storeLateCredit(row, { ...credit, creditedAt });
    }
    await bookReference(tx, reference, 'bankReference');
    const detail = { bankReference, creditedAt };
    return { to: 'COMPLETED', kind: 'bank.credited', detail, changes: detail };
  });
}

/** Banks report days more often than times. */
const isSameDay = (one: Date | null, other: Date): boolean => one !== null && addisDay(one) === addisDay(other);

/**
 * The reported time of a credit. Midnight means a day without a time: on the day of sending, the time of sending. Throws
 * VALIDATION_ERROR for a day before it was sent or after today.
 */
function timeOfCredit({ sentAt, requestedAt }: SettlementRow, { creditedAt, at }: Credit): Date {
  const earliest = sentAt ?? requestedAt;
  const [day, from, until] = [addisDay(creditedAt), addisDay(earliest), addisDay(at)];
  if (day < from || day > until) {
    const issue = `must be a day from ${from}, when it was sent, to ${until}, today; got ${day}`;
    throw invalid('creditedOn', { issue, code: 'day_out_of_range', params: { earliest: from, latest: until } });
  }
  const isDayAlone = startOfAddisDay(day).getTime() === creditedAt.getTime();
  return isDayAlone && creditedAt < earliest ? earliest : creditedAt;
}

/** The bank's trace id of a settlement's credit, as the ledger books it. */
function creditReference(
  row: SettlementRow,
  { bankReference: reference, creditedAt: at }: Pick<Credit, 'bankReference' | 'creditedAt'>,
): ExternalReference {
  return { ...row, direction: 'outbound', reference, at, resourceId: row.id, bookedAs: 'the credit of a settlement' };
}

function storeLateCredit(row: SettlementRow, { operatorId, at, bankReference, creditedAt }: Credit): Change | null {
  const known = row.lateCredit;
  if (known?.bankReference === bankReference && isSameDay(new Date(known.creditedAt), creditedAt)) return null;
  if (known && row.lateCreditResolution === null) {
    const pending = `another credit of it is pending: ${known.bankReference}.`;
    throw invalidState(`This settlement is FAILED, and ${pending}`);
  }
  const detail = { bankReference, creditedAt: creditedAt.toISOString() };
  const changes = { lateCredit: { ...detail, operatorId, at: at.toISOString() }, lateCreditResolution: null };
  return { kind: 'bank.credited_late', detail, changes };
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
export async function bookLateCredit(tx: UnitOfWork, id: string, actor: SettlementActor) {
  return changeSettlement(tx, { ...actor, id }, async (row) => {
    if (row.lateCreditResolution === 'BOOKED') return null;
    const late = pendingCredit(row);
    if (row.returnedAt !== null) {
      const issue = `This settlement was credited under ${row.bankReference} and returned before: a second credit cannot be booked`;
      throw invalidState(`${issue}. Have the bank take it back, then dismiss it.`);
    }
    const detail = { bankReference: late.bankReference, creditedAt: new Date(late.creditedAt) };
    await bookReference(tx, creditReference(row, detail), 'bankReference');
    const changes = { ...detail, lateCreditResolution: 'BOOKED' } as const;
    return { to: 'COMPLETED', kind: 'bank.credited', detail, changes };
  });
}

/**
 * Dismisses the pending late credit, which never was, or which the bank has taken back: the settlement stays FAILED.
 * Idempotent. Throws NOT_FOUND, and INVALID_STATE without a pending credit.
 */
export async function dismissLateCredit(
  tx: UnitOfWork,
  id: string,
  { reason, ...actor }: SettlementActor & { reason: string },
) {
  return changeSettlement(tx, { ...actor, id }, (row) => {
    if (row.lateCreditResolution === 'DISMISSED') return null;
    const detail = { bankReference: pendingCredit(row).bankReference, reason };
    return { kind: 'bank.credit_dismissed', detail, changes: { lateCreditResolution: 'DISMISSED' } };
  });
}

function pendingCredit({ status, lateCredit, lateCreditResolution }: SettlementRow): LateCredit {
  if (lateCredit && lateCreditResolution === null) return lateCredit;
  throw invalidState(`This settlement is ${status}: it has no late credit to decide.`);
}

/**
 * COMPLETED → FAILED: the bank has sent back what it had credited, under this trace id. Amount and fee return to the
 * merchant's balance. Idempotent. Throws NOT_FOUND, INVALID_STATE from another state, and DUPLICATE_REFERENCE when the trace
 * id is booked as another inbound transfer.
 */
export async function markReturned(
  tx: UnitOfWork,
  id: string,
  { reason, bankReference, ...actor }: SettlementActor & { reason: string; bankReference: string },
) {
  const { at } = actor;
  return changeSettlement(tx, { ...actor, id }, async (row) => {
    if (row.status === 'FAILED' && row.returnReference === bankReference) return null;
    ensureStatus(row, 'FAILED', ['COMPLETED']);
    const returned = { direction: 'inbound', reference: bankReference, at, resourceId: id } as const;
    await bookReference(tx, { ...row, ...returned, bookedAs: 'the return of a settlement' }, 'bankReference');
    const failure = { code: 'BANK_RETURNED', message: reason };
    const changes = { returnedAt: at, returnReference: bankReference, failure };
    return { to: 'FAILED', kind: 'bank.returned', detail: { reason, bankReference }, changes };
  });
}

/**
 * APPROVED or PROCESSING → FAILED: it was not credited, or could not be sent. Releases the money to the merchant.
 * Idempotent. Throws NOT_FOUND, and INVALID_STATE from another state.
 * @param failed.from PROCESSING alone for a result of the bank, which only has what was sent.
 */
export async function markFailed(
  tx: UnitOfWork,
  id: string,
  failed: SettlementActor & { reason: string; bankReference?: string | undefined; from?: 'PROCESSING'[] },
) {
  const { reason, bankReference, from } = failed;
  return changeSettlement(tx, { ...failed, id }, (row) => {
    if (row.status === 'FAILED' && row.returnedAt === null && row.failure?.message === reason) return null;
    if (row.status === 'COMPLETED' && row.creditedAt !== null) {
      const credited = `This settlement is COMPLETED, credited on ${addisDay(row.creditedAt)}`;
      throw invalidState(`${credited}: if the bank has sent the money back since, mark it as returned.`);
    }
    ensureStatus(row, 'FAILED', from);
    const reference = bankReference === undefined ? {} : { bankReference };
    const changes = { ...reference, failure: { code: 'BANK_REFUSED', message: reason } };
    return { to: 'FAILED', kind: 'bank.failed', detail: { reason, ...reference }, changes };
  });
}
