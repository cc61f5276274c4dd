import { measureRow, type Registry } from '../http/metrics.ts';
import type { Knex } from '../lib/db.ts';

const open = { name: 'meskot_withdrawals_pending', help: 'Withdrawals that have not ended, by stage' };

const GAUGES = {
  created: { ...open, labels: { stage: 'CREATED' } },
  underReview: { ...open, labels: { stage: 'UNDER_REVIEW' } },
  submitted: { ...open, labels: { stage: 'SUBMITTED' } },
  unknown: { ...open, labels: { stage: 'UNKNOWN' } },
  oldest: {
    name: 'meskot_withdrawals_oldest_submitted_age_seconds',
    help: 'Time since the oldest open withdrawal was first sent; 0 when none is',
  },
  contradicted: {
    name: 'meskot_withdrawals_in_conflict',
    help: 'Ended withdrawals of which their provider says otherwise now: they wait for an operator',
  },
} as const;

const COUNT = `
  SELECT CAST(count(*) FILTER (WHERE stage = 'CREATED') AS integer) AS created,
         CAST(count(*) FILTER (WHERE stage = 'UNDER_REVIEW') AS integer) AS under_review,
         CAST(count(*) FILTER (WHERE stage = 'SUBMITTED') AS integer) AS submitted,
         CAST(count(*) FILTER (WHERE stage = 'UNKNOWN') AS integer) AS unknown,
         CAST(coalesce(extract(epoch FROM now() - min(submitted_at)), 0) AS double precision) AS oldest,
         (SELECT CAST(count(*) AS integer) FROM withdrawal
          WHERE conflict_detected_at IS NOT NULL AND conflict_resolved_at IS NULL
            AND status IN ('FAILED', 'SUCCESS')) AS contradicted
  FROM withdrawal WHERE status = 'PENDING'`;

const UNSENT_GAUGES = {
  unsent: {
    name: 'meskot_withdrawals_oldest_unsent_age_seconds',
    help: 'Time that the oldest withdrawal waits to be sent for the first time, review not counted; 0 when none does',
  },
} as const;

const UNSENT = `
  SELECT CAST(coalesce(extract(epoch FROM now() - min(CASE WHEN w.approvals_needed = 0 THEN w.requested_at ELSE
           greatest(w.requested_at, (SELECT max(a.created_at) FROM withdrawal_approval a WHERE a.withdrawal_id = w.id))
         END)), 0) AS float8) AS unsent
  FROM withdrawal w WHERE w.status = 'PENDING' AND w.stage = 'CREATED'`;
const UNSENT_KEPT_MS = 3_000;

/** How long money waits to go out: the API shows it as well, since no worker may be there to do either. */
export function measureUnsentWithdrawals(registry: Registry, db: Knex): void {
  measureRow(registry, UNSENT_GAUGES, { db, sql: UNSENT, cachedMs: UNSENT_KEPT_MS });
}

/** Withdrawals under way, how long the slowest has been, and those in doubt. Counted when somebody looks. */
export function measureWithdrawals(registry: Registry, db: Knex): void {
  measureUnsentWithdrawals(registry, db);
  measureRow(registry, GAUGES, { db, sql: COUNT });
}
