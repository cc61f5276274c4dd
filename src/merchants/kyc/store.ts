import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { reseal, seal, unseal, type KeyRing } from '../../lib/crypto.ts';

/** A document's file: its name in the folder, and whose it is. */
export type StoredDocument = { id: string; storageKey: string };

/** Where documents' bytes are kept, encrypted. */
export type DocumentStore = {
  /** Keeps a document's bytes under a new random name, which is returned once they are on the disk. */
  save: (documentId: string, bytes: Buffer) => Promise<string>;
  read: (document: StoredDocument) => Promise<Buffer>;
  /** Encrypts by the current key what an older one has encrypted, or none. false: it was so already. */
  reencrypt: (document: StoredDocument) => Promise<boolean>;
  /** No error when it is not there. */
  remove: (storageKey: string) => Promise<void>;
  /** The names of all files: those that were kept, and those that were cut off or are being written. */
  list: () => Promise<{ whole: string[]; cutOff: string[] }>;
  /** Removes a file of that list, unless somebody has written to it since. Returns whether it did. */
  removeIfUnchanged: (name: string, since: Date) => Promise<boolean>;
};

const NAME_BYTES = 16;
const NAME = /^[0-9a-f]{32}$/;
const UNFINISHED = '.part';
const KEY_ID_BYTES_MAX = 32;

/**
 * A folder that nothing serves, readable by this process's user only. Its files are encrypted, each for its document's id.
 * Names are made here and are no part of what a merchant sends. A file whose row was never committed stays behind, of no
 * name that anybody knows, until it is swept (sweep.ts).
 */
export function createDocumentStore(folder: string, keyRing: KeyRing): DocumentStore {
  const pathOf = (storageKey: string): string => {
    if (!NAME.test(storageKey)) throw new Error('not the name of a stored document');
    return join(folder, storageKey);
  };
  const write = async (path: string, bytes: Buffer): Promise<void> => {
    const unfinished = `${join(folder, randomName())}${UNFINISHED}`;
    const file = await open(unfinished, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  };
  return {
    save: async (documentId, bytes) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const storageKey = randomName();
      await write(pathOf(storageKey), seal(keyRing, documentId, bytes));
      return storageKey;
    },
    read: async ({ id, storageKey }) => {
      const bytes = await readFile(pathOf(storageKey));
      return isSealed(bytes) ? unseal(keyRing, id, bytes) : bytes;
    },
    reencrypt: async ({ id, storageKey }) => {
      const bytes = await readFile(pathOf(storageKey));
      const sealed = isSealed(bytes) ? reseal(keyRing, id, bytes) : seal(keyRing, id, bytes);
      if (sealed === null) return false;
      await write(pathOf(storageKey), sealed);
      return true;
    },
    remove: async (storageKey) => rm(pathOf(storageKey), { force: true }),
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

function randomName(): string {
  return randomBytes(NAME_BYTES).toString('hex');
}

/**
 * Whether a file is encrypted: files from before documents were begin as PDF, PNG and JPEG do, and an encrypted one with
 * the length of its key's id. Whichever it is, its content is held against the document's own SHA-256 (documents.ts).
 */
function isSealed(bytes: Buffer): boolean {
  return (bytes[0] ?? 0) <= KEY_ID_BYTES_MAX;
}

/** Before the first document there is none. */
function noFolder(error: unknown): string[] {
  if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}
