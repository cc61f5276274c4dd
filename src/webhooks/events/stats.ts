import type { z } from 'zod';

import { addisDay, DAY_MS, daysInRange } from '../../lib/dates.ts';
import { first, rows, type Queryable } from '../../lib/db.ts';
import type { DayRange } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import { DELIVERY_STATUSES } from '../delivery/states.ts';
import type { Counts, Stats } from './schema.ts';

type Group = z.output<typeof Counts> & {
  by: 'all' | 'event' | 'subscription' | 'day';
  event: string;
  subscriptionId: string;
  url: string;
  date: string;
};

/** Of a day without deliveries. */
const NONE = {
  deliveries: 0,
  attempted: 0,
  delivered: 0,
  failed: 0,
  retrying: 0,
  pending: 0,
  skipped: 0,
  attempts: 0,
  successRate: null,
};

/**
 * Statistics of the deliveries created in a range of days. Times in milliseconds; rates 0 … 1, null without a denominator.
 * Dead letters are all open ones, regardless of the range.
 */
export async function readStats(db: Queryable, scope: MerchantScope, range: DayRange): Promise<z.input<typeof Stats>> {
  const bindings = { ...scope, ...range };
  const groups = await rows<Group>(db, COUNTS, bindings);
  const failures = await rows<{ code: string; count: number }>(db, FAILURES, bindings);
  const totals = await first<Totals>(db, TOTALS, bindings);
  const { events, open, oldestAt, firstAttemptSuccessRate, ...latencyMs } = totals as Totals;
  const of = (by: Group['by']): Group[] => groups.filter((group) => group.by === by);
  return {
    range,
    totals: { events, ...(of('all')[0] ?? NONE), firstAttemptSuccessRate, latencyMs },
    byEvent: of('event'),
    bySubscription: of('subscription'),
    byDay: daysOf(range).map((date) => of('day').find((day) => day.date === date) ?? { date, ...NONE }),
    failures,
    deadLetters: { open, oldestAt },
  };
}

const IN_RANGE = `d.merchant_id = :merchantId AND d.environment = :environment
  AND d.created_at >= :from AND d.created_at < :until`;

/** All groupings in one pass over the range. */
const COUNTS = `
  WITH counted AS (
    SELECT d.event, d.subscription_id, CAST(CAST(d.created_at AT TIME ZONE interval '3 hours' AS date) AS text) AS date,
           d.status, d.attempts
    FROM webhook_delivery d WHERE ${IN_RANGE}
  ), grouped AS (
    SELECT CASE WHEN grouping(event) = 0 THEN 'event' WHEN grouping(subscription_id) = 0 THEN 'subscription'
                WHEN grouping(date) = 0 THEN 'day' ELSE 'all' END AS by,
           event, subscription_id, date,
           CAST(count(*) AS integer) AS deliveries,
           CAST(count(*) FILTER (WHERE attempts > 0) AS integer) AS attempted,
           ${DELIVERY_STATUSES.map(
             (status) => `CAST(count(*) FILTER (WHERE status = '${status}') AS integer) AS ${status.toLowerCase()},`,
           ).join('\n           ')}
           CAST(coalesce(sum(attempts), 0) AS integer) AS attempts
    FROM counted GROUP BY GROUPING SETS ((), (event), (subscription_id), (date))
  )
  SELECT g.*, CAST(g.delivered AS float8) / nullif(g.attempted, 0) AS success_rate, s.url
  FROM grouped g LEFT JOIN webhook_subscription s ON s.id = g.subscription_id
  ORDER BY g.by, g.event, g.subscription_id`;

const FAILURES = `
  SELECT a.failure ->> 'code' AS code, CAST(count(*) AS integer) AS count
  FROM webhook_delivery d JOIN webhook_attempt a ON a.delivery_id = d.id AND a.failure IS NOT NULL
  WHERE ${IN_RANGE}
  GROUP BY 1 ORDER BY 2 DESC, 1`;

type Latency = z.output<typeof Stats>['totals']['latencyMs'];
type Totals = Latency & { firstAttemptSuccessRate: number | null; events: number; open: number; oldestAt: Date | null };

const TOTALS = `
  SELECT attempts.*, dead_letters.*,
         (SELECT CAST(count(*) AS integer) FROM webhook_event d WHERE ${IN_RANGE}) AS events
  FROM (
    SELECT CAST(count(*) FILTER (WHERE a.sequence = 1 AND a.failure IS NULL) AS float8)
             / nullif(count(*) FILTER (WHERE a.sequence = 1), 0) AS first_attempt_success_rate,
           ${[50, 95, 99]
             .map(
               (n) =>
                 `percentile_disc(0.${n}) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.http_status IS NOT NULL) AS p${n}`,
             )
             .join(', ')}
    FROM webhook_delivery d JOIN webhook_attempt a ON a.delivery_id = d.id AND a.ended_at IS NOT NULL
    WHERE ${IN_RANGE}
  ) attempts, (
    SELECT CAST(count(*) AS integer) AS open, min(l.opened_at) AS oldest_at
    FROM webhook_dead_letter l
    WHERE l.merchant_id = :merchantId AND l.environment = :environment AND l.closed_at IS NULL
  ) dead_letters`;

/** The days of a range, as the caller writes them. */
function daysOf({ startDate, endDate, from }: DayRange): string[] {
  const days = Array.from({ length: daysInRange(startDate, endDate) }, (_, n) => new Date(from.getTime() + n * DAY_MS));
  return days.map(addisDay);
}
