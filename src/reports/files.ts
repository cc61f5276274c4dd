import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** A file that was written whole and is on the disk. */
export type StoredFile = { storageKey: string; bytes: number; sha256: string };

/** Where the bytes of reports are kept. */
export type ReportFiles = {
  /** Writes them under a new random name as they come. A failure on the way leaves nothing. */
  write: (chunks: AsyncIterable<string | Uint8Array>) => Promise<StoredFile>;
  /** Throws when it is not there. */
  read: (storageKey: string) => Promise<Readable>;
  /** No error when it is not there. */
  remove: (storageKey: string) => Promise<void>;
  /** The names of files that nobody has written to since an instant, some at a time. */
  unchangedSince: (instant: Date) => AsyncIterable<string[]>;
};

/** Files looked at at once. */
const LOOK_BATCH = 100;
const NAME_BYTES = 16;
const NAME = /^[0-9a-f]{32}$/;

/** A folder that nothing serves, readable by this process's user only. The API and the workers share it. */
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
      const names = (await readdir(folder).catch(noFolder)).filter((name) => NAME.test(name));
      for (let from = 0; from < names.length; from += LOOK_BATCH) {
        const looked = names.slice(from, from + LOOK_BATCH);
        const old = await Promise.all(looked.map(async (name) => (await changedAt(pathOf(name))) < instant));
        yield looked.filter((_, index) => old[index]);
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

/** Before the first report there is none. */
function noFolder(error: unknown): string[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}

/** Now, for what somebody else has removed meanwhile. */
async function changedAt(path: string): Promise<Date> {
  const found = await stat(path).catch(() => null);
  return found?.mtime ?? new Date();
}
