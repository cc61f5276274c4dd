import { rows, type Queryable } from '../../lib/db.ts';
import type { Santim } from '../../lib/money.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { ApplicationDetails, DocumentKind } from './application.ts';
import type { FileType } from './file-type.ts';
import type { KycStatus } from './states.ts';

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
