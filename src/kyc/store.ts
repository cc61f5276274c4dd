import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Where documents' bytes are kept. */
export type DocumentStore = {
  /** Keeps the bytes under a new random name, which is returned once they are on the disk. */
  save: (bytes: Buffer) => Promise<string>;
  read: (storedAs: string) => Promise<Buffer>;
  /** No error when it is not there. */
  remove: (storedAs: string) => Promise<void>;
  /** The names of all files: those that were kept, and those that were cut off or are being written. */
  list: () => Promise<{ whole: string[]; cutOff: string[] }>;
  /** Removes a file of that list, unless somebody has written to it since. Returns whether it did. */
  removeIfUnchanged: (name: string, since: Date) => Promise<boolean>;
};

const NAME_BYTES = 16;
const NAME = /^[0-9a-f]{32}$/;
const UNFINISHED = '.part';

/**
 * A folder that nothing serves, readable by this process's user only. Names are made here and are no part of what a
 * merchant sends. A file whose row was never committed stays behind, of no name that anybody knows, until it is swept
 * (sweep.ts).
 */
export function createDocumentStore(folder: string): DocumentStore {
  const pathOf = (storedAs: string): string => {
    if (!NAME.test(storedAs)) throw new Error('not the name of a stored document');
    return join(folder, storedAs);
  };
  return {
    save: async (bytes) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const storedAs = randomBytes(NAME_BYTES).toString('hex');
      const path = pathOf(storedAs);
      const file = await open(`${path}${UNFINISHED}`, 'wx', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}${UNFINISHED}`, path);
      return storedAs;
    },
    read: async (storedAs) => readFile(pathOf(storedAs)),
    remove: async (storedAs) => rm(pathOf(storedAs), { force: true }),
    list: async () => {
      const names = await readdir(folder).catch(noFolder);
      const cutOff = names.filter((name) => name.endsWith(UNFINISHED) && NAME.test(name.slice(0, -UNFINISHED.length)));
      return { whole: names.filter((name) => NAME.test(name)), cutOff };
    },
    removeIfUnchanged: async (name, since) => {
      const path = `${pathOf(name.replace(UNFINISHED, ''))}${name.endsWith(UNFINISHED) ? UNFINISHED : ''}`;
      const found = await stat(path).catch(() => null);
      if (found === null || found.mtime >= since) return false;
      await rm(path, { force: true });
      return true;
    },
  };
}

/** Before the first document there is none. */
function noFolder(error: unknown): string[] {
  if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}
