import { addisDay } from '../lib/dates.ts';
import { first, rows, type Queryable } from '../lib/db.ts';
import { type AppError, invalid } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';

/**
 * A reference of money outside, as it is booked. Inbound and outbound: the bank's trace id of money that our account
 * received or sent. Recovery: the provider's own reference of an overpayment that it has taken back.
 */
export type ExternalReference = {
  environment: Environment;
  direction: 'inbound' | 'outbound' | 'recovery';
  reference: string;
  /** rcp_… or stl_…. */
  resourceId: string;
  /** In words, for errors: the credit of a settlement. */
  bookedAs: string;
  amountSantim: Santim;
  at: Date;
};

/**
 * Books a reference unless it is booked already, and returns the booking that holds it: this one or an earlier one. Waits
 * for a concurrent transaction that books the same reference, and locks it until this transaction ends.
 */
export async function claimReference({ trx }: UnitOfWork, booking: ExternalReference): Promise<ExternalReference> {
  const sql = `
    INSERT INTO external_reference (environment, direction, reference, resource_id, booked_as, amount_santim, booked_at)
    VALUES (:environment, :direction, :reference, :resourceId, :bookedAs, :amountSantim, :at)
    ON CONFLICT (environment, direction, reference) DO UPDATE SET reference = excluded.reference
    RETURNING *, booked_at AS at`;
  return (await first<ExternalReference>(trx, sql, booking)) ?? booking;
}

/** Books a reference. `field` names it in the request. Throws DUPLICATE_REFERENCE when another resource holds it. */
export async function bookReference(tx: UnitOfWork, booking: ExternalReference, field: string): Promise<void> {
  const holder = await claimReference(tx, booking);
  if (holder.resourceId !== booking.resourceId) throw referenceConflict(holder, field);
}

/** Throws DUPLICATE_REFERENCE when another resource holds the reference; books nothing. */
export async function ensureUnused(db: Queryable, booking: ExternalReference, field: string): Promise<void> {
  const sql = `SELECT *, booked_at AS at FROM external_reference
    WHERE environment = :environment AND direction = :direction AND reference = :reference AND resource_id <> :resourceId`;
  const holder = await first<ExternalReference>(db, sql, booking);
  if (holder) throw referenceConflict(holder, field);
}

/** Frees the references of a resource whose booking was reversed. */
export async function releaseReferences({ trx }: UnitOfWork, resourceId: string): Promise<void> {
  await rows(trx, 'DELETE FROM external_reference WHERE resource_id = :resourceId', { resourceId });
}

/** DUPLICATE_REFERENCE, naming what the reference was booked as. */
export function referenceConflict(holder: ExternalReference, field: string): AppError {
  const { reference, resourceId: id, bookedAs, amountSantim, at } = holder;
  const issue = `"${reference}" was booked as ${bookedAs}, ${formatBirr(amountSantim)} ETB, on ${addisDay(at)} (${id})`;
  const isSettlement = id.startsWith('stl_');
  const advice = isSettlement ? "Look at the bank's statement again." : 'Where that is wrong, correct it first.';
  const existing = isSettlement ? { settlementId: id } : { receiptId: id };
  return invalid(field, issue, { code: 'DUPLICATE_REFERENCE', message: `${field} ${issue}. ${advice}`, existing });
}
