import type { z } from 'zod';

import { first, rows, type Queryable } from '../../lib/db.ts';
import { toBirr, type Santim } from '../../lib/money.ts';
import { messageCodeOf } from '../../lib/sandbox-reasons.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { readTimeline, type EntryWithActor } from '../../lib/timeline.ts';
import type { WorkItemSource } from '../../outbox/work-items.ts';
import type { KycStatus } from '../operations.ts';
import { Application, type ApplicationDetails, type DocumentKind, type KycDocument } from './schema.ts';
import { EDITABLE } from './states.ts';

export type ApplicationRow = MerchantScope & {
  status: KycStatus;
  details: ApplicationDetails;
  tier: number;
  submissions: number;
  /** The operator's message: why it was rejected, or what is missing. */
  reviewMessage: string | null;
  submittedBy: string | null;
  decidedBy: string | null;
  submittedAt: Date | null;
  /** When the sandbox decides by itself. */
  autoDecideAt: Date | null;
  decidedAt: Date | null;
};

/** A row of `kyc_document`. The merchant's name of the file is only displayed, never a path. */
export type DocumentRow = MerchantScope &
  Omit<z.output<typeof KycDocument>, 'documentId' | 'uploadedAt'> & {
    id: string;
    storageKey: string;
    uploadedBy: string;
    uploadedAt: Date;
  };

type TierRow = {
  tier: number;
  name: string;
  channels: string[] | null;
  paymentMaxSantim: Santim | null;
  payoutDailySantim: Santim | null;
};

/** The application of a merchant; NOT_STARTED without a row. */
export async function readApplication(db: Queryable, scope: MerchantScope): Promise<ApplicationRow> {
  const sql = 'SELECT * FROM kyc_application WHERE merchant_id = :merchantId AND environment = :environment';
  return (await first<ApplicationRow>(db, sql, scopeOf(scope))) ?? { ...scopeOf(scope), ...NOT_STARTED };
}

const NOT_STARTED: Omit<ApplicationRow, keyof MerchantScope> = {
  status: 'NOT_STARTED',
  details: {},
  tier: 0,
  submissions: 0,
  reviewMessage: null,
  submittedBy: null,
  decidedBy: null,
  submittedAt: null,
  autoDecideAt: null,
  decidedAt: null,
};

/** A verified business, as customers see it. */
export type Business = { legalName: string; supportPhone: string | null; logoId: string | null };

/** The merchant's verified business; null before its verification. */
export async function findBusiness(db: Queryable, scope: MerchantScope): Promise<Business | null> {
  const business = await first<Business>(
    db,
    `SELECT details ->> 'legalName' AS legal_name, details ->> 'supportPhone' AS support_phone,
            (SELECT d.id FROM kyc_document d WHERE d.merchant_id = a.merchant_id AND d.environment = a.environment
             AND d.kind = 'LOGO' ORDER BY d.submission DESC, d.uploaded_at DESC, d.id DESC LIMIT 1) AS logo_id
     FROM kyc_application a
     WHERE merchant_id = :merchantId AND environment = :environment AND status = 'APPROVED'
       AND details ->> 'legalName' IS NOT NULL`,
    scopeOf(scope),
  );
  return business ?? null;
}

/** The same, inserted if missing, and locked until the transaction ends. */
export async function lockApplication(trx: Queryable, scope: MerchantScope): Promise<ApplicationRow> {
  const sql = `INSERT INTO kyc_application (merchant_id, environment) VALUES (:merchantId, :environment)
               ON CONFLICT (merchant_id, environment) DO UPDATE SET updated_at = kyc_application.updated_at RETURNING *`;
  const row = await first<ApplicationRow>(trx, sql, scopeOf(scope));
  if (!row) throw new Error('the application was neither inserted nor found');
  return row;
}

/** The documents of an application, ordered by submission. */
export async function listDocuments(db: Queryable, scope: MerchantScope): Promise<DocumentRow[]> {
  const sql = `SELECT * FROM kyc_document WHERE merchant_id = :merchantId AND environment = :environment
               ORDER BY submission, uploaded_at, id`;
  return rows<DocumentRow>(db, sql, scopeOf(scope));
}

export async function findTier(db: Queryable, tier: number): Promise<TierRow | undefined> {
  return first<TierRow>(db, 'SELECT * FROM kyc_tier WHERE tier = :tier', { tier });
}

/** The resource of its timeline. */
export function applicationId({ merchantId, environment }: MerchantScope): string {
  return `${merchantId}/${environment}`;
}

const NEEDED_FIELDS = (Object.keys(Application.shape) as (keyof ApplicationDetails)[]).filter(
  (field) => field !== 'website' && field !== 'supportPhone',
);
const NEEDED_DOCUMENTS: readonly DocumentKind[] = ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID'];

/** The fields and documents (as `documents.KIND`) still missing for a submission. */
export function missingFrom(details: ApplicationDetails, documents: readonly { kind: DocumentKind }[]): string[] {
  const kinds = new Set(documents.map(({ kind }) => kind));
  return [
    ...NEEDED_FIELDS.filter((field) => details[field] === undefined),
    ...NEEDED_DOCUMENTS.filter((kind) => !kinds.has(kind)).map((kind) => `documents.${kind}`),
  ];
}

const TIMELINE_MAX = 200;

/** The two conditions of live keys. */
type LiveKeys = { isApproved: boolean; hasSandboxPayment: boolean };

export type Kyc = Awaited<ReturnType<typeof kycOf>>;

/** An application with its documents, the newest 200 entries of its timeline, and its tier. */
export async function kycOf(db: Queryable, row: ApplicationRow) {
  const sql = 'SELECT effective_kyc_tier(:id) > 0 AS is_approved, has_sandbox_payment(:id) AS has_sandbox_payment';
  const [documents, timeline, tier, live] = await Promise.all([
    listDocuments(db, row),
    readTimeline(db, applicationId(row), TIMELINE_MAX),
    findTier(db, row.tier),
    first<LiveKeys>(db, sql, { id: row.merchantId }),
  ]);
  if (!tier || !live) throw new Error(`there is no tier ${row.tier}`);
  return { row, documents, timeline, tier, live };
}

/** A document in the APIs of merchants and operators. */
export function presentDocument({ id, ...document }: DocumentRow) {
  return { documentId: id, ...document };
}

const birr = (santim: Santim | null): number | null => (santim === null ? null : toBirr(santim));

/** The KYC as the merchant's API returns it, without operators' names. */
export function presentKyc({ row, documents, timeline, tier, live }: Kyc) {
  return {
    ...row,
    message: row.reviewMessage,
    ...messageCodeOf(row.reviewMessage),
    application: row.details,
    missing: EDITABLE.includes(row.status) ? missingFrom(row.details, documents) : [],
    documents: documents.map(presentDocument),
    tier: { ...tier, paymentMax: birr(tier.paymentMaxSantim), payoutDailyMax: birr(tier.payoutDailySantim) },
    liveKeys: {
      work: live.isApproved && live.hasSandboxPayment,
      verificationApproved: live.isApproved,
      sandboxPaymentMade: live.hasSandboxPayment,
    },
    timeline: timeline.map(presentStep),
  };
}

/** A timeline entry: the kind of actor, the message of a decision, and the document. The reason for a tier is private. */
function presentStep({ at, kind, actor, detail }: EntryWithActor) {
  const isMerchant = actor?.startsWith('key_') || actor?.startsWith('usr_');
  const by = isMerchant ? 'merchant' : actor?.startsWith('opr_') ? 'operator' : 'sandbox';
  const message = kind === 'tier.changed' ? undefined : (detail['reason'] ?? detail['what']);
  return { at, kind, by, message, ...messageCodeOf(message), documentId: detail['documentId'] };
}

/** An application as operators see it. */
export function presentApplication(row: ApplicationRow) {
  return { ...row, submission: row.submissions, message: row.reviewMessage };
}

/** A merchant's verification as operators see it, with who did each step. */
export function presentForOperators({ row, documents, timeline, live }: Kyc) {
  return {
    ...presentApplication(row),
    documents: documents.map(presentDocument),
    liveKeysWork: live.isApproved && live.hasSandboxPayment,
    timeline: timeline.map(({ actor: by, ...entry }) => ({ ...entry, by })),
  };
}

/** KYC applications for an operator to decide, without those that the sandbox decides itself. */
export const KYC_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['KYC'],
  sql: `SELECT 'KYC' AS kind, k.merchant_id AS id, k.merchant_id, k.environment, NULL::bigint AS amount_santim,
               coalesce(k.submitted_at, k.updated_at) AS since,
               'KYC application to decide (submission ' || k.submissions || ')' AS what,
               jsonb_build_object('status', k.status, 'submission', k.submissions) AS detail, NULL AS workflow_id
        FROM kyc_application k WHERE k.status IN ('SUBMITTED', 'UNDER_REVIEW') AND k.auto_decide_at IS NULL`,
};
