import { rows } from '../lib/db.ts';
import type { UnitOfWork } from '../outbox/record.ts';

/**
 * The providers' lists prove that these were not paid: nobody need look into them any more. Their states stay as they
 * are, and money that comes all the same is booked late, as ever. Returns how many were in doubt.
 */
export async function clearReconciliationFlag(
  tx: UnitOfWork,
  { transactionIds, at }: { transactionIds: readonly string[]; at: Date },
): Promise<number> {
  if (transactionIds.length === 0) return 0;
  const cleared = await rows(
    tx.trx,
    `WITH cleared AS (
       UPDATE transaction SET needs_reconciliation = false, version = version + 1
       WHERE id = ANY (:transactionIds) AND needs_reconciliation RETURNING id
     )
     INSERT INTO transaction_timeline (transaction_id, occurred_at, kind)
     SELECT id, CAST(:at AS timestamptz), 'reconciliation.confirmed_unpaid' FROM cleared RETURNING transaction_id`,
    { transactionIds: [...transactionIds], at },
  );
  return cleared.length;
}
