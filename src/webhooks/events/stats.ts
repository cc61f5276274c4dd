import { addisDay, DAY_MS, startOfAddisDay } from '../../lib/dates.ts';
import { rows, type Queryable } from '../../lib/db.ts';
import type { DayRange } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';

type Counts = {
  deliveries: number;
  attempted: number;
  delivered: number;
  failed: number;
  retrying: number;
  pending: number;
  skipped: number;
  attempts: number;
};
type CountRow = Counts & { by: 'all' | 'event' | 'subscription' | 'day'; key: string | null; url: string | null };
type AttemptTotals = {
  firstAttempts: number;
  firstSuccesses: number;
  p50: number | null;
  p95: number | null;
  p99: number | null;
};

const NONE: Counts = {
  deliveries: 0,
  attempted: 0,
  delivered: 0,
  failed: 0,
  retrying: 0,
  pending: 0,
  skipped: 0,
  attempts: 0,
};

/**
 * Statistics of the deliveries created in a range of days. Times in milliseconds; rates 0 … 1, null without a denominator.
 * Dead letters are all open ones, regardless of the range.
 */
export async function readStats(db: Queryable, scope: MerchantScope, range: DayRange) {
  const bindings = { ...scope, from: range.from, until: range.until };
  const counted = await countDeliveries(db, bindings);
  const attempts = await readAttemptTotals(db, bindings);
  const failures = await countFailures(db, bindings);
  const { events, open, oldestAt } = await countEvents(db, bindings);
  const of = (by: CountRow['by']): CountRow[] => counted.filter((row) => row.by === by);
  const [all] = of('all');
  return {
    range: { startDate: range.startDate, endDate: range.endDate },
    totals: {
      events,
      ...countsOf(all),
      firstAttemptSuccessRate: ratio(attempts.firstSuccesses, attempts.firstAttempts),
      latencyMs: { p50: attempts.p50, p95: attempts.p95, p99: attempts.p99 },
    },
    byEvent: of('event').map((row) => ({ event: String(row.key), ...countsOf(row) })),
    bySubscription: of('subscription').map((row) => ({
      subscriptionId: String(row.key),
      url: String(row.url),
      ...countsOf(row),
    })),
    byDay: daysOf(range).map((date) => ({ date, ...countsOf(of('day').find((row) => row.key === date)) })),
    failures,
    deadLetters: { open, oldestAt: oldestAt && oldestAt.toISOString() },
  };
}

type Bindings = MerchantScope & { from: Date; until: Date };

const IN_RANGE = `d.merchant_id = :merchantId AND d.environment = :environment
  AND d.created_at >= :from AND d.created_at < :until`;

/** All groupings in one pass over the range. */
async function countDeliveries(db: Queryable, bindings: Bindings): Promise<CountRow[]> {
  return rows(
    db,
    `WITH counted AS (
       SELECT d.event, d.subscription_id, CAST(CAST(d.created_at AT TIME ZONE interval '3 hours' AS date) AS text) AS day,
              d.status, d.attempts
       FROM webhook_delivery d WHERE ${IN_RANGE}
     ), grouped AS (
       SELECT CASE WHEN grouping(event) = 0 THEN 'event' WHEN grouping(subscription_id) = 0 THEN 'subscription'
                   WHEN grouping(day) = 0 THEN 'day' ELSE 'all' END AS by,
              coalesce(event, subscription_id, day) AS key,
              CAST(count(*) AS integer) AS deliveries,
              CAST(count(*) FILTER (WHERE attempts > 0) AS integer) AS attempted,
              CAST(count(*) FILTER (WHERE status = 'DELIVERED') AS integer) AS delivered,
              CAST(count(*) FILTER (WHERE status = 'FAILED') AS integer) AS failed,
              CAST(count(*) FILTER (WHERE status = 'RETRYING') AS integer) AS retrying,
              CAST(count(*) FILTER (WHERE status = 'PENDING') AS integer) AS pending,
              CAST(count(*) FILTER (WHERE status = 'SKIPPED') AS integer) AS skipped,
              CAST(coalesce(sum(attempts), 0) AS integer) AS attempts
       FROM counted GROUP BY GROUPING SETS ((), (event), (subscription_id), (day))
     )
     SELECT g.*, s.url FROM grouped g LEFT JOIN webhook_subscription s ON g.by = 'subscription' AND s.id = g.key
     ORDER BY g.by, g.key`,
    bindings,
  );
}

async function readAttemptTotals(db: Queryable, bindings: Bindings): Promise<AttemptTotals> {
  const [totals] = await rows<AttemptTotals>(
    db,
    `SELECT CAST(count(*) FILTER (WHERE a.sequence = 1) AS integer) AS first_attempts,
            CAST(count(*) FILTER (WHERE a.sequence = 1 AND a.failure IS NULL) AS integer) AS first_successes,
            percentile_disc(0.5) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.http_status IS NOT NULL) AS p50,
            percentile_disc(0.95) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.http_status IS NOT NULL) AS p95,
            percentile_disc(0.99) WITHIN GROUP (ORDER BY a.duration_ms) FILTER (WHERE a.http_status IS NOT NULL) AS p99
     FROM webhook_delivery d JOIN webhook_attempt a ON a.delivery_id = d.id AND a.ended_at IS NOT NULL
     WHERE ${IN_RANGE}`,
    bindings,
  );
  return totals ?? { firstAttempts: 0, firstSuccesses: 0, p50: null, p95: null, p99: null };
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

async function countEvents(db: Queryable, bindings: Bindings) {
  const [counted] = await rows<{ events: number; open: number; oldestAt: Date | null }>(
    db,
    `SELECT (SELECT CAST(count(*) AS integer) FROM webhook_event e
             WHERE e.merchant_id = :merchantId AND e.environment = :environment
               AND e.created_at >= :from AND e.created_at < :until) AS events,
            CAST(count(*) AS integer) AS open, min(l.opened_at) AS oldest_at
     FROM webhook_dead_letter l
     WHERE l.merchant_id = :merchantId AND l.environment = :environment AND l.closed_at IS NULL`,
    bindings,
  );
  return counted ?? { events: 0, open: 0, oldestAt: null };
}

function countsOf(row: Counts = NONE) {
  const { deliveries, attempted, delivered, failed, retrying, pending, skipped, attempts } = row;
  const successRate = ratio(delivered, attempted);
  return { deliveries, attempted, delivered, failed, retrying, pending, skipped, attempts, successRate };
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function daysOf(range: DayRange): string[] {
  const count = Math.round((range.until.getTime() - range.from.getTime()) / DAY_MS);
  const first = startOfAddisDay(range.startDate).getTime();
  return Array.from({ length: count }, (_, index) => addisDay(new Date(first + index * DAY_MS)));
}
