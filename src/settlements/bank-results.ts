import { requireAnotherPerson } from '../access/separation-of-duties.ts';
import { bookReference, ensureUnused } from '../ledger/external-references.ts';
import { addisDay } from '../lib/dates.ts';
import { invalid } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { creditReference, recordLateCredit, withinDay } from './late-credit.ts';
import { lockSettlement, type SettlementRow } from './queries.ts';
import { ensureSendable, transitionSettlement, type SettlementActor, type TransitionResult } from './transition.ts';

/**
 * APPROVED → PROCESSING: claims the settlement for sending. Only this operator orders the transfer: idempotent for the
 * same operator and reference, INVALID_STATE with the operator's id for all others. Also throws NOT_FOUND, and
 * INVALID_STATE when in live the operator has approved it, its merchant is suspended, or its bank account was rejected since the request.
 */
export async function markSent(
  tx: UnitOfWork,
  id: string,
  { at, bankReference, ...sender }: SettlementActor & { bankReference?: string | undefined },
): Promise<TransitionResult> {
  const row = await lockSettlement(tx, id);
  const { operatorId } = sender;
  if (row.status === 'APPROVED') {
    const { environment, approvedBy: preparedBy } = row;
    const approved = { environment, what: 'settlement', preparedBy, done: 'approved', verb: 'send' } as const;
    await requireAnotherPerson(tx.trx, sender, approved);
    await ensureSendable(tx, row, { verb: 'sent', instead: 'mark it as failed' });
  }
  const detail = bankReference === undefined ? {} : { bankReference };
  return transitionSettlement(
    tx,
    { id, to: 'PROCESSING', kind: 'bank.sent', detail, by: operatorId, at, bankReference, explain: sentByAnother },
    (row) => row.sentBy === operatorId && row.bankReference === (bankReference ?? null),
  );
}

function sentByAnother({ status, sentBy, sentAt, bankReference }: SettlementRow): string | null {
  if (sentBy === null || sentAt === null) return null;
  const under = bankReference === null ? 'without a reference' : `under the reference ${bankReference}`;
  const sent = `${sentBy} sent this settlement to the bank at ${sentAt.toISOString()}, ${under}`;
  return `${sent}; it is ${status}. Do not send it again. If you did, contact ${sentBy} first.`;
}

/** `amountSantim`: the amount that the bank reports, if it does; it must be the settlement's. */
export type Credit = SettlementActor & { bankReference: string; creditedAt: Date; amountSantim?: Santim | undefined };

/**
 * PROCESSING → COMPLETED: the bank has credited it under this trace id. `creditedAt` is the bank's time, `at` ours.
 * Idempotent. The credit of a FAILED settlement is stored for operators to decide (late-credit.ts); it stays FAILED.
 * Throws NOT_FOUND, INVALID_STATE from another state, DUPLICATE_REFERENCE when the trace id is booked as something else,
 * and VALIDATION_ERROR for a day before it was sent or after today, or for another amount.
 */
export async function markCredited(tx: UnitOfWork, id: string, credit: Credit): Promise<TransitionResult> {
  const { operatorId, at, bankReference } = credit;
  const before = await lockSettlement(tx, id);
  ensureAmount(before, credit);
  if (isSameCredit(before, credit)) return { settlement: before, changed: false };
  const creditedAt = withinDay(before, credit.creditedAt);
  const reference = creditReference(before, { bankReference, creditedAt });
  if (before.status === 'PROCESSING' || before.status === 'FAILED') {
    ensureDay(credit.creditedAt, { from: before.sentAt ?? before.requestedAt, until: at });
  }
  if (before.status === 'PROCESSING') await bookReference(tx, reference, 'bankReference');
  if (before.status === 'FAILED') {
    await ensureUnused(tx.trx, reference, 'bankReference');
    return recordLateCredit(tx, before, { ...credit, creditedAt });
  }
  const detail = { bankReference, creditedAt: creditedAt.toISOString() };
  const credited = { to: 'COMPLETED', kind: 'bank.credited', detail, by: operatorId, at } as const;
  return transitionSettlement(tx, { ...credited, id, bankReference, creditedAt }, () => false);
}

function ensureAmount({ amountSantim }: SettlementRow, credit: Credit): void {
  if (credit.amountSantim === undefined || credit.amountSantim === amountSantim) return;
  const [ours, theirs] = [formatBirr(amountSantim), formatBirr(credit.amountSantim)];
  throw invalid(
    'amount',
    `must be the settlement's, ${ours} ETB, got ${theirs}: clarify it with the bank; nothing was booked`,
  );
}

/** Whether this credit is booked already, even if the bank has sent the money back since. */
function isSameCredit(row: SettlementRow, { bankReference, creditedAt }: Credit): boolean {
  return (
    row.creditedAt !== null && row.bankReference === bankReference && addisDay(row.creditedAt) === addisDay(creditedAt)
  );
}

/**
 * COMPLETED → FAILED: the bank has sent back what it had credited, under this trace id. Amount and fee return to the
 * merchant's balance. Idempotent. Throws NOT_FOUND, INVALID_STATE from another state, and DUPLICATE_REFERENCE when the trace
 * id is booked as another inbound transfer.
 */
export async function markReturned(
  tx: UnitOfWork,
  id: string,
  { operatorId, at, reason, bankReference }: SettlementActor & { reason: string; bankReference: string },
): Promise<TransitionResult> {
  const before = await lockSettlement(tx, id);
  if (before.status === 'COMPLETED') {
    const { environment, amountSantim } = before;
    const money = { environment, direction: 'inbound', reference: bankReference, amountSantim, at } as const;
    const booking = { ...money, resourceId: id, bookedAs: 'the return of a settlement' };
    await bookReference(tx, booking, 'bankReference');
  }
  return transitionSettlement(
    tx,
    {
      id,
      to: 'FAILED',
      from: ['COMPLETED'],
      kind: 'bank.returned',
      detail: { reason, bankReference },
      by: operatorId,
      at,
      // Its workflow ended with the credit.
      notifyWorkflow: false,
      returnReference: bankReference,
      failure: { code: 'BANK_RETURNED', message: reason },
    },
    (row) => row.returnReference === bankReference,
  );
}

/**
 * APPROVED or PROCESSING → FAILED: it was not credited, or could not be sent. Releases the money to the merchant.
 * Idempotent. Throws NOT_FOUND, and INVALID_STATE from another state.
 */
export async function markFailed(
  tx: UnitOfWork,
  id: string,
  failed: SettlementActor & { reason: string; bankReference?: string | undefined },
): Promise<TransitionResult> {
  return fail(tx, id, failed);
}

/** The same for a result of the bank, which only has what was sent: INVALID_STATE for anything but PROCESSING. */
export async function markFailedByBank(
  tx: UnitOfWork,
  id: string,
  failed: SettlementActor & { reason: string; bankReference?: string | undefined },
): Promise<TransitionResult> {
  return fail(tx, id, { ...failed, from: ['PROCESSING'] });
}

async function fail(
  tx: UnitOfWork,
  id: string,
  failed: SettlementActor & { reason: string; bankReference?: string | undefined; from?: readonly ['PROCESSING'] },
): Promise<TransitionResult> {
  const { operatorId, at, reason, bankReference, from } = failed;
  return transitionSettlement(
    tx,
    {
      id,
      to: 'FAILED',
      ...(from && { from }),
      kind: 'bank.failed',
      detail: { reason, ...(bankReference === undefined ? {} : { bankReference }) },
      by: operatorId,
      at,
      bankReference,
      failure: { code: 'BANK_REFUSED', message: reason },
      explain: creditedBefore,
    },
    (row) => row.returnedAt === null && row.failure?.message === reason,
  );
}

function creditedBefore({ status, creditedAt }: SettlementRow): string | null {
  if (status !== 'COMPLETED' || creditedAt === null) return null;
  return `This settlement is COMPLETED, credited on ${addisDay(creditedAt)}: if the bank has sent the money back since, mark it as returned.`;
}

/** Compares days, since banks report days more often than times. */
function ensureDay(creditedAt: Date, { from, until }: { from: Date; until: Date }): void {
  const day = addisDay(creditedAt);
  if (day >= addisDay(from) && day <= addisDay(until)) return;
  const issue = `must be a day from ${addisDay(from)}, when it was sent, to ${addisDay(until)}, today; got ${day}`;
  throw invalid('creditedAt', issue);
}
