import { bookReference, claimReference, referenceConflict } from '../../ledger/external-references.ts';
import { post } from '../../ledger/post.ts';
import { receiptPosting, type BankReceipt } from '../../ledger/receipt-postings.ts';
import { rows } from '../../lib/db.ts';
import { AppError, invalid, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import type { Environment } from '../../lib/scope.ts';
import type { Channel } from '../../merchants/channels/channel.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { RECEIPT_COLUMNS, type BankReceiptRow } from './queries.ts';

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
  const row: NewRow = { id, environment, kind, reference: bankReference, channel, withdrawalId: null, amountSantim };
  const bookedAs = channel === null ? 'unmatched money' : `a transfer of ${channel}`;
  const holder = await claimReference(tx, { ...row, resourceId: id, direction: 'inbound', bookedAs, at });
  if (holder.resourceId === id) return { money: await insert(tx, row, at), isNew: true };
  const [same] = await rows<BankReceiptRow>(
    tx.trx,
    `SELECT ${RECEIPT_COLUMNS} FROM bank_receipt WHERE id = :id AND kind = :kind AND amount_santim = :amountSantim
       AND (kind = 'UNALLOCATED' OR channel = :channel)`,
    { id: holder.resourceId, kind, amountSantim, channel },
  );
  if (!same) throw referenceConflict(holder, 'bankReference');
  return { money: same, isNew: false };
}

/** `reference`: the provider's own. */
export type NewRecovery = { withdrawalId: string; reference: string; at: Date };

type OverpaidWithdrawal = {
  environment: Environment;
  channel: Channel;
  status: string;
  amountSantim: Santim;
  paidSantim: Santim | null;
};

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
  const [paid] = await rows<OverpaidWithdrawal>(
    tx.trx,
    `SELECT environment, channel, status, amount_santim, paid_santim FROM withdrawal WHERE id = :withdrawalId FOR UPDATE`,
    { withdrawalId },
  );
  if (!paid) throw notFound('withdrawal');
  const sql = `SELECT ${RECEIPT_COLUMNS} FROM bank_receipt WHERE withdrawal_id = :withdrawalId AND reversed_at IS NULL`;
  const [current] = await rows<BankReceiptRow>(tx.trx, sql, { withdrawalId });
  if (current?.reference === reference) return { money: current, isNew: false };
  if (current) throw alreadyRecovered(current);
  const amountSantim = (paid.paidSantim ?? paid.amountSantim) - paid.amountSantim;
  if (paid.status !== 'SUCCESS' || amountSantim <= 0n) throw notOverpaid(withdrawalId, paid.status);
  const { environment, channel } = paid;
  const id = newId('bkm', at.getTime());
  const row: NewRow = { id, environment, channel, kind: 'RECOVERY', reference, withdrawalId, amountSantim };
  const bookedAs = `taken back by ${channel} of ${withdrawalId}`;
  await bookReference(tx, { ...row, resourceId: id, direction: 'recovery', bookedAs, at }, 'reference');
  return { money: await insert(tx, row, at), isNew: true };
}

type NewRow = Omit<BankReceiptRow, 'bookedAt' | 'outcome' | 'outcomeAt' | 'returnReference' | 'reversedAt'>;

/** Writes and posts it. */
async function insert(tx: UnitOfWork, row: NewRow, at: Date): Promise<BankReceiptRow> {
  const [money] = await rows<BankReceiptRow>(
    tx.trx,
    `INSERT INTO bank_receipt (id, environment, kind, reference, channel, withdrawal_id, amount_santim, booked_at)
     VALUES (:id, :environment, :kind, :reference, :channel, :withdrawalId, :amountSantim, :at)
     RETURNING ${RECEIPT_COLUMNS}`,
    { ...row, at },
  );
  if (!money) throw new Error(`receipt ${row.id} was not inserted`);
  await post(tx.trx, receiptPosting(toReceipt(money)), at);
  return money;
}

/** A receipt as the ledger's postings take it: without its outcome. */
export function toReceipt({ id, environment, amountSantim, kind, channel }: BankReceiptRow): BankReceipt {
  const base = { id, environment, amountSantim };
  if (kind === 'UNALLOCATED') return { ...base, kind };
  if (channel === null) throw new Error(`receipt ${id} has no channel`);
  return { ...base, kind, channel };
}

function alreadyRecovered({ id, reference, withdrawalId, amountSantim }: BankReceiptRow): AppError {
  const birr = formatBirr(amountSantim);
  const issue = `must be "${reference}", by which ${birr} ETB of ${withdrawalId} were taken back (${id})`;
  return new AppError('DUPLICATE_REFERENCE', `reference ${issue}.`, {
    details: [{ field: 'reference', issue }],
    existing: { bankMoneyId: id },
  });
}

function notOverpaid(id: string, status: string): AppError {
  const why = status === 'REVERSED' ? 'was reversed as a whole' : 'was not paid more than its amount';
  return new AppError('INVALID_STATE', `${id} ${why}: there is nothing that its provider could take back.`);
}

const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$/;

/** Throws VALIDATION_ERROR. */
export function ensureReferenceFormat(field: string, reference: string): void {
  if (REFERENCE.test(reference)) return;
  throw invalid(field, 'must be 1 to 64 letters, digits and any of _ . / -, beginning with a letter or digit');
}
