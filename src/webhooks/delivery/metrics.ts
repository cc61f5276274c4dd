import { Counter } from 'prom-client';

import { measureRow, type Registry } from '../../http/metrics.ts';
import { first, type Database, type Queryable } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import type { AttemptOutcome } from './attempt.ts';
import { isQueued, isScheduled, subscriptionsWith } from './in-flight.ts';
import type { DeliveryNow } from './record-attempt.ts';

/** Exposed by the API too: the alert on them must work when no worker runs. */
const LATE_GAUGES = {
  pastDueSeconds: {
    name: 'meskot_webhook_oldest_overdue_seconds',
    help: 'Seconds past due of the oldest delivery that is not final; 0 when none is late',
  },
  outboxSeconds: {
    name: 'meskot_outbox_oldest_age_seconds',
    help: 'Age of the oldest message that waits for Temporal',
  },
} as const;

/** Of workflows that operators only look at, so it is no part of what is late. */
const OLDEST_START = {
  seconds: {
    name: 'meskot_webhook_workflow_starts_oldest_age_seconds',
    help: 'Age of the oldest delivered event whose workflow waits to be started',
  },
} as const;

const WAITING_STARTS = {
  count: {
    name: 'meskot_webhook_workflow_starts_pending',
    help: 'Delivered events whose workflow waits to be started',
  },
} as const;

const GAUGES = {
  open: { name: 'meskot_webhook_deliveries_pending', help: 'Deliveries that are not final' },
  deadLetters: {
    name: 'meskot_webhook_dead_letters_pending',
    help: 'Failed deliveries without a successful resend or a dismissal',
  },
  outboxRows: { name: 'meskot_outbox_pending', help: 'Messages that wait to be sent to Temporal' },
} as const;

/** Counts recorded attempts by the state of the delivery after them: delivered, retrying, or failed without a retry. */
export function countOutcomes(registry: Registry): (now: DeliveryNow, outcome: Pick<AttemptOutcome, 'ok'>) => void {
  const counter = new Counter({
    name: 'meskot_webhook_deliveries_total',
    help: 'Recorded attempts by the state of the delivery after them',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // A state that has not occurred is 0, not absent.
  for (const outcome of ['delivered', 'retrying', 'failed']) counter.inc({ outcome }, 0);
  return ({ status }, { ok }) =>
    counter.inc({ outcome: ok ? 'delivered' : status === 'RETRYING' ? 'retrying' : 'failed' });
}

const COUNT = `
  SELECT (SELECT CAST(count(*) AS integer) FROM webhook_delivery d WHERE ${isQueued('d')})
         + (SELECT CAST(count(*) AS integer) FROM webhook_delivery d WHERE ${isScheduled('d')}) AS open,
         (SELECT CAST(count(*) AS integer) FROM webhook_dead_letter
          WHERE closed_at IS NULL AND dismissed_at IS NULL) AS dead_letters,
         (SELECT CAST(count(*) AS integer) FROM outbox) AS outbox_rows`;

/** In SQL: when the first delivery of each of these subscriptions is due, in the order of an index. */
const firstOfEach = (subscriptions: string, condition: string, order: string): string => `
  SELECT (SELECT d.next_attempt_at FROM webhook_delivery d
          WHERE ${condition} AND d.subscription_id = w.subscription_id ORDER BY ${order} LIMIT 1) AS due_at
  FROM ${subscriptions} w`;

/**
 * Reads a bounded number of rows at the beginning of each index, however many are late: the oldest of each subscription's
 * queue, and of messages the first ids, which sort by time of creation.
 */
const LATE = `
  WITH RECURSIVE ${subscriptionsWith('queued', isQueued('d'))}, ${subscriptionsWith('scheduled', isScheduled('d'))},
  oldest AS (${firstOfEach('queued', isQueued('d'), 'd.id')}
    UNION ALL ${firstOfEach('scheduled', isScheduled('d'), 'd.next_attempt_at')})
  SELECT CAST(greatest(0, coalesce(extract(epoch FROM now() - (SELECT min(due_at) FROM oldest)), 0)) AS float8) AS past_due_seconds,
         CAST(coalesce(extract(epoch FROM now() - (
           SELECT min(created_at) FROM (SELECT created_at FROM outbox ORDER BY id LIMIT 100) first)), 0) AS float8) AS outbox_seconds`;
const LATE_CACHED_MS = 3_000;

const OLDEST = `
  SELECT CAST(coalesce(extract(epoch FROM now() - (
    SELECT created_at FROM webhook_workflow_start ORDER BY delivery_id LIMIT 1)), 0) AS float8) AS seconds`;
const COUNT_STARTS = 'SELECT CAST(count(*) AS integer) AS count FROM webhook_workflow_start';
/** There may be a million. */
const STARTS_CACHED_MS = 60_000;

/** The age of the oldest overdue delivery and message, and of the oldest workflow that waits to be started. */
export function measureLateDeliveries(registry: Registry, db: Database): void {
  measureRow(registry, LATE_GAUGES, { db, sql: LATE, cachedMs: LATE_CACHED_MS });
  measureRow(registry, OLDEST_START, { db, sql: OLDEST, cachedMs: LATE_CACHED_MS });
}

type DeliveryFigures = Record<keyof typeof GAUGES | keyof typeof LATE_GAUGES, number>;

/** The same figures for operators. */
export async function readDeliveryFigures(db: Queryable): Promise<DeliveryFigures> {
  return found(await first<DeliveryFigures>(db, `SELECT * FROM (${COUNT}) counted, (${LATE}) late`), 'figures');
}

/** Deliveries, dead letters, messages and starts of workflows that are open. Counted on request, over their indexes. */
export function measureDeliveries(registry: Registry, db: Database): void {
  measureLateDeliveries(registry, db);
  measureRow(registry, GAUGES, { db, sql: COUNT });
  measureRow(registry, WAITING_STARTS, { db, sql: COUNT_STARTS, cachedMs: STARTS_CACHED_MS });
}
