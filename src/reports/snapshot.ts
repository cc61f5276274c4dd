import { inTransaction, rows, type Knex } from '../lib/db.ts';

/**
 * Reads many things as they were at one instant, which `work` is told: what was committed by then is seen, whatever is
 * committed while it reads is not.
 */
export async function inSnapshot<T>(
  db: Knex,
  work: (trx: Knex.Transaction, snapshotAt: Date) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (trx) => {
    await rows(trx, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    // The first question takes the snapshot, just after the instant that it tells.
    const [snapshot] = await rows<{ at: Date }>(trx, 'SELECT statement_timestamp() AS at');
    if (!snapshot) throw new Error('a clock always answers');
    return work(trx, snapshot.at);
  });
}
