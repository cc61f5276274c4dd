import { ensureUnused } from '../ledger/external-references.ts';
import { addisDay } from '../lib/dates.ts';
import { invalid } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { noteLateCredit, withinDay } from './late-credit.ts';
import { lockSettlement, type SettlementRow } from './model.ts';
import { requireSendable } from './sendable.ts';
import { transitionSettlement, type SettlementActor, type TransitionResult } from './transition.ts';

/**
 * The transfer is given to the bank by this operator; `bankReference`, where there is one already. One person pays: said
 * again by the same it changes nothing, and anybody else is told whose it is. Throws NOT_FOUND, and INVALID_STATE when
 * it is not APPROVED, its merchant is suspended, or its bank account was rejected since.
 */
export async function markSent(
  tx: UnitOfWork,
  id: string,
  { operatorId, at, bankReference }: SettlementActor & { bankReference?: string | undefined },
): Promise<TransitionResult> {
  const row = await lockSettlement(tx, id);
  if (row.status === 'APPROVED') {
    await requireSendable(tx, row, { verb: 'sent', instead: 'say that it has failed' });
  }
  const detail = bankReference === undefined ? {} : { bankReference };
  return transitionSettlement(
    tx,
    { id, to: 'PROCESSING', kind: 'bank.sent', detail, by: operatorId, at, bankReference, instead: whoSentIt },
    (status) => status.sentBy === operatorId && status.bankReference === (bankReference ?? null),
  );
}

function whoSentIt({ status, sentBy, sentAt, bankReference }: SettlementRow): string | null {
  if (sentBy === null || sentAt === null) return null;
  const under = bankReference === null ? 'without a reference' : `under the reference ${bankReference}`;
  const said = `${sentBy} gave this settlement to the bank at ${sentAt.toISOString()}, ${under}`;
  return `${said}; it is ${status}. Do not send it again: ask ${sentBy} first if you did.`;
}

/** `amountSantim`: what the bank says it credited, where it says so; it must be the settlement's. */
export type Credit = SettlementActor & { bankReference: string; creditedAt: Date; amountSantim?: Santim | undefined };

/**
 * The bank has credited it, under its trace id: the money has left. `creditedAt` is the bank's time, `at` ours. Said
 * again it changes nothing. Of one that had FAILED it is not booked: it waits for operators (late-credit.ts), and the
 * settlement is answered FAILED. Throws NOT_FOUND, INVALID_STATE when it stands elsewhere than PROCESSING,
 * DUPLICATE_REFERENCE when the trace id is booked as something else, and VALIDATION_ERROR for a day before it was sent or
 * after today, or another amount.
 */
export async function markCredited(tx: UnitOfWork, id: string, credit: Credit): Promise<TransitionResult> {
  const { operatorId, at, bankReference } = credit;
  const before = await lockSettlement(tx, id);
  requireAmount(before, credit);
  if (isSameCredit(before, credit)) return { settlement: before, changed: false };
  if (before.status === 'PROCESSING' || before.status === 'FAILED') {
    const { environment } = before;
    requireDay(credit.creditedAt, { from: before.sentAt ?? before.requestedAt, until: at });
    await ensureUnused(tx, { environment, way: 'out', reference: bankReference, field: 'bankReference', id });
  }
  const creditedAt = withinDay(before, credit.creditedAt);
  if (before.status === 'FAILED') return noteLateCredit(tx, before, { ...credit, creditedAt });
  const detail = { bankReference, creditedAt: creditedAt.toISOString() };
  const credited = { to: 'COMPLETED', kind: 'bank.credited', detail, by: operatorId, at } as const;
  return transitionSettlement(tx, { ...credited, id, bankReference, creditedAt }, () => false);
}

function requireAmount({ amountSantim }: SettlementRow, said: Credit): void {
  if (said.amountSantim === undefined || said.amountSantim === amountSantim) return;
  const [ours, theirs] = [formatBirr(amountSantim), formatBirr(said.amountSantim)];
  const issue = `must be the settlement's, ${ours} ETB, got ${theirs}: ask the bank, nothing was booked`;
  throw invalid('amount', issue);
}

/** Whether it was credited so, even if the money has come back since. */
function isSameCredit(row: SettlementRow, { bankReference, creditedAt }: Credit): boolean {
  return (
    row.creditedAt !== null && row.bankReference === bankReference && addisDay(row.creditedAt) === addisDay(creditedAt)
  );
}

/**
 * The bank has sent back what it had credited: the money, with its fee, is the merchant's again. `bankReference` is the
 * bank's trace id of the way back. Said again it changes nothing. Throws NOT_FOUND, INVALID_STATE when it is not
 * COMPLETED, and DUPLICATE_REFERENCE when the trace id is booked as something else that came to the bank.
 */
export async function markReturned(
  tx: UnitOfWork,
  id: string,
  { operatorId, at, reason, bankReference }: SettlementActor & { reason: string; bankReference: string },
): Promise<TransitionResult> {
  const before = await lockSettlement(tx, id);
  if (before.status === 'COMPLETED') {
    const { environment } = before;
    await ensureUnused(tx, { environment, way: 'in', reference: bankReference, field: 'bankReference' });
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
      // Its workflow has ended with the credit.
      notifyWorkflow: false,
      returnReference: bankReference,
      failure: { code: 'BANK_RETURNED', message: reason },
    },
    (row) => row.returnReference === bankReference,
  );
}

/**
 * The bank did not credit it, or it could not be sent: the money is the merchant's again. Said again it changes
 * nothing. Throws NOT_FOUND, and INVALID_STATE when it is neither APPROVED nor PROCESSING.
 */
export async function markFailed(
  tx: UnitOfWork,
  id: string,
  failed: SettlementActor & { reason: string; bankReference?: string | undefined },
): Promise<TransitionResult> {
  return fail(tx, id, failed);
}

/** The same for an answer of the bank, which is about what was sent: INVALID_STATE for anything but PROCESSING. */
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
      instead: whyNotFailed,
    },
    (row) => row.returnedAt === null && row.failure?.message === reason,
  );
}

function whyNotFailed({ status, creditedAt }: SettlementRow): string | null {
  if (status !== 'COMPLETED' || creditedAt === null) return null;
  return `This settlement is COMPLETED, credited on ${addisDay(creditedAt)}: if the bank has sent the money back since, say that it was returned.`;
}

/** Banks tell days more often than times, so days are compared. */
function requireDay(creditedAt: Date, { from, until }: { from: Date; until: Date }): void {
  const day = addisDay(creditedAt);
  if (day >= addisDay(from) && day <= addisDay(until)) return;
  const issue = `must be a day from ${addisDay(from)}, when it was sent, to ${addisDay(until)}, today; got ${day}`;
  throw invalid('creditedAt', issue);
}
