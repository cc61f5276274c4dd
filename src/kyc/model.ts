import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { ownerOf, type Owner } from '../lib/owner.ts';
import type { ApplicationDetails, DocumentKind } from './application.ts';
import type { FileType } from './file-type.ts';
import type { KycStatus } from './states.ts';

/** A row of `kyc_application`. */
export type ApplicationRow = Owner & {
  status: KycStatus;
  details: ApplicationDetails;
  tier: number;
  submissions: number;
  /** The operator's words: why it was rejected, or what is missing. */
  message: string | null;
  submittedBy: string | null;
  decidedBy: string | null;
  submittedAt: Date | null;
  /** Sandbox: when it decides itself. */
  decideAt: Date | null;
  decidedAt: Date | null;
};

/** A row of `kyc_document`. */
export type DocumentRow = Owner & {
  id: string;
  submission: number;
  kind: DocumentKind;
  /** As the merchant called it: shown, never a path. */
  fileName: string;
  contentType: FileType;
  bytes: number;
  sha256: string;
  storedAs: string;
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
export async function readApplication(db: Queryable, owner: Owner): Promise<ApplicationRow> {
  const [row] = await rows<ApplicationRow>(
    db,
    'SELECT * FROM kyc_application WHERE merchant_id = :merchantId AND environment = :environment',
    ownerOf(owner),
  );
  return row ?? { ...ownerOf(owner), ...NOT_STARTED };
}

const NOT_STARTED: Omit<ApplicationRow, keyof Owner> = {
  status: 'NOT_STARTED',
  details: {},
  tier: 0,
  submissions: 0,
  message: null,
  submittedBy: null,
  decidedBy: null,
  submittedAt: null,
  decideAt: null,
  decidedAt: null,
};

/** The same, begun if it was not, and locked until the transaction ends: changes come one after the other. */
export async function lockApplication(trx: Queryable, owner: Owner): Promise<ApplicationRow> {
  const [row] = await rows<ApplicationRow>(
    trx,
    `INSERT INTO kyc_application (merchant_id, environment) VALUES (:merchantId, :environment)
     ON CONFLICT (merchant_id, environment) DO UPDATE SET updated_at = kyc_application.updated_at
     RETURNING *`,
    ownerOf(owner),
  );
  if (!row) throw new Error('the application was neither made nor found');
  return row;
}

/** The documents of one application, by the submission they were added for. */
export async function listDocuments(db: Queryable, owner: Owner): Promise<DocumentRow[]> {
  return rows<DocumentRow>(
    db,
    `SELECT * FROM kyc_document WHERE merchant_id = :merchantId AND environment = :environment
     ORDER BY submission, uploaded_at, id`,
    ownerOf(owner),
  );
}

/** One tier, undefined when there is none of that number. */
export async function findTier(db: Queryable, tier: number): Promise<TierRow | undefined> {
  const sql = 'SELECT tier, name, channels, payment_max_santim, payout_daily_santim FROM kyc_tier WHERE tier = :tier';
  return (await rows<TierRow>(db, sql, { tier }))[0];
}
