import { rows, type Knex, type Queryable } from '../lib/db.ts';
import type { RunChange } from '../lib/outbox.ts';
import type { Owner } from '../lib/owner.ts';
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
  live: { isApproved: boolean; hasPaidInSandbox: boolean };
};

type Deps = { db: Knex; runChange: RunChange };

/** Everything about one merchant's verification; a rehearsal whose time has come is decided first. */
export async function readKyc({ db, runChange }: Deps, owner: Owner, at: Date): Promise<Kyc> {
  const found = await readApplication(db, owner);
  if (found.decideAt === null || found.decideAt > at) return kycOf(db, found);
  return kycOf(
    db,
    await runChange(async (change) => decideIfDue(change, await lockApplication(change.trx, owner), at)),
  );
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
    `SELECT kyc_tier_of(id) > 0 AS is_approved, has_paid_in_sandbox(id) AS has_paid_in_sandbox
     FROM merchant WHERE id = :merchantId`,
    { merchantId },
  );
  return live ?? { isApproved: false, hasPaidInSandbox: false };
}
