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

/**
 * A folder that is not served, readable by this process's user only. Each file is encrypted for its document's id. Names
 * are random and independent of a merchant's input. A file without a committed row, cut off or whole, is removed later
 * (documents.ts).
 */
export function createDocumentStore(folder: string, keyRing: KeyRing) {
  const pathOf = (storageKey: string): string => {
    if (!NAME.test(storageKey)) throw new Error('not the name of a stored document');
    return join(folder, storageKey);
  };
  /** Writes under a new random name, which is returned once the bytes are on the disk. */
  const write = async (bytes: Buffer): Promise<string> => {
    const storageKey = randomBytes(NAME_BYTES).toString('hex');
    await writeFile(pathOf(storageKey), bytes, { flag: 'wx', mode: 0o600, flush: true });
    return storageKey;
  };
  return {
    /** Stores the bytes of a document; returns the name of its file. */
    save: async (documentId: string, bytes: Buffer): Promise<string> => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return write(seal(keyRing, documentId, bytes));
    },
    read: async ({ id, storageKey }: StoredDocument): Promise<Buffer> =>
      unseal(keyRing, id, await readFile(pathOf(storageKey))),
    /** Encrypts a file with the current key. Returns false when it is already. */
    reencrypt: async ({ id, storageKey }: StoredDocument): Promise<boolean> => {
      const sealed = reseal(keyRing, id, await readFile(pathOf(storageKey)));
      if (sealed !== null) await rename(pathOf(await write(sealed)), pathOf(storageKey));
      return sealed !== null;
    },
    /** Also succeeds without the file. */
    remove: async (storageKey: string): Promise<void> => rm(pathOf(storageKey), { force: true }),
    /** The names of all files. There is no folder before the first document. */
    list: async (): Promise<string[]> => {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      });
      return names.filter((name) => NAME.test(name));
    },
    /** Whether a file has not been written to since. */
    isOlder: async (storageKey: string, since: Date): Promise<boolean> => {
      const file = await stat(pathOf(storageKey)).catch(() => null);
      return file !== null && file.mtime < since;
    },
  };
}
