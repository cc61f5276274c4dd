import { DAY_MS } from '../../lib/dates.ts';
import { rows, type Knex } from '../../lib/db.ts';
import type { DocumentStore } from './store.ts';

/** Longer than any upload takes to be committed, and than a database lags that is restored with its folder. */
const ORPHAN_AGE_MS = DAY_MS;
const NAMES_AT_ONCE = 1_000;

/**
 * Removes files that are older than a day and of no document: of uploads that failed, or were cut off while they were
 * written. A folder of which the database knows no document at all is another database's: of that only what was cut off
 * goes. Returns how many it removed; repeats do no harm.
 */
export async function removeOrphans({ db, store }: { db: Knex; store: DocumentStore }): Promise<number> {
  const { whole, cutOff } = await store.list();
  const known = new Set<string>();
  for (let index = 0; index < whole.length; index += NAMES_AT_ONCE) {
    const names = whole.slice(index, index + NAMES_AT_ONCE);
    const sql = 'SELECT storage_key FROM kyc_document WHERE storage_key = ANY (:names)';
    for (const { storageKey } of await rows<{ storageKey: string }>(db, sql, { names })) known.add(storageKey);
  }
  const orphans = known.size === 0 ? [] : whole.filter((name) => !known.has(name));
  // By the disk's own clock.
  const before = new Date(Date.now() - ORPHAN_AGE_MS);
  let removed = 0;
  for (const name of [...orphans, ...cutOff]) if (await store.removeIfUnchanged(name, before)) removed += 1;
  return removed;
}
