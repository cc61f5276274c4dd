import { rows, type Knex, type Queryable } from '../lib/db.ts';
import type { RunChange } from '../lib/outbox.ts';
import type { Owner } from '../lib/owner.ts';
import { decideIfDue } from './decide.ts';
import { findTier, listDocuments, lockApplication, readApplication, type ApplicationRow } from './model.ts';
import type { Kyc } from './present.ts';
import { readTimeline } from './timeline.ts';

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
    `SELECT kyc_status = 'APPROVED' AS is_approved, has_paid_in_sandbox(id) AS has_paid_in_sandbox
     FROM merchant WHERE id = :merchantId`,
    { merchantId },
  );
  return live ?? { isApproved: false, hasPaidInSandbox: false };
}
