import type { z } from 'zod';

import {
  bookReference,
  claimReference,
  referenceConflict,
  releaseReferences,
} from '../../ledger/external-references.ts';
import { post, reverse } from '../../ledger/post.ts';
import {
  allocationKey,
  allocationPosting,
  receiptKey,
  receiptPosting,
  type AllocationOutcome,
  type BankReceipt,
} from '../../ledger/postings.ts';
import { first, insertRow, updateRow, type Queryable, type Trx } from '../../lib/db.ts';
import { duplicate, found, invalidState } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import { allOf, paginateNewest } from '../../lib/paginate-newest.ts';
import type { Page } from '../../lib/pagination.ts';
import type { Environment } from '../../lib/scope.ts';
import type { Channel } from '../../merchants/channels/channel.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { ReceiptQuery } from './schema.ts';

/** A row of `bank_receipt`: a receipt that an operator has booked, and its outcome. */
export type BankReceiptRow = BankReceipt & {
  /** The bank's trace id; of a RECOVERY the provider's own reference. */
  reference: string;
  channel: Channel | null;
  payoutId: string | null;
  bookedAt: Date;
  /** Of unallocated money; null while it is in suspense. */
  outcome: AllocationOutcome['as'] | null;
  outcomeAt: Date | null;
  /** The bank's trace id of the returned money. */
  returnReference: string | null;
  /** Booked by mistake: no longer counts. */
  reversedAt: Date | null;
};

const IN_SUSPENSE = `(kind = 'UNALLOCATED' AND outcome IS NULL AND reversed_at IS NULL)`;

/** One receipt, or undefined. */
export async function findReceipt(db: Queryable, id: string): Promise<BankReceiptRow | undefined> {
  return first(db, 'SELECT * FROM bank_receipt WHERE id = :id', { id });
}

/** Receipts and recoveries, the newest first. Undefined does not narrow. */
export async function listReceipts(
  db: Queryable,
  { environment, reference, waiting }: z.output<typeof ReceiptQuery>,
  page: Page,
) {
  const where = allOf([
    environment && 'environment = :environment',
    reference && ':reference IN (reference, return_reference)',
    waiting && (waiting === 'true' ? IN_SUSPENSE : `NOT ${IN_SUSPENSE}`),
  ]);
  const listed = { table: 'bank_receipt', time: 'booked_at', where, values: { environment, reference } };
  return paginateNewest<BankReceiptRow>(db, listed, page);
}

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
 * posted to suspense. Idempotent. Throws DUPLICATE_REFERENCE, naming what the trace id was booked as.
 */
export async function recordReceipt(
  tx: UnitOfWork,
  { environment, amountSantim, bankReference: reference, channel = null, at }: NewReceipt,
): Promise<RecordedReceipt> {
  const kind = channel === null ? 'UNALLOCATED' : 'REMITTANCE';
  const id = newId('rcp', at.getTime());
  const row = { id, environment, kind, reference, channel, payoutId: null, amountSantim } as const;
  const bookedAs = channel === null ? 'an unallocated receipt' : `a remittance of ${channel}`;
  const holder = await claimReference(tx, { ...row, resourceId: id, direction: 'inbound', bookedAs, at });
  if (holder.resourceId === id) return { money: await insert(tx, { ...row, bookedAt: at }), isNew: true };
  const booked = await findReceipt(tx.trx, holder.resourceId);
  // Unallocated money may have been allocated to a provider since.
  const isSame = booked?.kind === kind && (channel === null || booked.channel === channel);
  if (!isSame || booked.amountSantim !== amountSantim) throw referenceConflict(holder, 'bankReference');
  return { money: booked, isNew: false };
}

/** A withdrawal or refund. */
export type Order = { kind: 'withdrawal' | 'refund'; id: string };
/** What its provider has paid in excess of its amount. */
type PaidOrder = { environment: Environment; channel: Channel; status: string; amountSantim: Santim };

/**
 * What was paid in excess of an order's amount; undefined for an unknown one. Locked until the end of the transaction, so that a
 * withdrawal is not reversed meanwhile.
 */
export async function lockOverpaid(trx: Trx, { kind, id }: Order): Promise<PaidOrder | undefined> {
  return first(
    trx,
    `SELECT environment, channel, status, coalesce(paid_santim, amount_santim) - amount_santim AS amount_santim
     FROM payout WHERE id = :id AND kind = :kind FOR UPDATE`,
    { id, kind },
  );
}

/** `reference`: the provider's own. */
export type NewRecovery = { of: Order; reference: string; at: Date };

/**
 * Books that a provider has taken back what it had paid in excess of the amount of a withdrawal or refund: it owes that
 * again, and the excess leaves suspense. Once for each, by a reference of its own. Idempotent. Throws NOT_FOUND, INVALID_STATE
 * (nothing was overpaid, or the whole payout was reversed) and DUPLICATE_REFERENCE (recovered under another reference, or
 * the reference belongs to another one).
 */
export async function recordRecovery(tx: UnitOfWork, { of, reference, at }: NewRecovery): Promise<RecordedReceipt> {
  const { status, ...paid } = found(await lockOverpaid(tx.trx, of), of.kind);
  const about = { payoutId: of.id };
  const current = await first<BankReceiptRow>(
    tx.trx,
    'SELECT * FROM bank_receipt WHERE payout_id = :payoutId AND reversed_at IS NULL',
    about,
  );
  if (current?.reference === reference) return { money: current, isNew: false };
  if (current) {
    const recovered = `${formatBirr(current.amountSantim)} ETB of ${of.id} were taken back (${current.id})`;
    const issue = `must be "${current.reference}", by which ${recovered}`;
    throw duplicate('reference', issue, { receiptId: current.id });
  }
  if (status !== 'SUCCESS' || paid.amountSantim <= 0n) {
    const why = status === 'REVERSED' ? 'was reversed as a whole' : 'was not paid more than its amount';
    throw invalidState(`${of.id} ${why}: there is nothing that its provider could take back.`);
  }
  const id = newId('rcp', at.getTime());
  const row = { id, ...paid, ...about, kind: 'RECOVERY', reference } as const;
  const bookedAs = `taken back by ${paid.channel} of ${of.id}`;
  await bookReference(tx, { ...row, resourceId: id, direction: 'recovery', bookedAs, at }, 'reference');
  return { money: await insert(tx, { ...row, bookedAt: at }), isNew: true };
}

type NewRow = Omit<BankReceiptRow, 'outcome' | 'outcomeAt' | 'returnReference' | 'reversedAt'>;

async function insert({ trx }: UnitOfWork, row: NewRow): Promise<BankReceiptRow> {
  const money = await insertRow<BankReceiptRow>(trx, 'bank_receipt', row);
  await post(trx, receiptPosting(money), row.bookedAt);
  return money;
}

/**
 * An operator's decision about booked money. ALLOCATED: unallocated money was a remittance of this provider. RETURNED: the
 * bank has sent it back, under this trace id. CORRECTED: it was booked by mistake, whatever it is.
 */
export type ReceiptDecision =
  | { as: 'ALLOCATED'; channel: Channel }
  | { as: 'RETURNED'; returnReference: string }
  | { as: 'CORRECTED' };

/** `changed`: decided by this call, not by an earlier one. */
export type ReceiptResult = { money: BankReceiptRow; before: BankReceiptRow; changed: boolean };

/**
 * Takes unallocated money out of suspense, or reverses the journals of what was booked by mistake, which frees its
 * references for the right booking. Idempotent. Throws NOT_FOUND, INVALID_STATE (it is not in suspense, or was reversed)
 * and DUPLICATE_REFERENCE (of the return).
 */
export async function decideReceipt(
  tx: UnitOfWork,
  id: string,
  { decision, at }: { decision: ReceiptDecision; at: Date },
): Promise<ReceiptResult> {
  const { trx } = tx;
  const sql = 'SELECT * FROM bank_receipt WHERE id = :id FOR UPDATE';
  const before = found(await first<BankReceiptRow>(trx, sql, { id }), 'receipt');
  if (isDecided(before, decision)) return { money: before, before, changed: false };
  if (before.reversedAt !== null) throw invalidState(`${id} was corrected: it no longer counts.`);
  const update = async (changes: Partial<BankReceiptRow>) =>
    found(await updateRow<BankReceiptRow>(trx, { table: 'bank_receipt', id }, changes), 'receipt');
  if (decision.as === 'CORRECTED') {
    const money = await update({ reversedAt: at });
    await releaseReferences(tx, id);
    if (before.outcome !== null) await reverse(trx, allocationKey({ id }), at);
    await reverse(trx, receiptKey({ id }), at);
    return { money, before, changed: true };
  }
  ensureInSuspense(before);
  const { as: outcome, ...details } = decision;
  if (decision.as === 'RETURNED') {
    const returned = { direction: 'outbound', reference: decision.returnReference, at, resourceId: id } as const;
    const bookedAs = 'the return of an unallocated receipt';
    await bookReference(tx, { ...before, ...returned, bookedAs }, 'returnReference');
  }
  const money = await update({ outcome, outcomeAt: at, ...details });
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
  const placed = `was allocated as a remittance of ${channel}`;
  const decided = outcome === 'ALLOCATED' ? placed : `was returned, under the reference ${returnReference}`;
  const status = kind === 'UNALLOCATED' ? decided : 'is not an unallocated receipt';
  throw invalidState(`${id} ${status}. If that is wrong, correct it and book it again.`);
}
