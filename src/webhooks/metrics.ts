import { countBy, measureRow, type Registry } from '../http/metrics.ts';
import type { Knex } from '../lib/db.ts';
import type { AttemptReport } from './deliver.ts';

/** Both the API and the workers show these: the alert on them must not go blind with the workers. */
const LATE_GAUGES = {
  pastDueSeconds: {
    name: 'meskot_webhook_past_due_seconds',
    help: 'Seconds past due of the oldest delivery that is not final; 0 when none is late',
  },
  outboxSeconds: { name: 'meskot_outbox_age_seconds', help: 'Age of the oldest message that waits for Temporal' },
} as const;

const GAUGES = {
  open: { name: 'meskot_webhook_deliveries_open', help: 'Deliveries that are not final' },
  deadLetters: { name: 'meskot_webhook_dead_letters_open', help: 'Failed deliveries that nobody has resent' },
  outboxRows: { name: 'meskot_outbox_rows', help: 'Messages waiting to be brought to Temporal' },
} as const;

const OUTCOMES = ['delivered', 'retrying', 'failed', 'unsaved'] as const;

/**
 * Counts what each attempt made of its delivery: delivered; retrying; failed, a dead letter now; unsaved, sent, and to be
 * saved when the database is back. Attempts at which nothing was sent are none.
 */
export function countOutcomes(registry: Registry): (report: AttemptReport) => void {
  const count = countBy(registry, {
    name: 'meskot_webhook_deliveries_total',
    help: 'Deliveries by what an attempt made of them',
    label: 'outcome',
    values: OUTCOMES,
  });
  return (report) => {
    if (report.kind === 'over' || report.kind === 'busy') return;
    const outcome = report.kind === 'failed' && report.nextAttemptAtMs !== null ? 'retrying' : report.kind;
    count(outcome);
  };
}

const COUNT = `
  SELECT CAST(count(*) AS integer) AS open,
         (SELECT CAST(count(*) AS integer) FROM webhook_dead_letter WHERE closed_at IS NULL) AS dead_letters,
         (SELECT CAST(count(*) AS integer) FROM outbox) AS outbox_rows
  FROM webhook_delivery d WHERE d.status IN ('PENDING', 'RETRYING')`;

/** A bounded look at the beginning of an index each, however much is late: messages' ids sort by the time they were made. */
const LATE = `
  SELECT CAST(greatest(0, coalesce(extract(epoch FROM now() - (
           SELECT next_attempt_at FROM webhook_delivery WHERE status IN ('PENDING', 'RETRYING')
           ORDER BY next_attempt_at LIMIT 1)), 0)) AS float8) AS past_due_seconds,
         CAST(coalesce(extract(epoch FROM now() - (
           SELECT min(created_at) FROM (SELECT created_at FROM outbox ORDER BY id LIMIT 100) first)), 0) AS float8) AS outbox_seconds`;
const LATE_KEPT_MS = 3_000;

/** What to watch above all: the seconds past due of the oldest delivery that is not final, nothing excluded. */
export function measureLateDeliveries(registry: Registry, db: Knex): void {
  measureRow(registry, LATE_GAUGES, { db, sql: LATE, keptMs: LATE_KEPT_MS });
}

/** How much is open. Counted when somebody looks, in one statement over the open rows' own indexes. */
export function measureDeliveries(registry: Registry, db: Knex): void {
  measureLateDeliveries(registry, db);
  measureRow(registry, GAUGES, { db, sql: COUNT });
}
