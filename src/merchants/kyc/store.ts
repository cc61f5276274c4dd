import { reseal, seal, unseal, type KeyRing } from '../../lib/crypto.ts';
import { UnavailableError } from '../../lib/errors.ts';
import { openFiles, type FilePlace } from '../../lib/file-store.ts';

/** A document's file: the document's id, and its name in the folder. */
export type StoredDocument = { id: string; storageKey: string };

export type DocumentStore = ReturnType<typeof createDocumentStore>;

/** Uploads in memory that wait for the store, each of a few MiB. */
const SAVES_MAX = 20;

/** Files, each encrypted for its document's id. One without a committed row is removed by documents.ts. */
export function createDocumentStore(place: FilePlace, keyRing: KeyRing) {
  const { write, replace, read, ...files } = openFiles(place);
  let saving = 0;
  return {
    ...files,
    /** Stores the bytes of a document; returns the name of its file. Throws UnavailableError, also for too many at once. */
    save: async (documentId: string, bytes: Buffer): Promise<string> => {
      if (saving >= SAVES_MAX) throw new UnavailableError(`${SAVES_MAX} documents wait for the store`);
      saving += 1;
      return write(seal(keyRing, documentId, bytes)).finally(() => (saving -= 1));
    },
    read: async ({ id, storageKey }: StoredDocument): Promise<Buffer> => unseal(keyRing, id, await read(storageKey)),
    /** Encrypts a file with the current key. Returns false when it is already. */
    reencrypt: async ({ id, storageKey }: StoredDocument): Promise<boolean> => {
      const sealed = reseal(keyRing, id, await read(storageKey));
      if (sealed !== null) await replace(storageKey, sealed);
      return sealed !== null;
    },
  };
}
