import { rows, type Queryable } from '../../lib/db.ts';
import type { Santim } from '../../lib/money.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { KycStatus } from '../operations.ts';
import type { FileType } from './file-type.ts';
import type { ApplicationDetails, DocumentKind } from './schema.ts';
import type { TimelineKind } from './states.ts';

/** A row of `kyc_application`. */
export type ApplicationRow = MerchantScope & {
  status: KycStatus;
  details: ApplicationDetails;
  tier: number;
  submissions: number;
  /** The operator's words: why it was rejected, or what is missing. */
  reviewMessage: string | null;
  submittedBy: string | null;
  decidedBy: string | null;
  submittedAt: Date | null;
  /** Sandbox: when it decides itself. */
  autoDecideAt: Date | null;
  decidedAt: Date | null;
};

/** A row of `kyc_document`. */
export type DocumentRow = MerchantScope & {
  id: string;
  submission: number;
  kind: DocumentKind;
  /** As the merchant called it: shown, never a path. */
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

/** A merchant that never began has no row: it is NOT_STARTED. */
export async function readApplication(db: Queryable, scope: MerchantScope): Promise<ApplicationRow> {
  const [row] = await rows<ApplicationRow>(
    db,
    'SELECT * FROM kyc_application WHERE merchant_id = :merchantId AND environment = :environment',
    scopeOf(scope),
  );
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

/** The same, begun if it was not, and locked until the transaction ends: changes come one after the other. */
export async function lockApplication(trx: Queryable, scope: MerchantScope): Promise<ApplicationRow> {
  const [row] = await rows<ApplicationRow>(
    trx,
    `INSERT INTO kyc_application (merchant_id, environment) VALUES (:merchantId, :environment)
     ON CONFLICT (merchant_id, environment) DO UPDATE SET updated_at = kyc_application.updated_at
     RETURNING *`,
    scopeOf(scope),
  );
  if (!row) throw new Error('the application was neither made nor found');
  return row;
}

/** The documents of one application, by the submission they were added for. */
export async function listDocuments(db: Queryable, scope: MerchantScope): Promise<DocumentRow[]> {
  return rows<DocumentRow>(
    db,
    `SELECT * FROM kyc_document WHERE merchant_id = :merchantId AND environment = :environment
     ORDER BY submission, uploaded_at, id`,
    scopeOf(scope),
  );
}

/** One tier, undefined when there is none of that number. */
export async function findTier(db: Queryable, tier: number): Promise<TierRow | undefined> {
  const sql = 'SELECT tier, name, channels, payment_max_santim, payout_daily_santim FROM kyc_tier WHERE tier = :tier';
  return (await rows<TierRow>(db, sql, { tier }))[0];
}

/** One step. `by`: key_…, opr_…, or "sandbox". */
export type TimelineRow = { occurredAt: Date; kind: TimelineKind; by: string; detail: Record<string, unknown> };

const SHOWN_MAX = 200;

/** The newest 200 steps of one application, oldest first. */
export async function readTimeline(db: Queryable, scope: MerchantScope): Promise<TimelineRow[]> {
  const newest = await rows<TimelineRow>(
    db,
    `SELECT occurred_at, kind, by, detail FROM kyc_timeline
     WHERE merchant_id = :merchantId AND environment = :environment ORDER BY id DESC LIMIT ${SHOWN_MAX}`,
    scopeOf(scope),
  );
  return newest.toReversed();
}

/** Notes a step, in the transaction of what it tells of. */
export async function appendTimeline(trx: Queryable, scope: MerchantScope, step: TimelineRow): Promise<void> {
  await rows(
    trx,
    `INSERT INTO kyc_timeline (merchant_id, environment, occurred_at, kind, by, detail)
     VALUES (:merchantId, :environment, :occurredAt, :kind, :by, CAST(:detail AS jsonb))`,
    { ...scopeOf(scope), ...step, detail: JSON.stringify(step.detail) },
  );
}

/** All of one merchant's verification in one environment. */
export type Kyc = {
  row: ApplicationRow;
  documents: DocumentRow[];
  timeline: TimelineRow[];
  tier: TierRow;
  /** Whether live keys work, and what they wait for. */
  live: { isApproved: boolean; hasSandboxPayment: boolean };
};

/** What belongs to an application as it stands now. */
export async function kycOf(db: Queryable, row: ApplicationRow): Promise<Kyc> {
  const [documents, timeline, tier, live] = await Promise.all([
    listDocuments(db, row),
    readTimeline(db, row),
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
