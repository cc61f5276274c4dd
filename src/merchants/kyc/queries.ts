import { rows, type Knex, type Queryable } from '../../lib/db.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { RunInTransaction } from '../../outbox/record.ts';
import { decideIfDue } from './decide.ts';
import {
  findTier,
  listDocuments,
  lockApplication,
  readApplication,
  type ApplicationRow,
  type DocumentRow,
  type TierRow,
} from './model.ts';
import { readTimeline, type TimelineRow } from './timeline.ts';

/** All of one merchant's verification in one environment. */
export type Kyc = {
  row: ApplicationRow;
  documents: DocumentRow[];
  timeline: TimelineRow[];
  tier: TierRow;
  /** Whether live keys work, and what they wait for. */
  live: { isApproved: boolean; hasSandboxPayment: boolean };
};

type Deps = { db: Knex; runInTransaction: RunInTransaction };

/** Everything about one merchant's verification; a rehearsal whose time has come is decided first. */
export async function readKyc({ db, runInTransaction }: Deps, scope: MerchantScope, at: Date): Promise<Kyc> {
  const found = await readApplication(db, scope);
  if (found.autoDecideAt === null || found.autoDecideAt > at) return kycOf(db, found);
  return kycOf(db, await runInTransaction(async (tx) => decideIfDue(tx, await lockApplication(tx.trx, scope), at)));
}

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
