import { DAY_MS } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import type { AttemptState } from './queries.ts';
import { QUERYABLE_ATTEMPTS, isQueryable } from './states.ts';
import { MIN_QUERY_INTERVAL_MS, type CheckAttempt, type CheckDeps } from './sync.ts';

/**
 * Whether the query that a verified callback triggered is conclusive: the provider was queried and gave a definite outcome,
 * or the attempt's money is booked already. Otherwise the provider has to send the callback again.
 */
export function isConclusive(state: AttemptState): boolean {
  if (!isQueryable(state.attemptStatus)) return true;
  return state.queried && state.outcomeKind !== 'unknown';
}

/** How long a verified callback is a reason to keep querying an attempt that is not paid. */
const CALLBACK_RECHECK_FOR_MS = DAY_MS;
const RECHECK_INTERVAL_MIN_MS = 60_000;
/** The interval grows: this fraction of the time since the callback arrived. */
const RECHECK_AGE_PART = 10;

/**
 * Queries attempts again whose provider sent a verified callback in the last 24 h and which are still not paid, so that no
 * callback is lost: at most `limit` of them, each at most once a minute. Random order, so that attempts that keep failing
 * do not block the others.
 * @returns how many were queried. Throws when a query failed, after all were made.
 */
export async function recheckAfterCallbacks(
  deps: Pick<CheckDeps, 'db' | 'clock'> & { checkAttempt: CheckAttempt },
  limit: number,
): Promise<number> {
  const now = deps.clock();
  const due = await rows<{ attemptId: string }>(
    deps.db,
    `SELECT a.id AS attempt_id
     FROM (
       SELECT attempt_id, max(created_at) AS received_at FROM provider_callback
       WHERE verified AND created_at > :validFrom GROUP BY attempt_id
     ) callback JOIN payment_attempt a ON a.id = callback.attempt_id
     WHERE a.status = ANY (:queryable)
       AND coalesce(a.last_checked_at, a.created_at) <= least(
         CAST(:queriedBefore AS timestamptz),
         CAST(:now AS timestamptz) - (CAST(:now AS timestamptz) - callback.received_at) / ${RECHECK_AGE_PART})
     ORDER BY random() LIMIT :limit`,
    {
      now,
      validFrom: new Date(now.getTime() - CALLBACK_RECHECK_FOR_MS),
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
