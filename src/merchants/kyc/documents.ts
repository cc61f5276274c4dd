import { createHash } from 'node:crypto';

import { DAY_MS } from '../../lib/dates.ts';
import { rows, type Knex } from '../../lib/db.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { OnProgress, Reencrypted } from '../../lib/reencrypt.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { lockForEdit, type Step } from './application.ts';
import { fileTypeOf, type FileType } from './file-type.ts';
import { appendTimeline, listDocuments, type DocumentRow } from './queries.ts';
import type { DocumentKind } from './schema.ts';
import type { DocumentStore, StoredDocument } from './store.ts';

/** Largest document, in bytes. */
export const DOCUMENT_BYTES_MAX = 5 * 1024 * 1024;
/** Documents that may be added for one submission; and in all, when more was asked for again and again. */
export const DOCUMENTS_MAX = { each: 10, all: 50 } as const;

export type NewDocument = { kind: DocumentKind; fileName: string; contentType: string; bytes: Buffer };

/**
 * Keeps a document for the next submission. The same file as the same kind again is the same document (`isNew: false`).
 * Throws UNSUPPORTED_MEDIA_TYPE when the bytes are not what their type says, INVALID_STATE once the application was
 * submitted, or when there are as many as may be.
 */
export async function addDocument(
  { tx, store }: { tx: UnitOfWork; store: DocumentStore },
  step: Step,
  wanted: NewDocument,
): Promise<{ row: DocumentRow; isNew: boolean }> {
  const contentType = requireType(wanted);
  const { submissions } = await lockForEdit(tx, step);
  const submission = submissions + 1;
  const sha256 = createHash('sha256').update(wanted.bytes).digest('hex');
  const all = await listDocuments(tx.trx, step);
  const ofThis = all.filter((one) => one.submission === submission);
  const same = ofThis.find((one) => one.kind === wanted.kind && one.sha256 === sha256);
  if (same) return { row: same, isNew: false };
  ensureBelowLimit({ each: ofThis.length, all: all.length });
  const { kind, fileName, bytes } = wanted;
  const id = newId('kyd', step.at.getTime());
  const storageKey = await store.save(id, bytes);
  try {
    const about = { id, submission, kind, fileName, contentType, bytes: bytes.length, sha256, storageKey };
    return { row: await insertDocument(tx, step, about), isNew: true };
  } catch (error) {
    await store.remove(storageKey);
    throw error;
  }
}

function requireType({ contentType, bytes }: NewDocument): FileType {
  const actual = fileTypeOf(bytes);
  if (actual === contentType) return actual;
  const is = actual === null ? 'is no PDF, PNG or JPEG' : `is ${actual}`;
  throw new AppError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The Content-Type says ${contentType}, but by its first bytes the file ${is}. Send it as what it is.`,
  );
}

function ensureBelowLimit(count: { each: number; all: number }): void {
  if (count.each >= DOCUMENTS_MAX.each) {
    throw new AppError('INVALID_STATE', `A submission may have at most ${DOCUMENTS_MAX.each} new documents.`);
  }
  if (count.all >= DOCUMENTS_MAX.all) {
    throw new AppError('INVALID_STATE', `An application may have at most ${DOCUMENTS_MAX.all} documents in all.`);
  }
}

async function insertDocument(
  tx: UnitOfWork,
  step: Step,
  about: Omit<DocumentRow, 'uploadedBy' | 'uploadedAt' | keyof MerchantScope>,
): Promise<DocumentRow> {
  const { at, keyId } = step;
  const [row] = await rows<DocumentRow>(
    tx.trx,
    `INSERT INTO kyc_document (id, merchant_id, environment, submission, kind, file_name, content_type, bytes, sha256,
       storage_key, uploaded_by, uploaded_at)
     VALUES (:id, :merchantId, :environment, :submission, :kind, :fileName, :contentType, :bytes, :sha256,
       :storageKey, :keyId, :at)
     RETURNING *`,
    { ...about, ...scopeOf(step), keyId, at },
  );
  if (!row) throw new Error('the document was not inserted');
  const detail = { documentId: row.id, kind: row.kind };
  await appendTimeline(tx.trx, step, { occurredAt: at, kind: 'document.uploaded', by: keyId, detail });
  return row;
}

/**
 * One document of a merchant with its bytes, for operators. Show it as a download of its `contentType` (never inline, and
 * the file name is the merchant's words). Throws NOT_FOUND; a file that is gone or was altered is an error of ours.
 */
export async function readDocument(
  { db, store }: { db: Knex; store: DocumentStore },
  wanted: MerchantScope & { documentId: string },
): Promise<{ row: DocumentRow; bytes: Buffer }> {
  const [row] = await rows<DocumentRow>(
    db,
    `SELECT * FROM kyc_document
     WHERE id = :documentId AND merchant_id = :merchantId AND environment = :environment`,
    { ...scopeOf(wanted), documentId: wanted.documentId },
  );
  if (!row) throw notFound('document');
  const bytes = await store.read(row);
  if (createHash('sha256').update(bytes).digest('hex') === row.sha256) return { row, bytes };
  throw new Error(`the file of document ${row.id} is not the one that was uploaded`);
}

const DOCUMENTS_AT_ONCE = 100;

/** Encrypts the files of all documents by the current key, in the order of their ids; repeats change nothing. */
export async function reencryptDocuments(
  { db, store }: { db: Knex; store: DocumentStore },
  onProgress: OnProgress,
): Promise<Reencrypted> {
  const so: Reencrypted = { seen: 0, reencrypted: 0, failed: [] };
  for (let after = ''; ;) {
    const sql = 'SELECT id, storage_key FROM kyc_document WHERE id > :after ORDER BY id LIMIT :most';
    const batch = await rows<StoredDocument>(db, sql, { after, most: DOCUMENTS_AT_ONCE });
    for (const document of batch) {
      so.seen += 1;
      try {
        if (await store.reencrypt(document)) so.reencrypted += 1;
      } catch {
        so.failed.push(document.id);
      }
    }
    onProgress(so);
    const last = batch.at(-1);
    if (!last || batch.length < DOCUMENTS_AT_ONCE) return so;
    after = last.id;
  }
}

/** Longer than any upload takes to be committed, and than a database lags that is restored with its folder. */
const ORPHAN_AGE_MS = DAY_MS;
const NAMES_AT_ONCE = 1_000;

/**
 * Removes files that are older than a day and of no document: of uploads that failed, or were cut off while they were
 * written. A folder of which the database knows no document at all is another database's: of that only what was cut off
 * goes. Returns how many it removed; repeats do no harm.
 */
export async function removeOrphans({ db, store }: { db: Knex; store: DocumentStore }): Promise<number> {
  const { whole, cutOff } = await store.list();
  const known = new Set<string>();
  for (let index = 0; index < whole.length; index += NAMES_AT_ONCE) {
    const names = whole.slice(index, index + NAMES_AT_ONCE);
    const sql = 'SELECT storage_key FROM kyc_document WHERE storage_key = ANY (:names)';
    for (const { storageKey } of await rows<{ storageKey: string }>(db, sql, { names })) known.add(storageKey);
  }
  const orphans = known.size === 0 ? [] : whole.filter((name) => !known.has(name));
  // By the disk's own clock.
  const before = new Date(Date.now() - ORPHAN_AGE_MS);
  let removed = 0;
  for (const name of [...orphans, ...cutOff]) if (await store.removeIfUnchanged(name, before)) removed += 1;
  return removed;
}
