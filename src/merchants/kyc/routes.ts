import { UploadedFile, type UploadStore } from '../../http/body.ts';
import { actorOf, readRoute, writeRoute, type KeyCaller, type Route, type UserCaller } from '../../http/route.ts';
import type { Database } from '../../lib/db.ts';
import { scopeOf } from '../../lib/scope.ts';
import type { RunInTransaction } from '../../outbox/record.ts';
import { readKyc, saveApplication, submitApplication, type Step } from './application.ts';
import { addDocument, DOCUMENT_BYTES_MAX, DOCUMENTS_MAX, storeDocument } from './documents.ts';
import { kycOf, presentDocument, presentKyc } from './queries.ts';
import * as schema from './schema.ts';
import type { DocumentStore } from './store.ts';

export type KycRouteDeps = { db: Database; runInTransaction: RunInTransaction; store: DocumentStore };

const KYC = { tag: 'KYC', auth: { by: 'key', scope: 'kyc:write' } } as const;

const stepOf = ({ caller, at }: { caller: KeyCaller | UserCaller; at: Date }): Step => ({
  ...scopeOf(caller),
  actor: actorOf(caller),
  at,
});

/** Where the file of an upload goes before its row is written. */
const uploadsTo = (store: DocumentStore): UploadStore => ({
  save: async (file) => storeDocument(store, file),
  discard: async ({ storageKey }) => store.remove(storageKey),
});

/** The merchant's KYC. A live key may call these before all others. */
export function kycRoutes(deps: KycRouteDeps): Route[] {
  return [
    readRoute('GET /api/checkout/kyc', {
      ...KYC,
      auth: { ...KYC.auth, permission: 'kyc:read' },
      operationId: 'getKyc',
      summary: 'Your verification: its status, what is missing, and the decision',
      description:
        "A live key's application is decided by operators and enables live payments. A sandbox key's is a test: it is decided automatically 5 seconds after its submission, and enables nothing.",
      responses: { 200: schema.Kyc },
      handle: async ({ caller, at }) => {
        const kyc = await readKyc(deps, scopeOf(caller), at);
        return { message: `Verification is ${kyc.row.status}`, data: presentKyc(kyc) };
      },
    }),
    writeRoute('PUT /api/checkout/kyc', {
      ...KYC,
      operationId: 'saveKyc',
      audit: 'kyc.save',
      summary: 'Save the application, replacing what was saved before',
      description: 'It may be incomplete. It cannot be saved while it waits for a decision, nor once it is approved.',
      body: schema.Application,
      responses: { 200: schema.Kyc },
      errors: ['INVALID_STATE'],
      handle: async ({ tx, body, ...input }) => {
        const row = await saveApplication(tx, stepOf(input), body);
        // The names only: not every role that reads the audit log may read the application.
        const audit = { after: { fields: Object.keys(body) } };
        return { message: 'Application saved', data: presentKyc(await kycOf(tx.trx, row)), audit };
      },
    }),
    writeRoute('POST /api/checkout/kyc/submit', {
      ...KYC,
      operationId: 'submitKyc',
      audit: 'kyc.submit',
      summary: 'Submit the application',
      description:
        'The error of an incomplete application lists everything that is missing. After REJECTED or MORE_INFO_NEEDED it may be submitted again.',
      responses: { 200: schema.Kyc },
      errors: ['INVALID_STATE'],
      handle: async ({ tx, ...input }) => {
        const row = await submitApplication(tx, stepOf(input));
        const audit = { after: { status: row.status, submission: row.submissions } };
        return { message: 'Application submitted', data: presentKyc(await kycOf(tx.trx, row)), audit };
      },
    }),
    writeRoute('POST /api/checkout/kyc/documents', {
      ...KYC,
      operationId: 'uploadKycDocument',
      audit: 'kyc.add-document',
      summary: 'Add a document: the body is the file itself',
      description: `A PDF, PNG or JPEG of at most ${DOCUMENT_BYTES_MAX} bytes, at most ${DOCUMENTS_MAX.each} for one submission. The same file and kind again returns the stored document with 200.`,
      query: schema.UploadQuery,
      body: UploadedFile,
      upload: { types: schema.FILE_TYPES, bytesMax: DOCUMENT_BYTES_MAX, store: uploadsTo(deps.store) },
      responses: { 200: schema.KycDocument, 201: schema.KycDocument },
      errors: ['INVALID_STATE'],
      handle: async ({ tx, query, body: { stored, ...file }, ...input }) => {
        if (!stored) throw new Error('the file was not stored before the transaction');
        const wanted = { ...file, stored, kind: query.kind, fileName: query.fileName ?? 'unnamed' };
        const { row, isNew } = await addDocument(tx, stepOf(input), wanted);
        const message = isNew ? 'Document added' : 'This document was added before';
        const audit = isNew ? { resourceId: row.id, after: { kind: row.kind } } : null;
        return { status: isNew ? 201 : 200, message, data: presentDocument(row), audit };
      },
    }),
  ];
}
