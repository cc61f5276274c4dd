import { rows, type Queryable } from './db.ts';

/** Locked as a row of the table of that name, as every UPDATE of it does. */
const ROWS = ['withdrawal'] as const;
/** Locked by name: what is no row, is not there yet, or is several rows. */
type Named = 'bank_account' | 'fee_rule' | 'operators' | 'payout_reference' | 'settlement';

/** What can be locked by {@link lock}. */
export type LockKind = (typeof ROWS)[number] | Named;

/**
 * Waits until no other transaction holds the lock of this kind and id, then holds it until the transaction ends. It only
 * locks: rows are read by the statement after it, or, where one statement reads them anyway, locked there.
 */
export async function lock(trx: Queryable, kind: LockKind, id: string): Promise<void> {
  const table = ROWS.find((name) => name === kind);
  if (table) await rows(trx, `SELECT 1 FROM ${table} WHERE id = :id FOR UPDATE`, { id });
  else await rows(trx, 'SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))', { key: `${kind} ${id}` });
}
