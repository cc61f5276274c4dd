import type { AllocationOutcome, BankReceipt } from '../../ledger/receipt-postings.ts';
import { rows, type Queryable } from '../../lib/db.ts';
import type { Santim } from '../../lib/money.ts';
import { paginateNewest } from '../../lib/paginate-newest.ts';
import type { Page } from '../../lib/pagination.ts';
import type { Environment } from '../../lib/scope.ts';
import type { Channel } from '../../merchants/channels/channel.ts';

/** A row of `bank_receipt`: bank money that an operator has booked, and its outcome. */
export type BankReceiptRow = {
  id: string;
  environment: Environment;
  kind: BankReceipt['kind'];
  /** The bank's trace id; of a RECOVERY the provider's own reference. */
  reference: string;
  channel: Channel | null;
  withdrawalId: string | null;
  amountSantim: Santim;
  bookedAt: Date;
  /** Of unallocated money; null while it is in suspense. */
  outcome: AllocationOutcome['as'] | null;
  outcomeAt: Date | null;
  /** The bank's trace id of the returned money. */
  returnReference: string | null;
  /** Booked by mistake: no longer counts. */
  reversedAt: Date | null;
};

/** Undefined does not narrow. */
export type ReceiptFilter = {
  environment?: Environment | undefined;
  /** The bank's trace id of either direction, or the provider's own reference. */
  reference?: string | undefined;
  /** Whether it is unallocated money in suspense. */
  waiting?: boolean | undefined;
};

const IN_SUSPENSE = `(kind = 'UNALLOCATED' AND outcome IS NULL AND reversed_at IS NULL)`;

/** One receipt, or undefined. */
export async function findReceipt(db: Queryable, id: string): Promise<BankReceiptRow | undefined> {
  return (await rows<BankReceiptRow>(db, 'SELECT * FROM bank_receipt WHERE id = :id', { id }))[0];
}

/** What was paid in excess of a withdrawal's amount; undefined for an unknown withdrawal. */
export async function findOverpaid(
  db: Queryable,
  withdrawalId: string,
): Promise<{ environment: Environment; amountSantim: Santim } | undefined> {
  const sql = `SELECT environment, coalesce(paid_santim, amount_santim) - amount_santim AS amount_santim
               FROM withdrawal WHERE id = :withdrawalId`;
  return (await rows<{ environment: Environment; amountSantim: Santim }>(db, sql, { withdrawalId }))[0];
}

/** Receipts and recoveries, the newest first. */
export async function listReceipts(db: Queryable, filter: ReceiptFilter, page: Page) {
  const where = ['true'];
  if (filter.environment !== undefined) where.push('environment = :environment');
  if (filter.reference !== undefined) where.push(':reference IN (reference, return_reference)');
  if (filter.waiting !== undefined) where.push(filter.waiting ? IN_SUSPENSE : `NOT ${IN_SUSPENSE}`);
  const listed = { columns: '*', table: 'bank_receipt', time: 'booked_at', where: where.join(' AND ') };
  return paginateNewest<BankReceiptRow>(db, { ...listed, values: { ...filter } }, page);
}
