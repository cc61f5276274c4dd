import { sha256 } from '../../lib/crypto.ts';
import { DAY_MS } from '../../lib/dates.ts';
import { type Database, first, insertRow, rows } from '../../lib/db.ts';
import { AppError, found, invalidState } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { OnProgress, Reencrypted } from '../../lib/reencrypt.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { lockForEdit, type Step } from './application.ts';
import { applicationId, listDocuments, type DocumentRow } from './queries.ts';
import type { DocumentKind, TimelineKind } from './schema.ts';
import type { DocumentStore, StoredDocument } from './store.ts';

export const DOCUMENT_BYTES_MAX = 5 * 1024 * 1024;
/** The limits of documents per submission, and of one application over all submissions. */
export const DOCUMENTS_MAX = { each: 10, all: 50 } as const;

/** A logo is sent with each checkout page. */
const LOGO_BYTES_MAX = 20_000;

export type UploadedDocument = { contentType: string; bytes: Buffer };
/** `stored`: by {@link storeDocument}. */
export type NewDocument = UploadedDocument & { kind: DocumentKind; fileName: string; stored: StoredDocument };

/**
 * Stores the file of a new document, before the transaction of {@link addDocument}. Throws UNSUPPORTED_MEDIA_TYPE when the
 * bytes contradict the type, and UnavailableError.
 */
export async function storeDocument(
  store: DocumentStore,
  { contentType, bytes }: UploadedDocument,
): Promise<StoredDocument> {
  ensureType(contentType, bytes);
  const id = newId('kyd');
  return { id, storageKey: await store.save(id, bytes) };
}

/**
 * Adds a stored document to the next submission. Idempotent for the same file and kind: with `isNew: false` the stored file
 * is not used. Throws PAYLOAD_TOO_LARGE for a logo, and INVALID_STATE after submission or beyond the limits.
 */
export async function addDocument(
  tx: UnitOfWork,
  step: Step,
  { kind, fileName, contentType, bytes, stored }: NewDocument,
): Promise<{ row: DocumentRow; isNew: boolean }> {
  if (kind === 'LOGO') ensureLogo(contentType, bytes);
  const { at, actor } = step;
  const submission = (await lockForEdit(tx, step)).submissions + 1;
  const digest = sha256(bytes).toString('hex');
  const all = await listDocuments(tx.trx, step);
  const ofThis = all.filter((one) => one.submission === submission);
  const same = ofThis.find((one) => one.kind === kind && one.sha256 === digest);
  if (same) return { row: same, isNew: false };
  if (ofThis.length >= DOCUMENTS_MAX.each) {
    throw invalidState(`A submission may have at most ${DOCUMENTS_MAX.each} new documents.`);
  }
  if (all.length >= DOCUMENTS_MAX.all) {
    throw invalidState(`An application may have at most ${DOCUMENTS_MAX.all} documents in all.`);
  }
  const file = { kind, fileName, contentType, bytes: bytes.length, sha256: digest };
  const document = { ...stored, ...scopeOf(step), submission, ...file, uploadedBy: actor, uploadedAt: at };
  const row = await insertRow<DocumentRow>(tx.trx, 'kyc_document', document);
  const entry = { at, actor, kind: 'document.uploaded', detail: { documentId: row.id, kind } } as const;
  await recordTimeline<TimelineKind>(tx.trx, applicationId(step), entry);
  return { row, isNew: true };
}

/** How files of each type begin, in hex. */
const BEGINNINGS = { 'application/pdf': '255044462d', 'image/png': '89504e470d0a1a0a', 'image/jpeg': 'ffd8ff' };

function ensureType(contentType: string, bytes: Buffer): void {
  const beginning = bytes.subarray(0, 8).toString('hex');
  const actual = Object.entries(BEGINNINGS).find(([, expected]) => beginning.startsWith(expected))?.[0];
  if (actual === contentType) return;
  const is = actual === undefined ? 'is no PDF, PNG or JPEG' : `is ${actual}`;
  throw new AppError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The Content-Type is ${contentType}, but by its first bytes the file ${is}. Send its real type.`,
  );
}

function ensureLogo(contentType: string, { length }: Buffer): void {
  if (contentType === 'application/pdf') {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'A logo must be image/png or image/jpeg.');
  }
  if (length <= LOGO_BYTES_MAX) return;
  throw new AppError('PAYLOAD_TOO_LARGE', `A logo may have at most ${LOGO_BYTES_MAX} bytes, got ${length}.`);
}

/**
 * A document of a merchant with its bytes: for operators, and a logo for customers. The merchant chose the bytes and the file
 * name: send it under its id and its `contentType`, to be saved or, a PDF, in a frame of the console. Throws NOT_FOUND; a missing or altered file is an internal
 * error.
 */
export async function readDocument(
  { db, store }: { db: Database; store: DocumentStore },
  document: MerchantScope & { documentId: string },
): Promise<{ row: DocumentRow; bytes: Buffer }> {
  const sql = `SELECT * FROM kyc_document
               WHERE id = :documentId AND merchant_id = :merchantId AND environment = :environment`;
  const row = found(await first<DocumentRow>(db, sql, document), 'document');
  const bytes = await store.read(row);
  if (sha256(bytes).toString('hex') === row.sha256) return { row, bytes };
  throw new Error(`the file of document ${row.id} is not the one that was uploaded`);
}

const PROGRESS_EVERY = 100;

/** Encrypts the files of all documents with the current key, in the order of their ids. Idempotent. */
export async function reencryptDocuments(
  { db, store }: { db: Database; store: DocumentStore },
  onProgress: OnProgress,
): Promise<Reencrypted> {
  const result: Reencrypted = { seen: 0, reencrypted: 0, failed: [] };
  for (const document of await rows<StoredDocument>(db, 'SELECT id, storage_key FROM kyc_document ORDER BY id')) {
    result.seen += 1;
    try {
      if (await store.reencrypt(document)) result.reencrypted += 1;
    } catch {
      result.failed.push(document.id);
    }
    if (result.seen % PROGRESS_EVERY === 0) onProgress(result);
  }
  return result;
}

/** Longer than an upload takes, and longer than a database that is restored with its folder lags behind it. */
const ORPHAN_AGE_MS = DAY_MS;

/**
 * Removes files older than a day that belong to no document: failed and interrupted uploads. When the database knows no
 * document of the folder or bucket, it is another database's, and nothing is removed. Returns their number. Idempotent.
 */
export async function removeOrphans({ db, store }: { db: Database; store: DocumentStore }): Promise<number> {
  const names = await store.listOlder(ORPHAN_AGE_MS);
  const sql = 'SELECT storage_key FROM kyc_document WHERE storage_key = ANY (:names)';
  const known = new Set((await rows<StoredDocument>(db, sql, { names })).map(({ storageKey }) => storageKey));
  if (known.size === 0) return 0;
  const orphans = names.filter((name) => !known.has(name));
  for (const name of orphans) await store.remove(name);
  return orphans.length;
}
