import type { Clock } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/dates.ts';
import { rows, type Knex } from '../lib/db.ts';
import type { ReportFiles } from './files.ts';

export type ExpireDeps = { db: Knex; files: ReportFiles; clock: Clock };

const EXPIRE_BATCH = 500;
/** Longer than a file that is being written stands still. */
const ABANDONED_MS = HOUR_MS;

/** Removes the files whose 30 days are over; the index of those to expire finds them. Repeats do no harm. */
export async function expireReports({ db, files, clock }: ExpireDeps): Promise<void> {
  const due = await rows<{ id: string; storageKey: string }>(
    db,
    `SELECT id, storage_key FROM report WHERE status = 'READY' AND expires_at <= :now ORDER BY expires_at LIMIT :limit`,
    { now: clock(), limit: EXPIRE_BATCH },
  );
  for (const { id, storageKey } of due) {
    await files.remove(storageKey);
    await rows(
      db,
      `UPDATE report SET status = 'EXPIRED', storage_key = NULL, version = version + 1 WHERE id = :id AND status = 'READY'`,
      { id },
    );
  }
}

/** Removes what runs left behind that were killed. It looks at every file: for once a day. */
export async function removeAbandoned({ db, files }: Pick<ExpireDeps, 'db' | 'files'>): Promise<void> {
  // By the disk's own clock.
  for await (const found of files.unchangedSince(new Date(Date.now() - ABANDONED_MS))) {
    const stored = await rows<{ storageKey: string }>(
      db,
      'SELECT storage_key FROM report WHERE storage_key = ANY (:found)',
      {
        found,
      },
    );
    const known = new Set(stored.map(({ storageKey }) => storageKey));
    for (const name of found) if (!known.has(name)) await files.remove(name);
  }
}
