import { reseal, seal, unseal, type KeyRing } from '../../lib/crypto.ts';
import { openFileFolder } from '../../lib/file-folder.ts';

/** A document's file: the document's id, and its name in the folder. */
export type StoredDocument = { id: string; storageKey: string };

export type DocumentStore = ReturnType<typeof createDocumentStore>;

/** A folder of files, each encrypted for its document's id. One without a committed row is removed by documents.ts. */
export function createDocumentStore(folder: string, keyRing: KeyRing) {
  const { write, replace, read, ...files } = openFileFolder(folder);
  return {
    ...files,
    /** Stores the bytes of a document; returns the name of its file. */
    save: async (documentId: string, bytes: Buffer): Promise<string> => write(seal(keyRing, documentId, bytes)),
    read: async ({ id, storageKey }: StoredDocument): Promise<Buffer> => unseal(keyRing, id, await read(storageKey)),
    /** Encrypts a file with the current key. Returns false when it is already. */
    reencrypt: async ({ id, storageKey }: StoredDocument): Promise<boolean> => {
      const sealed = reseal(keyRing, id, await read(storageKey));
      if (sealed !== null) await replace(storageKey, sealed);
      return sealed !== null;
    },
  };
}
