import { isoOrNull } from '../../lib/dates.ts';
import { toBirr, type Santim } from '../../lib/money.ts';
import type { EntryWithActor } from '../../lib/timeline.ts';
import { missingFrom } from './application.ts';
import type { ApplicationRow, DocumentRow, Kyc, TierRow } from './queries.ts';
import { EDITABLE } from './states.ts';

/** A document in the APIs of merchants and operators. */
export function presentDocument(row: DocumentRow) {
  const { id, kind, fileName, contentType, bytes, sha256, submission } = row;
  const uploadedAt = row.uploadedAt.toISOString();
  return { documentId: id, kind, fileName, contentType, bytes, sha256, submission, uploadedAt };
}

/** The KYC as the merchant's API returns it, without operators' names. */
export function presentKyc({ row, documents, timeline, tier, live }: Kyc) {
  return {
    environment: row.environment,
    status: row.status,
    message: row.reviewMessage,
    application: row.details,
    missing: EDITABLE.includes(row.status) ? missingFrom(row.details, documents) : [],
    documents: documents.map(presentDocument),
    tier: presentTier(tier),
    submittedAt: isoOrNull(row.submittedAt),
    decidedAt: isoOrNull(row.decidedAt),
    liveKeys: {
      work: live.isApproved && live.hasSandboxPayment,
      verificationApproved: live.isApproved,
      sandboxPaymentMade: live.hasSandboxPayment,
    },
    timeline: timeline.map(presentStep),
  };
}

function presentTier({ tier, name, channels, paymentMaxSantim, payoutDailySantim }: TierRow) {
  return { tier, name, channels, paymentMax: birr(paymentMaxSantim), payoutDailyMax: birr(payoutDailySantim) };
}

/** A timeline entry: the kind of actor, the message of a decision, and the document. */
function presentStep({ at, kind, actor, detail }: EntryWithActor) {
  const message = detail['reason'] ?? detail['what'];
  return {
    at,
    kind,
    by: actor?.startsWith('key_') ? 'merchant' : actor?.startsWith('opr_') ? 'operator' : 'sandbox',
    ...(typeof message === 'string' && { message }),
    ...(typeof detail['documentId'] === 'string' && { documentId: detail['documentId'] }),
  };
}

const birr = (santim: Santim | null): number | null => (santim === null ? null : toBirr(santim));

/** An application as operators see it. */
export function presentApplication(row: ApplicationRow) {
  const { merchantId, environment, status, submissions, tier, reviewMessage, decidedBy } = row;
  return {
    merchantId,
    environment,
    status,
    submission: submissions,
    tier,
    message: reviewMessage,
    submittedAt: isoOrNull(row.submittedAt),
    decidedBy,
    decidedAt: isoOrNull(row.decidedAt),
  };
}

/** A merchant's verification as operators see it, with who did each step. */
export function presentForOperators({ row, documents, timeline, live }: Kyc) {
  return {
    ...presentApplication(row),
    details: row.details,
    documents: documents.map(presentDocument),
    liveKeysWork: live.isApproved && live.hasSandboxPayment,
    timeline: timeline.map(({ actor: by, ...entry }) => ({ ...entry, by })),
  };
}
