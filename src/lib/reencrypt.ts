import { reseal, type KeyRing } from './crypto.ts';
import { isDatabaseError } from './db-errors.ts';
import { type Database } from './db.ts';

export type SealedTable = {
  table: string;
  /** The names of its primary key, in camelCase. */
  key: readonly string[];
  columns: readonly string[];
  /** The scope that the columns of a row are sealed for. */
  scopeOf: (key: readonly string[]) => string;
};

/** The counts of encrypted values. `failed` names those that no listed key opens; they stay unchanged. */
export type Reencrypted = { seen: number; reencrypted: number; failed: string[] };

export type OnProgress = (so: Reencrypted) => void;

const ROWS_AT_ONCE = 500;

type Row = Readonly<Record<string, string | Buffer | null>>;

/**
 * Encrypts values of older keys with the current one, batch by batch in the order of the primary key. Rows changed
 * meanwhile are skipped. Can be stopped and repeated; idempotent.
 */
export async function reencryptTable(
  { db, keyRing }: { db: Database; keyRing: KeyRing },
  { table, key, columns, scopeOf }: SealedTable,
  onProgress: OnProgress,
): Promise<Reencrypted> {
  const knex = db.knex();
  const so: Reencrypted = { seen: 0, reencrypted: 0, failed: [] };
  const keyOf = (row: Row): string[] => key.map((name) => String(row[name]));
  const marks = (mark: string): string => `(${key.map(() => mark).join(', ')})`;
  for (let last: Row | undefined; ;) {
    const next = knex(table)
      .select(...key, ...columns)
      .orderBy([...key])
      .limit(ROWS_AT_ONCE);
    if (last) void next.whereRaw(`${marks('??')} > ${marks('?')}`, [...key, ...keyOf(last)]);
    const batch: Row[] = await next;
    for (const row of batch) {
      so.seen += 1;
      const id = keyOf(row);
      try {
        const resealed = columns.map((name) => {
          const value = row[name];
          return [name, value instanceof Buffer ? reseal(keyRing, scopeOf(id), value) : null] as const;
        });
        const changes = Object.fromEntries(resealed.filter(([, value]) => value !== null));
        // Its old values as conditions: a row that was changed meanwhile is under the current key already.
        if (Object.keys(changes).length > 0) so.reencrypted += await knex(table).where(row).update(changes);
      } catch (error) {
        if (isDatabaseError(error)) throw error;
        so.failed.push(id.join('/'));
      }
    }
    onProgress(so);
    last = batch.at(-1);
    if (batch.length < ROWS_AT_ONCE) return so;
  }
}
