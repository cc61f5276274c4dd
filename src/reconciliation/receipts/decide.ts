import { bookReference, releaseReferences } from '../../ledger/external-references.ts';
import { post, reverse } from '../../ledger/post.ts';
import { allocationKey, allocationPosting, receiptKey } from '../../ledger/receipt-postings.ts';
import { rows } from '../../lib/db.ts';
import { AppError, invalid, notFound } from '../../lib/errors.ts';
import { CHANNELS, type Channel } from '../../merchants/channels/channel.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { RECEIPT_COLUMNS, type BankReceiptRow } from './queries.ts';
import { ensureReferenceFormat, toReceipt } from './record.ts';

export const RECEIPT_DECISIONS = ['ALLOCATED', 'RETURNED', 'CORRECTED'] as const;

/**
 * An operator's decision about booked money. ALLOCATED: unallocated money was a remittance of this provider. RETURNED: the
 * bank has sent it back, under this trace id. CORRECTED: it was booked by mistake, whatever it is.
 */
export type ReceiptDecision =
  | { as: 'ALLOCATED'; channel: Channel }
  | { as: 'RETURNED'; returnReference: string }
  | { as: 'CORRECTED' };

type ReceiptDecisionInput = {
  as: ReceiptDecision['as'];
  channel?: Channel | undefined;
  returnReference?: string | undefined;
};

/** Checks that exactly the fields of the decision are given. Throws VALIDATION_ERROR. */
export function receiptDecision({ as, channel, returnReference }: ReceiptDecisionInput): ReceiptDecision {
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

type Decided<As extends ReceiptDecision['as']> = { decision: Extract<ReceiptDecision, { as: As }>; at: Date };

/**
 * Takes unallocated money out of suspense, or reverses the journals of what was booked by mistake, which frees its
 * references for the right booking. Idempotent. Throws NOT_FOUND, VALIDATION_ERROR, INVALID_STATE (it is not in suspense,
 * or was reversed) and DUPLICATE_REFERENCE (of the return).
 */
export async function decideReceipt(
  tx: UnitOfWork,
  id: string,
  { decision, at }: Decided<ReceiptDecision['as']>,
): Promise<ReceiptResult> {
  const sql = `SELECT ${RECEIPT_COLUMNS} FROM bank_receipt WHERE id = :id FOR UPDATE`;
  const [before] = await rows<BankReceiptRow>(tx.trx, sql, { id });
  if (!before) throw notFound('bank money');
  if (isDecided(before, decision)) return { money: before, before, changed: false };
  if (before.reversedAt !== null) throw new AppError('INVALID_STATE', `${id} was corrected: it no longer counts.`);
  if (decision.as === 'CORRECTED') return { money: await reverseReceipt(tx, before, at), before, changed: true };
  if (before.kind !== 'UNALLOCATED' || before.outcome !== null) throw notInSuspense(before);
  return { money: await allocateReceipt(tx, before, { decision, at }), before, changed: true };
}

function isDecided(row: BankReceiptRow, decision: ReceiptDecision): boolean {
  if (decision.as === 'CORRECTED') return row.reversedAt !== null;
  if (row.outcome !== decision.as || row.reversedAt !== null) return false;
  return decision.as === 'ALLOCATED'
    ? row.channel === decision.channel
    : row.returnReference === decision.returnReference;
}

function notInSuspense({ id, kind, outcome, channel, returnReference }: BankReceiptRow): AppError {
  const status =
    kind !== 'UNALLOCATED'
      ? 'is not unmatched money'
      : outcome === 'ALLOCATED'
        ? `was placed as a transfer of ${channel}`
        : `was returned, under the reference ${returnReference}`;
  return new AppError('INVALID_STATE', `${id} ${status}. If that is wrong, correct it and book it again.`);
}

async function allocateReceipt(
  tx: UnitOfWork,
  { id, environment, amountSantim }: BankReceiptRow,
  { decision, at }: Decided<'ALLOCATED' | 'RETURNED'>,
): Promise<BankReceiptRow> {
  const channel = decision.as === 'ALLOCATED' ? decision.channel : null;
  const returnReference = decision.as === 'RETURNED' ? decision.returnReference : null;
  if (returnReference !== null) {
    ensureReferenceFormat('returnReference', returnReference);
    const money = { environment, direction: 'outbound', reference: returnReference, amountSantim, at } as const;
    const booking = { ...money, resourceId: id, bookedAs: 'the way back of unmatched money' };
    await bookReference(tx, booking, 'returnReference');
  }
  const [money] = await rows<BankReceiptRow>(
    tx.trx,
    `UPDATE bank_receipt SET outcome = :as, outcome_at = :at, channel = :channel, return_reference = :returnReference
     WHERE id = :id RETURNING ${RECEIPT_COLUMNS}`,
    { id, as: decision.as, at, channel, returnReference },
  );
  if (!money) throw new Error(`receipt ${id} is missing`);
  await post(tx.trx, allocationPosting(toReceipt(money), decision), at);
  return money;
}

async function reverseReceipt(tx: UnitOfWork, { id, outcome }: BankReceiptRow, at: Date): Promise<BankReceiptRow> {
  const [money] = await rows<BankReceiptRow>(
    tx.trx,
    `UPDATE bank_receipt SET reversed_at = :at WHERE id = :id RETURNING ${RECEIPT_COLUMNS}`,
    { id, at },
  );
  if (!money) throw new Error(`receipt ${id} is missing`);
  await releaseReferences(tx, id);
  if (outcome !== null) await reverse(tx.trx, allocationKey({ id }), at);
  await reverse(tx.trx, receiptKey({ id }), at);
  return money;
}
