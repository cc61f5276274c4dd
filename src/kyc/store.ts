import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Where documents' bytes are kept. */
export type DocumentStore = {
  /** Keeps the bytes under a new random name, which is returned once they are on the disk. */
  save: (bytes: Buffer) => Promise<string>;
  read: (storedAs: string) => Promise<Buffer>;
  /** No error when it is not there. */
  remove: (storedAs: string) => Promise<void>;
};

const NAME_BYTES = 16;
const NAME = /^[0-9a-f]{32}$/;

/**
 * A folder that nothing serves, readable by this process's user only. Names are made here and are no part of what a
 * merchant sends. A file whose row was never committed stays behind: harmless, and of no name that anybody knows.
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
      const file = await open(`${path}.part`, 'wx', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.part`, path);
      return storedAs;
    },
    read: async (storedAs) => readFile(pathOf(storedAs)),
    remove: async (storedAs) => rm(pathOf(storedAs), { force: true }),
  };
}
