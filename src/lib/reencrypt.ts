import { reseal, type KeyRing } from './crypto.ts';
import { rows, type Knex } from './db.ts';

/** A table with columns that {@link reseal} understands. */
export type SealedTable = {
  table: string;
  /** Its primary key. */
  key: readonly string[];
  columns: readonly string[];
  /** The owner that the columns of a row are sealed for. */
  scopeOf: (key: readonly string[]) => string;
};

/** The result for encrypted values. `failed` names those that no listed key opens; they stay unchanged. */
export type Reencrypted = { seen: number; reencrypted: number; failed: string[] };

const ROWS_AT_ONCE = 500;

/** Called with the progress after each batch. */
export type OnProgress = (so: Reencrypted) => void;

/**
 * Encrypts values of older keys with the current one, batch by batch in the order of the primary key. Rows changed
 * meanwhile are skipped. Can be stopped and repeated; idempotent.
 */
export async function reencryptTable(
  { db, keyRing }: { db: Knex; keyRing: KeyRing },
  sealed: SealedTable,
  onProgress: OnProgress,
): Promise<Reencrypted> {
  const so: Reencrypted = { seen: 0, reencrypted: 0, failed: [] };
  for (let after: readonly string[] | null = null; ;) {
    const batch = await readBatch(db, sealed, after);
    for (const row of batch) {
      so.seen += 1;
      const renewed = renewedOf(keyRing, sealed, row);
      if (renewed === 'failed') so.failed.push(row.key.join('/'));
      else if (renewed && (await replace(db, sealed, { ...row, renewed }))) so.reencrypted += 1;
    }
    onProgress(so);
    const last = batch.at(-1);
    if (!last || batch.length < ROWS_AT_ONCE) return so;
    after = last.key;
  }
}

type Row = { key: string[]; values: (Buffer | null)[] };

async function readBatch(
  db: Knex,
  { table, key, columns }: SealedTable,
  after: readonly string[] | null,
): Promise<Row[]> {
  const place = key.map((_, index) => `:key${index}`).join(', ');
  return rows<Row>(
    db,
    `SELECT ARRAY[${key.join(', ')}]::text[] AS key, ARRAY[${columns.join(', ')}]::bytea[] AS values FROM ${table}
     ${after ? `WHERE (${key.join(', ')}) > (${place})` : ''} ORDER BY ${key.join(', ')} LIMIT ${ROWS_AT_ONCE}`,
    Object.fromEntries((after ?? []).map((value, index) => [`key${index}`, value])),
  );
}

/** null: no value of the row is under an older key. */
function renewedOf(keyRing: KeyRing, { scopeOf }: SealedTable, { key, values }: Row): Row['values'] | null | 'failed' {
  try {
    const renewed = values.map((value) => value && (reseal(keyRing, scopeOf(key), value) ?? value));
    return renewed.some((value, index) => value !== values[index]) ? renewed : null;
  } catch {
    return 'failed';
  }
}

/** false: the row was changed since it was read. */
async function replace(
  db: Knex,
  { table, key, columns }: SealedTable,
  row: Row & { renewed: Row['values'] },
): Promise<boolean> {
  const [sets, was] = ['new', 'old'].map((time) => columns.map((_, index) => `:${time}${index}`));
  const found = await rows(
    db,
    `UPDATE ${table} SET ${columns.map((column, index) => `${column} = ${sets?.[index]}`).join(', ')}
     WHERE ${key.map((name, index) => `${name} = :key${index}`).join(' AND ')}
       AND ${columns.map((column, index) => `${column} IS NOT DISTINCT FROM CAST(${was?.[index]} AS bytea)`).join(' AND ')}
     RETURNING 1`,
    Object.fromEntries([
      ...row.key.map((value, index) => [`key${index}`, value]),
      ...row.renewed.map((value, index) => [`new${index}`, value]),
      ...row.values.map((value, index) => [`old${index}`, value]),
    ]),
  );
  return found.length > 0;
}
