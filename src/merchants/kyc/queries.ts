import { rows, type Queryable } from '../../lib/db.ts';
import type { Santim } from '../../lib/money.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { readTimeline, type EntryWithActor } from '../../lib/timeline.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { WorkItemSource } from '../../outbox/work-items.ts';
import type { KycStatus } from '../operations.ts';
import type { FileType } from './file-type.ts';
import type { ApplicationDetails, DocumentKind } from './schema.ts';

/** A row of `kyc_application`. */
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

/** A row of `kyc_document`. */
export type DocumentRow = MerchantScope & {
  id: string;
  submission: number;
  kind: DocumentKind;
  /** The merchant's name of it: only displayed, never a path. */
  fileName: string;
  contentType: FileType;
  bytes: number;
  sha256: string;
  storageKey: string;
  uploadedBy: string;
  uploadedAt: Date;
};

export type TierRow = {
  tier: number;
  name: string;
  channels: string[] | null;
  paymentMaxSantim: Santim | null;
  payoutDailySantim: Santim | null;
};

/** The application of a merchant; NOT_STARTED without a row. */
export async function readApplication(db: Queryable, scope: MerchantScope): Promise<ApplicationRow> {
  const row = await db<ApplicationRow>('kycApplication').where(scopeOf(scope)).first();
  return row ?? { ...scopeOf(scope), ...NOT_STARTED };
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

/** The same, inserted if missing, and locked until the transaction ends. */
export async function lockApplication(trx: Queryable, scope: MerchantScope): Promise<ApplicationRow> {
  const [row] = await rows<ApplicationRow>(
    trx,
    `INSERT INTO kyc_application (merchant_id, environment) VALUES (:merchantId, :environment)
     ON CONFLICT (merchant_id, environment) DO UPDATE SET updated_at = kyc_application.updated_at
     RETURNING *`,
    scopeOf(scope),
  );
  if (!row) throw new Error('the application was neither inserted nor found');
  return row;
}

/** The row of a merchant's application, to update it. */
export const applicationOf = ({ trx }: UnitOfWork, scope: MerchantScope) =>
  trx<ApplicationRow & { updatedAt: Date }>('kycApplication').where(scopeOf(scope));

/** The documents of an application, ordered by submission. */
export async function listDocuments(db: Queryable, scope: MerchantScope): Promise<DocumentRow[]> {
  return db<DocumentRow>('kycDocument').where(scopeOf(scope)).orderBy(['submission', 'uploadedAt', 'id']);
}

/** One tier, or undefined. */
export async function findTier(db: Queryable, tier: number): Promise<TierRow | undefined> {
  return db<TierRow>('kycTier').where({ tier }).first();
}

/** The resource of its timeline. */
export function applicationId({ merchantId, environment }: MerchantScope): string {
  return `${merchantId}/${environment}`;
}

const TIMELINE_MAX = 200;

/** A merchant's KYC in one environment. */
export type Kyc = {
  row: ApplicationRow;
  documents: DocumentRow[];
  /** The newest 200 entries. */
  timeline: EntryWithActor[];
  tier: TierRow;
  /** The two conditions of live keys. */
  live: { isApproved: boolean; hasSandboxPayment: boolean };
};

/** An application with its documents, timeline and tier. */
export async function kycOf(db: Queryable, row: ApplicationRow): Promise<Kyc> {
  const [documents, timeline, tier, live] = await Promise.all([
    listDocuments(db, row),
    readTimeline(db, applicationId(row), TIMELINE_MAX),
    findTier(db, row.tier),
    readLive(db, row.merchantId),
  ]);
  if (!tier) throw new Error(`there is no tier ${row.tier}`);
  return { row, documents, timeline, tier, live };
}

async function readLive(db: Queryable, merchantId: string): Promise<Kyc['live']> {
  const [live] = await rows<Kyc['live']>(
    db,
    `SELECT effective_kyc_tier(id) > 0 AS is_approved, has_sandbox_payment(id) AS has_sandbox_payment
     FROM merchant WHERE id = :merchantId`,
    { merchantId },
  );
  return live ?? { isApproved: false, hasSandboxPayment: false };
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
