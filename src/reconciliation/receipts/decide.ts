import { bookReference, releaseReferences } from '../../ledger/external-references.ts';
import { post, reverse } from '../../ledger/post.ts';
import { allocationKey, allocationPosting, receiptKey } from '../../ledger/receipt-postings.ts';
import type { Trx } from '../../lib/db.ts';
import { AppError, invalid, notFound } from '../../lib/errors.ts';
import { CHANNELS, type Channel } from '../../merchants/channels/channel.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { BankReceiptRow } from './queries.ts';
import { ensureReferenceFormat } from './record.ts';

export const RECEIPT_DECISIONS = ['ALLOCATED', 'RETURNED', 'CORRECTED'] as const;

/**
 * An operator's decision about booked money. ALLOCATED: unallocated money was a remittance of this provider. RETURNED: the
 * bank has sent it back, under this trace id. CORRECTED: it was booked by mistake, whatever it is.
 */
export type ReceiptDecision =
  | { as: 'ALLOCATED'; channel: Channel }
  | { as: 'RETURNED'; returnReference: string }
  | { as: 'CORRECTED' };

/** Checks that exactly the fields of the decision are given. Throws VALIDATION_ERROR. */
export function receiptDecision({
  as,
  channel,
  returnReference,
}: {
  as: ReceiptDecision['as'];
  channel?: Channel | undefined;
  returnReference?: string | undefined;
}): ReceiptDecision {
  if (channel !== undefined && as !== 'ALLOCATED') throw invalid('channel', 'belongs to ALLOCATED only');
  if (returnReference !== undefined && as !== 'RETURNED') throw invalid('returnReference', 'belongs to RETURNED only');
  if (as === 'CORRECTED') return { as };
  if (as === 'ALLOCATED') {
    if (channel === undefined) throw invalid('channel', `is needed with ALLOCATED: one of ${CHANNELS.join(', ')}`);
    return { as, channel };
  }
  if (returnReference === undefined) throw invalid('returnReference', "is needed with RETURNED: the bank's trace id");
  return { as, returnReference };
}

/** `changed`: decided by this call, not by an earlier one. */
export type ReceiptResult = { money: BankReceiptRow; before: BankReceiptRow; changed: boolean };

/**
 * Takes unallocated money out of suspense, or reverses the journals of what was booked by mistake, which frees its
 * references for the right booking. Idempotent. Throws NOT_FOUND, VALIDATION_ERROR, INVALID_STATE (it is not in suspense,
 * or was reversed) and DUPLICATE_REFERENCE (of the return).
 */
export async function decideReceipt(
  tx: UnitOfWork,
  id: string,
  { decision, at }: { decision: ReceiptDecision; at: Date },
): Promise<ReceiptResult> {
  const { trx } = tx;
  const before = await trx<BankReceiptRow>('bankReceipt').where({ id }).forUpdate().first();
  if (!before) throw notFound('bank money');
  if (isDecided(before, decision)) return { money: before, before, changed: false };
  if (before.reversedAt !== null) throw new AppError('INVALID_STATE', `${id} was corrected: it no longer counts.`);
  if (decision.as === 'CORRECTED') {
    const money = await update(trx, id, { reversedAt: at });
    await releaseReferences(tx, id);
    if (before.outcome !== null) await reverse(trx, allocationKey({ id }), at);
    await reverse(trx, receiptKey({ id }), at);
    return { money, before, changed: true };
  }
  ensureInSuspense(before);
  const { as, ...outcome } = decision;
  if (decision.as === 'RETURNED') {
    const { environment, amountSantim } = before;
    const { returnReference: reference } = decision;
    ensureReferenceFormat('returnReference', reference);
    const money = { environment, direction: 'outbound', reference, amountSantim, at } as const;
    const booking = { ...money, resourceId: id, bookedAs: 'the way back of unmatched money' };
    await bookReference(tx, booking, 'returnReference');
  }
  const money = await update(trx, id, { outcome: as, outcomeAt: at, ...outcome });
  await post(trx, allocationPosting(money, decision), at);
  return { money, before, changed: true };
}

function isDecided(row: BankReceiptRow, decision: ReceiptDecision): boolean {
  if (decision.as === 'CORRECTED') return row.reversedAt !== null;
  if (row.outcome !== decision.as || row.reversedAt !== null) return false;
  return decision.as === 'ALLOCATED'
    ? row.channel === decision.channel
    : row.returnReference === decision.returnReference;
}

/** Throws INVALID_STATE. */
function ensureInSuspense({ id, kind, outcome, channel, returnReference }: BankReceiptRow): void {
  if (kind === 'UNALLOCATED' && outcome === null) return;
  const placed = `was placed as a transfer of ${channel}`;
  const decided = outcome === 'ALLOCATED' ? placed : `was returned, under the reference ${returnReference}`;
  const status = kind === 'UNALLOCATED' ? decided : 'is not unmatched money';
  throw new AppError('INVALID_STATE', `${id} ${status}. If that is wrong, correct it and book it again.`);
}

async function update(trx: Trx, id: string, changes: Partial<BankReceiptRow>): Promise<BankReceiptRow> {
  const [money]: BankReceiptRow[] = await trx('bankReceipt').where({ id }).update(changes).returning('*');
  if (!money) throw new Error(`receipt ${id} was not updated`);
  return money;
}
