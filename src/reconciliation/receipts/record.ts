import { bookReference, claimReference, referenceConflict } from '../../ledger/external-references.ts';
import { post } from '../../ledger/post.ts';
import { receiptPosting } from '../../ledger/receipt-postings.ts';
import { rows } from '../../lib/db.ts';
import { AppError, invalid, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import type { Environment } from '../../lib/scope.ts';
import type { Channel } from '../../merchants/channels/channel.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { BankReceiptRow } from './queries.ts';

/** `isNew`: booked by this call, not by an earlier one. */
export type RecordedReceipt = { money: BankReceiptRow; isNew: boolean };

/** Money that the operator's bank account received. Without a channel its payer is unknown. */
export type NewReceipt = {
  environment: Environment;
  amountSantim: Santim;
  /** The bank's trace id, which is booked once. */
  bankReference: string;
  channel?: Channel | null | undefined;
  at: Date;
};

/**
 * Books received money: a remittance of a provider, whose debt it reduces, or (no channel) unallocated money, which is
 * posted to suspense. Idempotent. Throws VALIDATION_ERROR (amount, reference) and DUPLICATE_REFERENCE, naming what the
 * trace id was booked as.
 */
export async function recordReceipt(
  tx: UnitOfWork,
  { environment, amountSantim, bankReference, channel = null, at }: NewReceipt,
): Promise<RecordedReceipt> {
  ensureReferenceFormat('bankReference', bankReference);
  if (amountSantim <= 0n) throw invalid('amount', 'must be above 0');
  const kind = channel === null ? 'UNALLOCATED' : 'REMITTANCE';
  const id = newId('bkm', at.getTime());
  const row = { id, environment, kind, reference: bankReference, channel, withdrawalId: null, amountSantim } as const;
  const bookedAs = channel === null ? 'unmatched money' : `a transfer of ${channel}`;
  const holder = await claimReference(tx, { ...row, resourceId: id, direction: 'inbound', bookedAs, at });
  if (holder.resourceId === id) return { money: await insert(tx, { ...row, bookedAt: at }), isNew: true };
  // Unallocated money may have been allocated to a provider since.
  const ofChannel = channel === null ? {} : { channel };
  const booked = tx
    .trx<BankReceiptRow>('bankReceipt')
    .where({ id: holder.resourceId, kind, amountSantim, ...ofChannel });
  const same = await booked.first();
  if (!same) throw referenceConflict(holder, 'bankReference');
  return { money: same, isNew: false };
}

/** `reference`: the provider's own. */
export type NewRecovery = { withdrawalId: string; reference: string; at: Date };

/**
 * Books that a provider has taken back what it had paid in excess of a withdrawal's amount: it owes that again, and the
 * excess leaves suspense. Once per withdrawal, by a reference of its own. Idempotent. Throws NOT_FOUND, VALIDATION_ERROR,
 * INVALID_STATE (nothing was overpaid, or the whole payout was reversed) and DUPLICATE_REFERENCE (recovered under another
 * reference, or the reference belongs to another withdrawal).
 */
export async function recordRecovery(
  tx: UnitOfWork,
  { withdrawalId, reference, at }: NewRecovery,
): Promise<RecordedReceipt> {
  ensureReferenceFormat('reference', reference);
  // The lock keeps the withdrawal from being reversed meanwhile.
  const [paid] = await rows<{ environment: Environment; channel: Channel; status: string; excessSantim: Santim }>(
    tx.trx,
    `SELECT environment, channel, status, coalesce(paid_santim, amount_santim) - amount_santim AS excess_santim
     FROM withdrawal WHERE id = :withdrawalId FOR UPDATE`,
    { withdrawalId },
  );
  if (!paid) throw notFound('withdrawal');
  const current = await tx.trx<BankReceiptRow>('bankReceipt').where({ withdrawalId, reversedAt: null }).first();
  if (current?.reference === reference) return { money: current, isNew: false };
  if (current) {
    const recovered = `${formatBirr(current.amountSantim)} ETB of ${withdrawalId} were taken back (${current.id})`;
    const issue = `must be "${current.reference}", by which ${recovered}`;
    throw new AppError('DUPLICATE_REFERENCE', `reference ${issue}.`, {
      details: [{ field: 'reference', issue }],
      existing: { bankMoneyId: current.id },
    });
  }
  const { environment, channel, excessSantim: amountSantim } = paid;
  if (paid.status !== 'SUCCESS' || amountSantim <= 0n) {
    const why = paid.status === 'REVERSED' ? 'was reversed as a whole' : 'was not paid more than its amount';
    const issue = `${withdrawalId} ${why}: there is nothing that its provider could take back.`;
    throw new AppError('INVALID_STATE', issue);
  }
  const id = newId('bkm', at.getTime());
  const row = { id, environment, channel, kind: 'RECOVERY', reference, withdrawalId, amountSantim } as const;
  const bookedAs = `taken back by ${channel} of ${withdrawalId}`;
  await bookReference(tx, { ...row, resourceId: id, direction: 'recovery', bookedAs, at }, 'reference');
  return { money: await insert(tx, { ...row, bookedAt: at }), isNew: true };
}

type NewRow = Omit<BankReceiptRow, 'outcome' | 'outcomeAt' | 'returnReference' | 'reversedAt'>;

/** Writes and posts it. */
async function insert({ trx }: UnitOfWork, row: NewRow): Promise<BankReceiptRow> {
  const [money]: BankReceiptRow[] = await trx('bankReceipt').insert(row).returning('*');
  if (!money) throw new Error(`receipt ${row.id} was not inserted`);
  await post(trx, receiptPosting(money), row.bookedAt);
  return money;
}

const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$/;

/** Throws VALIDATION_ERROR. */
export function ensureReferenceFormat(field: string, reference: string): void {
  if (REFERENCE.test(reference)) return;
  throw invalid(field, 'must be 1 to 64 letters, digits and any of _ . / -, beginning with a letter or digit');
}
