import type { Clock } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/dates.ts';
import { type Database, rows } from '../lib/db.ts';
import type { ReportFiles } from './files.ts';

export type ExpireDeps = { db: Database; files: ReportFiles; clock: Clock };

const EXPIRE_BATCH = 500;
/** Longer than any pause between two writes to a file. */
const ABANDONED_MS = HOUR_MS;

/** Removes the files whose retention of 30 days is over, found by an index. Idempotent. */
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

/** Removes the files of runs whose process was killed. Looks at every file: run it once a day. */
export async function removeAbandoned({ db, files }: Pick<ExpireDeps, 'db' | 'files'>): Promise<void> {
  // Files carry the time of the disk's own clock.
  for await (const found of files.unchangedSince(new Date(Date.now() - ABANDONED_MS))) {
    const sql = 'SELECT storage_key FROM report WHERE storage_key = ANY (:found)';
    const stored = await rows<{ storageKey: string }>(db, sql, { found });
    const known = new Set(stored.map(({ storageKey }) => storageKey));
    for (const name of found) if (!known.has(name)) await files.remove(name);
  }
}
