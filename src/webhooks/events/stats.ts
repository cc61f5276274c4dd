import type { z } from 'zod';

import { addisDay, DAY_MS, startOfAddisDay } from '../../lib/dates.ts';
import { first, rows, type Queryable } from '../../lib/db.ts';
import type { DayRange } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
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
  const bindings = { ...scope, from: range.from, until: range.until };
  const groups = await countDeliveries(db, bindings);
  const { firstAttemptSuccessRate, ...latencyMs } = await readAttemptTotals(db, bindings);
  const failures = await countFailures(db, bindings);
  const { events, ...deadLetters } = await countEvents(db, bindings);
  const of = (by: Group['by']): Group[] => groups.filter((group) => group.by === by);
  const [all = NONE] = of('all');
  return {
    range: { startDate: range.startDate, endDate: range.endDate },
    totals: { events, ...all, firstAttemptSuccessRate, latencyMs },
    byEvent: of('event'),
    bySubscription: of('subscription'),
    byDay: daysOf(range).map((date) => of('day').find((day) => day.date === date) ?? { date, ...NONE }),
    failures,
    deadLetters,
  };
}

type Bindings = MerchantScope & { from: Date; until: Date };

const IN_RANGE = `d.merchant_id = :merchantId AND d.environment = :environment
  AND d.created_at >= :from AND d.created_at < :until`;

/** All groupings in one pass over the range. */
async function countDeliveries(db: Queryable, bindings: Bindings): Promise<Group[]> {
  return rows(
    db,
    `WITH counted AS (
       SELECT d.event, d.subscription_id, CAST(CAST(d.created_at AT TIME ZONE interval '3 hours' AS date) AS text) AS date,
              d.status, d.attempts
       FROM webhook_delivery d WHERE ${IN_RANGE}
     ), grouped AS (
       SELECT CASE WHEN grouping(event) = 0 THEN 'event' WHEN grouping(subscription_id) = 0 THEN 'subscription'
                   WHEN grouping(date) = 0 THEN 'day' ELSE 'all' END AS by,
              event, subscription_id, date,
              CAST(count(*) AS integer) AS deliveries,
              CAST(count(*) FILTER (WHERE attempts > 0) AS integer) AS attempted,
              CAST(count(*) FILTER (WHERE status = 'DELIVERED') AS integer) AS delivered,
              CAST(count(*) FILTER (WHERE status = 'FAILED') AS integer) AS failed,
              CAST(count(*) FILTER (WHERE status = 'RETRYING') AS integer) AS retrying,
              CAST(count(*) FILTER (WHERE status = 'PENDING') AS integer) AS pending,
              CAST(count(*) FILTER (WHERE status = 'SKIPPED') AS integer) AS skipped,
              CAST(coalesce(sum(attempts), 0) AS integer) AS attempts
       FROM counted GROUP BY GROUPING SETS ((), (event), (subscription_id), (date))
     )
     SELECT g.*, CAST(g.delivered AS float8) / nullif(g.attempted, 0) AS success_rate, s.url
     FROM grouped g LEFT JOIN webhook_subscription s ON s.id = g.subscription_id
     ORDER BY g.by, g.event, g.subscription_id`,
    bindings,
  );
}

type AttemptTotals = {
  firstAttemptSuccessRate: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
};

async function readAttemptTotals(db: Queryable, bindings: Bindings): Promise<AttemptTotals> {
  const totals = await first<AttemptTotals>(
    db,
    `SELECT CAST(count(*) FILTER (WHERE a.sequence = 1 AND a.failure IS NULL) AS float8)
              / nullif(count(*) FILTER (WHERE a.sequence = 1), 0) AS first_attempt_success_rate,
            percentile_disc(0.5) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.http_status IS NOT NULL) AS p50,
            percentile_disc(0.95) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.http_status IS NOT NULL) AS p95,
            percentile_disc(0.99) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.http_status IS NOT NULL) AS p99
     FROM webhook_delivery d JOIN webhook_attempt a ON a.delivery_id = d.id AND a.ended_at IS NOT NULL
     WHERE ${IN_RANGE}`,
    bindings,
  );
  return totals as AttemptTotals;
}

async function countFailures(db: Queryable, bindings: Bindings): Promise<{ code: string; count: number }[]> {
  return rows(
    db,
    `SELECT a.failure ->> 'code' AS code, CAST(count(*) AS integer) AS count
     FROM webhook_delivery d JOIN webhook_attempt a ON a.delivery_id = d.id AND a.failure IS NOT NULL
     WHERE ${IN_RANGE}
     GROUP BY 1 ORDER BY 2 DESC, 1`,
    bindings,
  );
}

type EventTotals = { events: number; open: number; oldestAt: Date | null };

async function countEvents(db: Queryable, bindings: Bindings): Promise<EventTotals> {
  const counted = await first<EventTotals>(
    db,
    `SELECT (SELECT CAST(count(*) AS integer) FROM webhook_event e
             WHERE e.merchant_id = :merchantId AND e.environment = :environment
               AND e.created_at >= :from AND e.created_at < :until) AS events,
            CAST(count(*) AS integer) AS open, min(l.opened_at) AS oldest_at
     FROM webhook_dead_letter l
     WHERE l.merchant_id = :merchantId AND l.environment = :environment AND l.closed_at IS NULL`,
    bindings,
  );
  return counted as EventTotals;
}

function daysOf(range: DayRange): string[] {
  const count = Math.round((range.until.getTime() - range.from.getTime()) / DAY_MS);
  const first = startOfAddisDay(range.startDate).getTime();
  return Array.from({ length: count }, (_, index) => addisDay(new Date(first + index * DAY_MS)));
}
