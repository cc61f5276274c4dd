import { requireAnotherPerson } from '../access/separation-of-duties.ts';
import { bookReference, ensureUnused } from '../ledger/external-references.ts';
import { addisDay } from '../lib/dates.ts';
import { AppError, invalid } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { creditReference, recordLateCredit, withinDay } from './late-credit.ts';
import { lockSettlement } from './queries.ts';
import {
  ensureSendable,
  ensureStatus,
  transitionSettlement,
  type SettlementActor,
  type TransitionResult,
} from './transition.ts';

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
  const { status, sentBy, sentAt } = row;
  if (sentBy !== null && sentAt !== null) {
    const isSame = sentBy === operatorId && row.bankReference === (bankReference ?? null);
    if (status === 'PROCESSING' && isSame) return { settlement: row, changed: false };
    const under = row.bankReference === null ? 'without a reference' : `under the reference ${row.bankReference}`;
    throw new AppError(
      'INVALID_STATE',
      `${sentBy} sent this settlement to the bank at ${sentAt.toISOString()}, ${under}; it is ${status}. ` +
        `Do not send it again. If you did, contact ${sentBy} first.`,
    );
  }
  ensureStatus(row, 'PROCESSING');
  const { environment, approvedBy: preparedBy } = row;
  const approved = { environment, what: 'settlement', preparedBy, done: 'approved', verb: 'send' } as const;
  await requireAnotherPerson(tx.trx, sender, approved);
  await ensureSendable(tx, row, { verb: 'sent', instead: 'mark it as failed' });
  const reference = bankReference === undefined ? {} : { bankReference };
  const changes = { sentBy: operatorId, sentAt: at, ...reference };
  return transitionSettlement(tx, row, {
    to: 'PROCESSING',
    kind: 'bank.sent',
    detail: reference,
    by: operatorId,
    at,
    changes,
  });
}

/** `amountSantim`: the amount that the bank reports, if it does; it must be the settlement's. */
export type Credit = SettlementActor & { bankReference: string; creditedAt: Date; amountSantim?: Santim | undefined };

/**
 * PROCESSING → COMPLETED: the bank has credited it under this trace id. `creditedAt` is the bank's time, `at` ours.
 * Idempotent, even if the bank has sent the money back since. The credit of a FAILED settlement is stored for operators to
 * decide (late-credit.ts); it stays FAILED. Throws NOT_FOUND, INVALID_STATE from another state, DUPLICATE_REFERENCE when the
 * trace id is booked as something else, and VALIDATION_ERROR for a day before it was sent or after today, or for another
 * amount.
 */
export async function markCredited(tx: UnitOfWork, id: string, credit: Credit): Promise<TransitionResult> {
  const { operatorId, at, bankReference, amountSantim } = credit;
  const row = await lockSettlement(tx, id);
  if (amountSantim !== undefined && amountSantim !== row.amountSantim) {
    const issue = `must be the settlement's, ${formatBirr(row.amountSantim)} ETB, got ${formatBirr(amountSantim)}`;
    throw invalid('amount', `${issue}: clarify it with the bank; nothing was booked`);
  }
  const isSameDay = row.creditedAt !== null && addisDay(row.creditedAt) === addisDay(credit.creditedAt);
  if (isSameDay && row.bankReference === bankReference) return { settlement: row, changed: false };
  if (row.status !== 'FAILED') ensureStatus(row, 'COMPLETED');
  ensureDay(credit.creditedAt, { from: row.sentAt ?? row.requestedAt, until: at });
  const creditedAt = withinDay(row, credit.creditedAt);
  const reference = creditReference(row, { bankReference, creditedAt });
  if (row.status === 'FAILED') {
    await ensureUnused(tx.trx, reference, 'bankReference');
    return recordLateCredit(tx, row, { ...credit, creditedAt });
  }
  await bookReference(tx, reference, 'bankReference');
  const changes = { bankReference, creditedAt };
  return transitionSettlement(tx, row, {
    to: 'COMPLETED',
    kind: 'bank.credited',
    detail: changes,
    by: operatorId,
    at,
    changes,
  });
}

/** Compares days, since banks report days more often than times. */
function ensureDay(creditedAt: Date, { from, until }: { from: Date; until: Date }): void {
  const day = addisDay(creditedAt);
  if (day >= addisDay(from) && day <= addisDay(until)) return;
  const issue = `must be a day from ${addisDay(from)}, when it was sent, to ${addisDay(until)}, today; got ${day}`;
  throw invalid('creditedAt', issue);
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
  const row = await lockSettlement(tx, id);
  if (row.status === 'FAILED' && row.returnReference === bankReference) return { settlement: row, changed: false };
  ensureStatus(row, 'FAILED', ['COMPLETED']);
  const { environment, amountSantim } = row;
  const money = { environment, direction: 'inbound', reference: bankReference, amountSantim, at } as const;
  await bookReference(tx, { ...money, resourceId: id, bookedAs: 'the return of a settlement' }, 'bankReference');
  const failure = { code: 'BANK_RETURNED', message: reason };
  return transitionSettlement(tx, row, {
    to: 'FAILED',
    kind: 'bank.returned',
    detail: { reason, bankReference },
    by: operatorId,
    at,
    changes: { returnedAt: at, returnReference: bankReference, failure },
    // Its workflow ended with the credit.
    notifyWorkflow: false,
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
): Promise<TransitionResult> {
  const { operatorId, at, reason, bankReference, from } = failed;
  const row = await lockSettlement(tx, id);
  const isRepeat = row.status === 'FAILED' && row.returnedAt === null && row.failure?.message === reason;
  if (isRepeat) return { settlement: row, changed: false };
  if (row.status === 'COMPLETED' && row.creditedAt !== null) {
    const credited = `This settlement is COMPLETED, credited on ${addisDay(row.creditedAt)}`;
    throw new AppError('INVALID_STATE', `${credited}: if the bank has sent the money back since, mark it as returned.`);
  }
  ensureStatus(row, 'FAILED', from);
  const reference = bankReference === undefined ? {} : { bankReference };
  return transitionSettlement(tx, row, {
    to: 'FAILED',
    kind: 'bank.failed',
    detail: { reason, ...reference },
    by: operatorId,
    at,
    changes: { ...reference, failure: { code: 'BANK_REFUSED', message: reason } },
  });
}
