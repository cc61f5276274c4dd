import { addisDay } from '../lib/dates.ts';
import { AppError } from '../lib/errors.ts';
import type { Change } from '../lib/outbox.ts';
import { requireOwnReference } from './bank-reference.ts';
import { lockSettlement, type SettlementRow } from './model.ts';
import { moveSettlement, type Actor, type Moved } from './move.ts';

/**
 * The transfer is given to the bank by this operator; `bankReference`, where there is one already. One person pays: said
 * again by the same it changes nothing, and anybody else is told whose it is. Throws NOT_FOUND, and INVALID_STATE when
 * it is not APPROVED.
 */
export async function markSent(
  change: Change,
  id: string,
  { operatorId, at, bankReference }: Actor & { bankReference?: string | undefined },
): Promise<Moved> {
  const detail = bankReference === undefined ? {} : { bankReference };
  return moveSettlement(
    change,
    { id, to: 'PROCESSING', kind: 'bank.sent', detail, by: operatorId, at, bankReference, instead: whoSentIt },
    (row) => row.sentBy === operatorId && row.bankReference === (bankReference ?? null),
  );
}

function whoSentIt({ status, sentBy, sentAt, bankReference }: SettlementRow): string | null {
  if (sentBy === null || sentAt === null) return null;
  const under = bankReference === null ? 'without a reference' : `under the reference ${bankReference}`;
  const said = `${sentBy} gave this settlement to the bank at ${sentAt.toISOString()}, ${under}`;
  return `${said}; it is ${status}. Do not send it again: ask ${sentBy} first if you did.`;
}

/**
 * The bank has credited it, under its trace id: the money has left. `creditedAt` is the bank's time, `at` ours. Said
 * again it changes nothing. Throws NOT_FOUND, INVALID_STATE when it is not PROCESSING or the trace id is of another
 * settlement, and VALIDATION_ERROR for a day before it was sent or after today.
 */
export async function markCredited(
  change: Change,
  id: string,
  credit: Actor & { bankReference: string; creditedAt: Date },
): Promise<Moved> {
  const { operatorId, at, bankReference, creditedAt } = credit;
  const before = await lockSettlement(change, id);
  if (before.status === 'PROCESSING') {
    requireDay(creditedAt, { from: before.sentAt ?? before.requestedAt, until: at });
    await requireOwnReference(change, before, bankReference);
  }
  return moveSettlement(
    change,
    {
      id,
      to: 'COMPLETED',
      kind: 'bank.credited',
      detail: { bankReference, creditedAt: creditedAt.toISOString() },
      by: operatorId,
      at,
      bankReference,
      creditedAt,
    },
    (row) =>
      row.bankReference === bankReference &&
      row.creditedAt !== null &&
      addisDay(row.creditedAt) === addisDay(creditedAt),
  );
}

/**
 * The bank did not credit it, or it could not be sent: the money is the merchant's again. Said again it changes
 * nothing. Throws NOT_FOUND, and INVALID_STATE when it is neither APPROVED nor PROCESSING.
 */
export async function markFailed(
  change: Change,
  id: string,
  failed: Actor & { reason: string; bankReference?: string | undefined },
): Promise<Moved> {
  return fail(change, id, failed);
}

/** The same for an answer of the bank, which is about what was sent: INVALID_STATE for anything but PROCESSING. */
export async function markRefused(
  change: Change,
  id: string,
  failed: Actor & { reason: string; bankReference?: string | undefined },
): Promise<Moved> {
  return fail(change, id, { ...failed, from: ['PROCESSING'] });
}

async function fail(
  change: Change,
  id: string,
  failed: Actor & { reason: string; bankReference?: string | undefined; from?: readonly ['PROCESSING'] },
): Promise<Moved> {
  const { operatorId, at, reason, bankReference, from } = failed;
  return moveSettlement(
    change,
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
    },
    (row) => row.failure?.message === reason,
  );
}

/** Banks tell days more often than times, so days are compared. */
function requireDay(creditedAt: Date, { from, until }: { from: Date; until: Date }): void {
  const day = addisDay(creditedAt);
  if (day >= addisDay(from) && day <= addisDay(until)) return;
  const issue = `must be a day from ${addisDay(from)}, when it was sent, to ${addisDay(until)}, today; got ${day}`;
  throw new AppError('VALIDATION_ERROR', `creditedAt ${issue}`, { details: [{ field: 'creditedAt', issue }] });
}
