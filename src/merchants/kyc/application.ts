import { isDeepStrictEqual } from 'node:util';

import { AppError, invalidFields } from '../../lib/errors.ts';
import { SANDBOX_REVIEW_MS } from '../../lib/sandbox-review.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import { recordTimeline } from '../../lib/timeline.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { decideIfDue } from './decide.ts';
import { applicationId, applicationOf, listDocuments, lockApplication, type ApplicationRow } from './queries.ts';
import type { ApplicationDetails, DocumentKind, TimelineKind } from './schema.ts';
import { EDITABLE, sandboxDecision } from './states.ts';

const NEEDED_FIELDS = [
  'legalName',
  'tradeName',
  'businessType',
  'tin',
  'tradeLicenceNumber',
  'address',
  'region',
  'contactPerson',
  'phone',
  'email',
  'expectedMonthlyVolume',
] as const satisfies (keyof ApplicationDetails)[];
const NEEDED_DOCUMENTS: readonly DocumentKind[] = ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID'];

/** The fields and documents (as `documents.KIND`) still missing for a submission. */
export function missingFrom(details: ApplicationDetails, documents: readonly { kind: DocumentKind }[]): string[] {
  const kinds = new Set(documents.map(({ kind }) => kind));
  return [
    ...NEEDED_FIELDS.filter((field) => details[field] === undefined),
    ...NEEDED_DOCUMENTS.filter((kind) => !kinds.has(kind)).map((kind) => `documents.${kind}`),
  ];
}

/** The application, the merchant's key, and the time. */
export type Step = MerchantScope & { keyId: string; at: Date };

/** Replaces the application's details. Throws INVALID_STATE once it was submitted. */
export async function saveApplication(
  tx: UnitOfWork,
  step: Step,
  details: ApplicationDetails,
): Promise<ApplicationRow> {
  const before = await lockForEdit(tx, step);
  if (isDeepStrictEqual(before.details, details)) return before;
  const { at, keyId } = step;
  const [row] = await applicationOf(tx, step).update({ details, updatedAt: at }).returning('*');
  const detail = { fields: Object.keys(details) };
  await recordTimeline<TimelineKind>(tx.trx, applicationId(step), {
    at,
    kind: 'application.saved',
    actor: keyId,
    detail,
  });
  return row ?? before;
}

/**
 * Submits it to the operators in live; the sandbox decides by itself after 5 s. The timeline retains the submitted details.
 * Throws INVALID_STATE when it is submitted already, and VALIDATION_ERROR with everything that is missing.
 */
export async function submitApplication(tx: UnitOfWork, step: Step): Promise<ApplicationRow> {
  const before = await lockForEdit(tx, step);
  const documents = await listDocuments(tx.trx, step);
  const missing = missingFrom(before.details, documents);
  if (missing.length > 0) {
    const details = missing.map((field) => ({ field, issue: 'is missing' }));
    throw invalidFields(details, `The application is not complete. Missing: ${missing.join(', ')}.`);
  }
  const { at, keyId } = step;
  const submission = before.submissions + 1;
  const [row] = await applicationOf(tx, step)
    .update({
      status: 'SUBMITTED',
      submissions: submission,
      reviewMessage: null,
      submittedBy: keyId,
      submittedAt: at,
      autoDecideAt: isDecidedBySandbox(before) ? new Date(at.getTime() + SANDBOX_REVIEW_MS) : null,
      decidedBy: null,
      decidedAt: null,
      updatedAt: at,
    })
    .returning('*');
  const detail = { submission, details: before.details, documents: documents.map(({ id }) => id) };
  await recordTimeline<TimelineKind>(tx.trx, applicationId(step), {
    at,
    kind: 'application.submitted',
    actor: keyId,
    detail,
  });
  return row ?? before;
}

function isDecidedBySandbox({ environment, details }: ApplicationRow): boolean {
  return environment === 'sandbox' && sandboxDecision(details.tin) !== 'wait';
}

/** The application, locked, if the merchant may change it now. Throws INVALID_STATE. */
export async function lockForEdit(tx: UnitOfWork, step: Step): Promise<ApplicationRow> {
  const row = await decideIfDue(tx, await lockApplication(tx.trx, step), step.at);
  if (EDITABLE.includes(row.status)) return row;
  const why = row.status === 'APPROVED' ? 'you are verified' : 'wait for the decision';
  throw new AppError(
    'INVALID_STATE',
    `Your application is ${row.status}, so it cannot be changed: ${why}. It can while it is ${EDITABLE.join(', ')}.`,
  );
}
