import { createHash } from 'node:crypto';

import { DAY_MS } from '../../lib/dates.ts';
import { type Database, rows } from '../../lib/db.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { OnProgress, Reencrypted } from '../../lib/reencrypt.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { lockForEdit, type Step } from './application.ts';
import { fileTypeOf, type FileType } from './file-type.ts';
import { applicationId, listDocuments, type DocumentRow } from './queries.ts';
import type { DocumentKind, TimelineKind } from './schema.ts';
import type { DocumentStore, StoredDocument } from './store.ts';

/** Largest document, in bytes. */
export const DOCUMENT_BYTES_MAX = 5 * 1024 * 1024;
/** The limits of documents per submission, and of one application over all submissions. */
export const DOCUMENTS_MAX = { each: 10, all: 50 } as const;

export type NewDocument = { kind: DocumentKind; fileName: string; contentType: string; bytes: Buffer };

/**
 * Stores a document for the next submission. Idempotent for the same file and kind (`isNew: false`). Throws
 * UNSUPPORTED_MEDIA_TYPE when the bytes contradict the type, and INVALID_STATE after submission or beyond the limits.
 */
export async function addDocument(
  { tx, store }: { tx: UnitOfWork; store: DocumentStore },
  step: Step,
  wanted: NewDocument,
): Promise<{ row: DocumentRow; isNew: boolean }> {
  const contentType = ensureType(wanted);
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

function ensureType({ contentType, bytes }: NewDocument): FileType {
  const actual = fileTypeOf(bytes);
  if (actual === contentType) return actual;
  const is = actual === null ? 'is no PDF, PNG or JPEG' : `is ${actual}`;
  throw new AppError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The Content-Type is ${contentType}, but by its first bytes the file ${is}. Send its real type.`,
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
  const [row] = await tx
    .trx<DocumentRow>('kycDocument')
    .insert({ ...about, ...scopeOf(step), uploadedBy: keyId, uploadedAt: at })
    .returning('*');
  if (!row) throw new Error('the document was not inserted');
  const detail = { documentId: row.id, kind: row.kind };
  await recordTimeline<TimelineKind>(tx.trx, applicationId(step), {
    at,
    kind: 'document.uploaded',
    actor: keyId,
    detail,
  });
  return row;
}

/**
 * A document of a merchant with its bytes, for operators. Offer it as a download of its `contentType`, never inline: the
 * merchant chose the file name. Throws NOT_FOUND; a missing or altered file is an internal error.
 */
export async function readDocument(
  { db, store }: { db: Database; store: DocumentStore },
  wanted: MerchantScope & { documentId: string },
): Promise<{ row: DocumentRow; bytes: Buffer }> {
  const row = await db<DocumentRow>('kycDocument')
    .where({ ...scopeOf(wanted), id: wanted.documentId })
    .first();
  if (!row) throw notFound('document');
  const bytes = await store.read(row);
  if (createHash('sha256').update(bytes).digest('hex') === row.sha256) return { row, bytes };
  throw new Error(`the file of document ${row.id} is not the one that was uploaded`);
}

const DOCUMENTS_AT_ONCE = 100;

/** Encrypts the files of all documents with the current key, in the order of their ids. Idempotent. */
export async function reencryptDocuments(
  { db, store }: { db: Database; store: DocumentStore },
  onProgress: OnProgress,
): Promise<Reencrypted> {
  const result: Reencrypted = { seen: 0, reencrypted: 0, failed: [] };
  for (let after = ''; ;) {
    const sql = 'SELECT id, storage_key FROM kyc_document WHERE id > :after ORDER BY id LIMIT :most';
    const batch = await rows<StoredDocument>(db, sql, { after, most: DOCUMENTS_AT_ONCE });
    for (const document of batch) {
      result.seen += 1;
      try {
        if (await store.reencrypt(document)) result.reencrypted += 1;
      } catch {
        result.failed.push(document.id);
      }
    }
    onProgress(result);
    const last = batch.at(-1);
    if (!last || batch.length < DOCUMENTS_AT_ONCE) return result;
    after = last.id;
  }
}

/** Longer than an upload takes, and longer than a database that is restored with its folder lags behind it. */
const ORPHAN_AGE_MS = DAY_MS;
const NAMES_AT_ONCE = 1_000;

/**
 * Removes files older than a day that belong to no document: failed and interrupted uploads. When the database knows no
 * document of the folder, the folder is another database's, and only interrupted uploads are removed. Returns their number.
 * Idempotent.
 */
export async function removeOrphans({ db, store }: { db: Database; store: DocumentStore }): Promise<number> {
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
