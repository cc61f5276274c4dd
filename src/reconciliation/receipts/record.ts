import { receiptPosting, receiptKey, type BankReceipt, type AllocationOutcome } from '../../ledger/bank-postings.ts';
import { lockReference, referenceConflict, type ReferenceUse } from '../../ledger/external-references.ts';
import { post } from '../../ledger/post.ts';
import { rows, type Queryable } from '../../lib/db.ts';
import { AppError, invalid } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Santim } from '../../lib/money.ts';
import type { Environment } from '../../lib/scope.ts';
import type { Channel } from '../../merchants/channels/channel.ts';
import type { UnitOfWork } from '../../outbox/record.ts';

/** A row of `bank_receipt`: what an operator has booked of money outside, and what became of it. */
export type BankReceiptRow = {
  id: string;
  environment: Environment;
  kind: BankReceipt['kind'];
  /** The bank's trace id; of RECOVERY the provider's own reference. */
  reference: string;
  channel: Channel | null;
  withdrawalId: string | null;
  amountSantim: Santim;
  bookedAt: Date;
  /** Of unmatched money; null while it waits in suspense. */
  outcome: AllocationOutcome['as'] | null;
  outcomeAt: Date | null;
  /** The bank's trace id of its way back. */
  returnReference: string | null;
  /** It was booked wrongly, and counts no more. */
  reversedAt: Date | null;
};

/** `isNew`: this call booked it, and no earlier one. */
export type Booked = { money: BankReceiptRow; isNew: boolean };

/** Money that came to the operator's bank account. `bankReference`: the bank's trace id, which is booked once. */
export type ArrivedMoney = { environment: Environment; amountSantim: Santim; bankReference: string; at: Date };

export const BANK_RECEIPT_COLUMNS = `id, environment, kind, reference, channel, withdrawal_id, amount_santim, booked_at, outcome,
  outcome_at, return_reference, reversed_at`;

/**
 * Money has come to the bank: of a provider, which owes that much less, or (no channel) of nobody known, so that it waits
 * in suspense. A trace id is booked once, as one of them; the same again changes nothing. Throws VALIDATION_ERROR (no
 * money, no reference) and DUPLICATE_REFERENCE, naming what the trace id was booked as.
 */
export async function recordArrival(
  tx: UnitOfWork,
  { bankReference, channel = null, at, ...money }: ArrivedMoney & { channel?: Channel | null | undefined },
): Promise<Booked> {
  requireReference('bankReference', bankReference);
  if (money.amountSantim <= 0n) throw refused('amount', 'must be above 0');
  const kind = channel === null ? 'UNALLOCATED' : 'REMITTANCE';
  const wanted = { ...money, kind, reference: bankReference, channel, withdrawalId: null } as const;
  const outside = { environment: money.environment, way: 'in', reference: bankReference } as const;
  const uses = await lockReference(tx, outside);
  const same = await findSame(tx.trx, wanted, uses);
  if (same) return { money: same, isNew: false };
  if (uses[0]) throw referenceConflict(uses[0], { field: 'bankReference', reference: bankReference });
  return { money: await insert(tx, wanted, at), isNew: true };
}

type NewRow = Pick<BankReceiptRow, 'environment' | 'kind' | 'reference' | 'channel' | 'withdrawalId' | 'amountSantim'>;

/** Writes and posts it. */
export async function insert(tx: UnitOfWork, wanted: NewRow, at: Date): Promise<BankReceiptRow> {
  const id = newId('bkm', at.getTime());
  const [row] = await rows<BankReceiptRow>(
    tx.trx,
    `INSERT INTO bank_receipt (id, environment, kind, reference, channel, withdrawal_id, amount_santim, ledger_key, booked_at)
     VALUES (:id, :environment, :kind, :reference, :channel, :withdrawalId, :amountSantim, :key, :at)
     RETURNING ${BANK_RECEIPT_COLUMNS}`,
    { ...wanted, id, key: receiptKey({ id }), at },
  );
  if (!row) throw new Error(`${wanted.reference} is not booked`);
  await post(tx.trx, receiptPosting(moneyOf(row)), at);
  return row;
}

/** As the ledger's facts take it: as it was when it was booked. */
export function moneyOf({ id, environment, amountSantim, kind, channel }: BankReceiptRow): BankReceipt {
  const base = { id, environment, amountSantim };
  if (kind === 'UNALLOCATED') return { ...base, kind };
  if (channel === null) throw new Error(`${id} has no channel`);
  return { ...base, kind, channel };
}

/** Of what stands booked under a trace id, the very same. */
async function findSame(
  db: Queryable,
  { kind, amountSantim, channel }: NewRow,
  uses: readonly ReferenceUse[],
): Promise<BankReceiptRow | undefined> {
  const [same] = await rows<BankReceiptRow>(
    db,
    `SELECT ${BANK_RECEIPT_COLUMNS} FROM bank_receipt
     WHERE id = ANY (:ids) AND kind = :kind AND amount_santim = :amountSantim AND (kind = 'UNALLOCATED' OR channel = :channel)
     ORDER BY booked_at, id LIMIT 1`,
    { ids: uses.map(({ id }) => id), kind, amountSantim, channel },
  );
  return same;
}

const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$/;

/** Throws VALIDATION_ERROR. */
export function requireReference(field: string, reference: string): void {
  if (REFERENCE.test(reference)) return;
  throw refused(field, 'must be 1 to 64 letters, digits and any of _ . / -, beginning with one of the former');
}

export function refused(field: string, issue: string): AppError {
  return invalid(field, issue, { message: `${field} ${issue}.` });
}
