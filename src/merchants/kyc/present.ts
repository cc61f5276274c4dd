import { isoOrNull } from '../../lib/dates.ts';
import { toBirr, type Santim } from '../../lib/money.ts';
import { missingFrom } from './application.ts';
import type { ApplicationRow, DocumentRow, TierRow } from './model.ts';
import type { Kyc } from './queries.ts';
import { EDITABLE } from './states.ts';
import type { TimelineRow } from './timeline.ts';

/** A document as the merchant and operators see it. */
export function presentDocument(row: DocumentRow) {
  const { id, kind, fileName, contentType, bytes, sha256, submission } = row;
  const uploadedAt = row.uploadedAt.toISOString();
  return { documentId: id, kind, fileName, contentType, bytes, sha256, submission, uploadedAt };
}

/** As the merchant sees it: operators are no names to it. */
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

/** Who did it, in kind, and what the merchant is told of it: the words of a decision, and the document. */
function presentStep({ occurredAt: at, kind, by, detail }: TimelineRow) {
  const words = detail['reason'] ?? detail['what'];
  return {
    at: at.toISOString(),
    kind,
    by: by.startsWith('key_') ? 'merchant' : by.startsWith('opr_') ? 'operator' : 'sandbox',
    ...(typeof words === 'string' && { message: words }),
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
    timeline: timeline.map(({ occurredAt: at, kind, by, detail }) => ({ at: at.toISOString(), kind, by, detail })),
  };
}
