import { rows, type Queryable } from './db.ts';

const ROWS_MAX = 10_000;

/**
 * Deletes the rows of a table that match a condition in SQL, 10,000 a statement, so that no lock is held for long. Ends
 * early at `stopping`; returns how many were deleted. For periodic jobs.
 */
export async function deleteInBatches(
  db: Queryable,
  { table, where, values = {} }: { table: string; where: string; values?: Record<string, unknown> },
  stopping?: AbortSignal,
): Promise<number> {
  const sql = `DELETE FROM ${table}
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${where} LIMIT ${ROWS_MAX})) RETURNING 1`;
  let total = 0;
  for (;;) {
    const { length } = await rows(db, sql, values);
    total += length;
    if (length < ROWS_MAX || stopping?.aborted) return total;
  }
}
