import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { reseal, seal, unseal, type KeyRing } from '../../lib/crypto.ts';

/** A document's file: the document's id, and its name in the folder. */
export type StoredDocument = { id: string; storageKey: string };

/** The encrypted files of documents. */
export type DocumentStore = ReturnType<typeof createDocumentStore>;

const NAME_BYTES = 16;
const NAME = /^[0-9a-f]{32}$/;
const UNFINISHED = '.part';

/**
 * A folder that is not served, readable by this process's user only. Each file is encrypted for its document's id. Names
 * are random and independent of a merchant's input. A file without a committed row is removed later (documents.ts).
 */
export function createDocumentStore(folder: string, keyRing: KeyRing) {
  const pathOf = (storageKey: string): string => {
    if (!NAME.test(storageKey)) throw new Error('not the name of a stored document');
    return join(folder, storageKey);
  };
  const write = async (path: string, bytes: Buffer): Promise<void> => {
    const unfinished = `${join(folder, randomName())}${UNFINISHED}`;
    await writeFile(unfinished, bytes, { flag: 'wx', mode: 0o600, flush: true });
    await rename(unfinished, path);
  };
  return {
    /** Stores the bytes under a new random name, returned once they are on the disk. */
    save: async (documentId: string, bytes: Buffer): Promise<string> => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const storageKey = randomName();
      await write(pathOf(storageKey), seal(keyRing, documentId, bytes));
      return storageKey;
    },
    read: async ({ id, storageKey }: StoredDocument): Promise<Buffer> =>
      unseal(keyRing, id, await readFile(pathOf(storageKey))),
    /** Encrypts a file with the current key. Returns false when it is already. */
    reencrypt: async ({ id, storageKey }: StoredDocument): Promise<boolean> => {
      const sealed = reseal(keyRing, id, await readFile(pathOf(storageKey)));
      if (sealed === null) return false;
      await write(pathOf(storageKey), sealed);
      return true;
    },
    /** Also succeeds without the file. */
    remove: async (storageKey: string): Promise<void> => rm(pathOf(storageKey), { force: true }),
    /** The names of all files: complete ones, and those interrupted or still being written. */
    list: async (): Promise<{ whole: string[]; cutOff: string[] }> => {
      const names = await readdir(folder).catch(noFolder);
      const cutOff = names.filter((name) => name.endsWith(UNFINISHED) && NAME.test(name.slice(0, -UNFINISHED.length)));
      return { whole: names.filter((name) => NAME.test(name)), cutOff };
    },
    /** Removes a file of that list, unless it was written to since. Returns whether it was removed. */
    removeIfUnchanged: async (name: string, since: Date): Promise<boolean> => {
      const path = `${pathOf(name.replace(UNFINISHED, ''))}${name.endsWith(UNFINISHED) ? UNFINISHED : ''}`;
      const found = await stat(path).catch(() => null);
      if (found === null || found.mtime >= since) return false;
      await rm(path, { force: true });
      return true;
    },
  };
}

function randomName(): string {
  return randomBytes(NAME_BYTES).toString('hex');
}

/** There is no folder before the first document. */
function noFolder(error: unknown): string[] {
  if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}
