import { createHash } from 'node:crypto';

import type { Clock } from '../lib/clock.ts';
import { DAY_MS } from '../lib/dates.ts';
import { type Database, rows } from '../lib/db.ts';
import { openFiles, type FilePlace } from '../lib/file-store.ts';

/** A file that is complete and stored durably. */
export type StoredFile = Record<'storageKey' | 'sha256', string> & { fileBytes: bigint };

/** The storage of reports' files, which API and workers share. */
export type ReportFiles = ReturnType<typeof createReportFiles>;

export function createReportFiles(place: FilePlace) {
  const { write, ...files } = openFiles(place);
  return {
    ...files,
    /** Writes chunks as they arrive to a file of a new random name. After an error no file is left. */
    write: async (chunks: AsyncIterable<string | Uint8Array>): Promise<StoredFile> => {
      const hash = createHash('sha256');
      let fileBytes = 0n;
      const measured = async function* () {
        for await (const chunk of chunks) {
          const buffer = Buffer.from(chunk);
          hash.update(buffer);
          fileBytes += BigInt(buffer.length);
          yield buffer;
        }
      };
      const storageKey = await write(measured());
      return { storageKey, fileBytes, sha256: hash.digest('hex') };
    },
  };
}

type ExpireDeps = { db: Database; files: ReportFiles; clock: Clock };

const EXPIRE_BATCH = 500;
/** Longer than a run may take: a bucket's file has the age of its upload's beginning. */
const ABANDONED_MS = DAY_MS;

/** Removes the files whose retention of 30 days is over, found by an index. One left by a crash is abandoned. */
export async function expireReports({ db, files, clock }: ExpireDeps): Promise<void> {
  const expired = await rows<{ name: string }>(
    db,
    `UPDATE report SET status = 'EXPIRED', storage_key = NULL, version = version + 1
     FROM (SELECT id AS due_id, storage_key AS name FROM report WHERE status = 'READY' AND expires_at <= :now
           ORDER BY expires_at LIMIT :limit) due
     WHERE id = due_id AND status = 'READY' RETURNING name`,
    { now: clock(), limit: EXPIRE_BATCH },
  );
  for (const { name } of expired) await files.remove(name);
}

/** Removes the files of runs whose process was killed. Looks at every file: run it once a day. */
export async function removeAbandoned({ db, files }: Pick<ExpireDeps, 'db' | 'files'>): Promise<void> {
  const abandoned = await rows<{ name: string }>(
    db,
    `SELECT name FROM unnest(CAST(:found AS text[])) name
     WHERE NOT EXISTS (SELECT FROM report WHERE storage_key = name)`,
    { found: await files.listOlder(ABANDONED_MS) },
  );
  for (const { name } of abandoned) await files.remove(name);
}
