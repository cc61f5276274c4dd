import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** A file that is complete and synced to disk. */
export type StoredFile = { storageKey: string; bytes: number; sha256: string };

/** The storage of reports' files. */
export type ReportFiles = {
  /** Writes chunks as they arrive to a file of a new random name. After an error no file is left. */
  write: (chunks: AsyncIterable<string | Uint8Array>) => Promise<StoredFile>;
  /** Throws when the file does not exist. */
  read: (storageKey: string) => Promise<Readable>;
  /** Does nothing when the file does not exist. */
  remove: (storageKey: string) => Promise<void>;
  /** The names of files that were not written to since an instant, in batches. */
  unchangedSince: (instant: Date) => AsyncIterable<string[]>;
};

/** Files whose status is read at once. */
const STAT_BATCH = 100;
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
      try {
        return { storageKey, ...(await writeAll(pathOf(storageKey), chunks)) };
      } catch (error) {
        await remove(storageKey);
        throw error;
      }
    },
    unchangedSince: async function* (instant) {
      const names = (await readdir(folder).catch(emptyIfMissing)).filter((name) => NAME.test(name));
      for (let from = 0; from < names.length; from += STAT_BATCH) {
        const batch = names.slice(from, from + STAT_BATCH);
        const old = await Promise.all(batch.map(async (name) => (await changedAt(pathOf(name))) < instant));
        yield batch.filter((_, index) => old[index]);
      }
    },
  };
}

async function writeAll(path: string, chunks: AsyncIterable<string | Uint8Array>) {
  const file = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      const buffer = Buffer.from(chunk);
      hash.update(buffer);
      await file.writeFile(buffer);
      bytes += buffer.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** The folder does not exist before the first report. */
function emptyIfMissing(error: unknown): string[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}

/** The current time for a file that was removed meanwhile. */
async function changedAt(path: string): Promise<Date> {
  const found = await stat(path).catch(() => null);
  return found?.mtime ?? new Date();
}
