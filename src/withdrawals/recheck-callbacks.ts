import type { Clock } from '../lib/clock.ts';
import { rows, type Knex } from '../lib/db.ts';
import { PROOF_VALID_MS, RECHECK_AGE_PART, RECHECK_INTERVAL_MIN_MS } from '../payments/recheck-callbacks.ts';
import type { CheckPayout } from './sync.ts';

/** So long may a provider's answers know less than its callbacks say. */
const QUERY_LAG_MINUTES = 20;

/**
 * Asks again about withdrawals whose provider sent a genuine callback in the last 24 h that did not settle them: one that
 * is PENDING, or one that had ended before the provider spoke, which may have been reversed or paid after all, until the
 * provider has answered well after it spoke. At most `limit` of them, ever more rarely, as payments are rechecked.
 * @returns how many were asked about. Throws when a check failed, after all were made.
 */
export async function recheckProvenPayouts(
  { db, clock, checkPayout }: { db: Knex; clock: Clock; checkPayout: CheckPayout },
  limit: number,
): Promise<number> {
  const now = clock();
  const due = await rows<{ id: string }>(
    db,
    `SELECT w.id
     FROM (
       SELECT withdrawal_id, max(created_at) AS said_at FROM provider_callback
       WHERE verified AND created_at > :validFrom AND withdrawal_id IS NOT NULL GROUP BY withdrawal_id
     ) said JOIN withdrawal w ON w.id = said.withdrawal_id
     WHERE (w.status = 'PENDING' OR (
         w.status IN ('SUCCESS', 'FAILED') AND said.said_at > w.completed_at
         AND (w.last_outcome = 'unknown' OR coalesce(w.last_checked_at, w.completed_at) < said.said_at + CAST(:lag AS interval))))
       AND coalesce(w.last_checked_at, w.created_at) <= least(
         CAST(:queriedBefore AS timestamptz),
         CAST(:now AS timestamptz) - (CAST(:now AS timestamptz) - said.said_at) / ${RECHECK_AGE_PART})
     ORDER BY random() LIMIT :limit`,
    {
      now,
      validFrom: new Date(now.getTime() - PROOF_VALID_MS),
      queriedBefore: new Date(now.getTime() - RECHECK_INTERVAL_MIN_MS),
      lag: `${QUERY_LAG_MINUTES} minutes`,
      limit,
    },
  );
  const options = { minIntervalMs: RECHECK_INTERVAL_MIN_MS, proof: true, notifyWorkflow: true };
  const checks = await Promise.allSettled(due.map(async ({ id }) => checkPayout(id, options)));
  const failed = checks.find((check) => check.status === 'rejected');
  if (failed) throw failed.reason;
  return due.length;
}
