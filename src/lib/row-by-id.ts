import { first, updateRow, type Queryable, type Trx } from './db.ts';
import { found } from './errors.ts';

/**
 * The rows of a table by id: read, locked until the end of the transaction, or changed, once locked. `what`: in the error of
 * an id that is not there, NOT_FOUND. `where`, in SQL: which of its rows.
 */
export function rowById<Row extends { id: string }>(table: string, what = table, where = 'true') {
  const sql = `SELECT * FROM ${table} WHERE id = :id AND ${where}`;
  return {
    read: async (db: Queryable, id: string): Promise<Row> => found(await first<Row>(db, sql, { id }), what),
    lock: async (trx: Trx, id: string): Promise<Row> => found(await first<Row>(trx, `${sql} FOR UPDATE`, { id }), what),
    update: async (trx: Trx, { id }: { id: string }, changes: Partial<Row>): Promise<Row> =>
      found(await updateRow<Row>(trx, { table, id }, changes), what),
  };
}
