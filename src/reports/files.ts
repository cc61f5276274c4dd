import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

import type { Clock } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/dates.ts';
import { type Database, rows } from '../lib/db.ts';

/** A file that is complete and synced to disk. */
export type StoredFile = Record<'storageKey' | 'sha256', string> & { fileBytes: bigint };

/** The storage of reports' files. */
export type ReportFiles = {
  /** Writes chunks as they arrive to a file of a new random name. After an error no file is left. */
  write: (chunks: AsyncIterable<string | Uint8Array>) => Promise<StoredFile>;
  /** Throws when the file does not exist. */
  read: (storageKey: string) => Promise<Readable>;
  /** Does nothing when the file does not exist. */
  remove: (storageKey: string) => Promise<void>;
  /** The names of files that were not written to since an instant. */
  unchangedSince: (instant: Date) => Promise<string[]>;
};

const NAME_BYTES = 16;
const NAME = /^[0-9a-f]{32}$/;

/** Files in a folder that no web server serves, readable by the process's user only; API and workers share it. */
export function createReportFiles(folder: string): ReportFiles {
  const pathOf = (storageKey: string): string => {
    if (!NAME.test(storageKey)) throw new Error('not the name of a report file');
    return join(folder, storageKey);
  };
  const remove = async (storageKey: string): Promise<void> => rm(pathOf(storageKey), { force: true });
  return {
    remove,
    read: async (storageKey) => (await open(pathOf(storageKey))).createReadStream(),
    write: async (chunks) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const storageKey = randomBytes(NAME_BYTES).toString('hex');
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
      try {
        await writeFile(pathOf(storageKey), measured(), { flag: 'wx', mode: 0o600, flush: true });
      } catch (error) {
        await remove(storageKey);
        throw error;
      }
      return { storageKey, fileBytes, sha256: hash.digest('hex') };
    },
    unchangedSince: async (instant) => {
      // The folder is created with the first report.
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const old: string[] = [];
      for (const name of await readdir(folder)) {
        // A file may be removed meanwhile.
        const found = NAME.test(name) && (await stat(join(folder, name)).catch(() => null));
        if (found && found.mtime < instant) old.push(name);
      }
      return old;
    },
  };
}

type ExpireDeps = { db: Database; files: ReportFiles; clock: Clock };

const EXPIRE_BATCH = 500;
/** Longer than any pause between two writes to a file. */
const ABANDONED_MS = HOUR_MS;

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
  // Files carry the time of the disk's own clock.
  const found = await files.unchangedSince(new Date(Date.now() - ABANDONED_MS));
  const abandoned = await rows<{ name: string }>(
    db,
    `SELECT name FROM unnest(CAST(:found AS text[])) name
     WHERE NOT EXISTS (SELECT FROM report WHERE storage_key = name)`,
    { found },
  );
  for (const { name } of abandoned) await files.remove(name);
}
