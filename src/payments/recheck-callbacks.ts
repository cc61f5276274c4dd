import { DAY_MS } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import type { AttemptState } from './attempt.ts';
import { QUERYABLE_ATTEMPTS, isQueryable } from './states.ts';
import { MIN_QUERY_INTERVAL_MS, type CheckAttempt, type CheckDeps } from './sync.ts';

/**
 * Whether the check that a provider's genuine word set off may count as its answer: the provider was asked and was
 * definite, or the attempt's money is booked already. Otherwise the provider must say it again.
 */
export function isConclusive(state: AttemptState): boolean {
  if (!isQueryable(state.attemptStatus)) return true;
  return state.queried && state.outcomeKind !== 'unknown';
}

/** How long a genuine callback is a reason to go on asking about an attempt that is not paid. */
export const PROOF_VALID_MS = DAY_MS;
export const RECHECK_INTERVAL_MIN_MS = 60_000;
/** Ever more rarely: after this part of the time since the callback came. */
export const RECHECK_AGE_PART = 10;

/**
 * Asks again about attempts whose provider sent a genuine callback in the last 24 h and which are not paid all the
 * same, so that a provider's word is never lost, whatever failed when it came: at most `limit` of them, each at most
 * once a minute. They are taken in any order, so that some that keep failing cannot stand before the others.
 * @returns how many were asked about. Throws when a check failed, after all were made.
 */
export async function recheckProven(
  deps: Pick<CheckDeps, 'db' | 'clock'> & { checkAttempt: CheckAttempt },
  limit: number,
): Promise<number> {
  const now = deps.clock();
  const due = await rows<{ attemptId: string }>(
    deps.db,
    `SELECT a.id AS attempt_id
     FROM (
       SELECT attempt_id, max(created_at) AS said_at FROM provider_callback
       WHERE verified AND created_at > :validFrom GROUP BY attempt_id
     ) said JOIN payment_attempt a ON a.id = said.attempt_id
     WHERE a.status = ANY (:queryable)
       AND coalesce(a.last_checked_at, a.created_at) <= least(
         CAST(:queriedBefore AS timestamptz),
         CAST(:now AS timestamptz) - (CAST(:now AS timestamptz) - said.said_at) / ${RECHECK_AGE_PART})
     ORDER BY random() LIMIT :limit`,
    {
      now,
      validFrom: new Date(now.getTime() - PROOF_VALID_MS),
      queriedBefore: new Date(now.getTime() - RECHECK_INTERVAL_MIN_MS),
      queryable: [...QUERYABLE_ATTEMPTS],
      limit,
    },
  );
  const options = { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: true };
  const checks = await Promise.allSettled(due.map(async ({ attemptId }) => deps.checkAttempt(attemptId, options)));
  const failed = checks.find((check) => check.status === 'rejected');
  if (failed) throw failed.reason;
  return due.length;
}
