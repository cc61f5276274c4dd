import { countBy, countUp, measureRow, type Registry } from '../http/metrics.ts';
import type { Knex } from '../lib/db.ts';
import type { AttemptReport } from './deliver.ts';

const GAUGES = {
  pastDueSeconds: {
    name: 'meskot_webhook_past_due_seconds',
    help: 'Seconds past due of the oldest delivery that is not final; 0 when none is late',
  },
  open: { name: 'meskot_webhook_deliveries_open', help: 'Deliveries that are not final' },
  deadLetters: { name: 'meskot_webhook_dead_letters_open', help: 'Failed deliveries that nobody has resent' },
  outboxRows: { name: 'meskot_outbox_rows', help: 'Messages waiting to be brought to Temporal' },
  outboxSeconds: { name: 'meskot_outbox_age_seconds', help: 'Age of the oldest of them' },
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

/** Counts deliveries whose workflow was never started: they were made, and it would only have shown them. */
export function countSkippedWorkflows(registry: Registry): (skipped: number) => void {
  return countUp(registry, {
    name: 'meskot_webhook_workflows_skipped_total',
    help: 'Delivered events whose workflow was not started, for other things were more urgent',
  });
}

const COUNT = `
  SELECT CAST(greatest(0, coalesce(extract(epoch FROM now() - min(d.next_attempt_at)), 0)) AS float8) AS past_due_seconds,
         CAST(count(*) AS integer) AS open,
         (SELECT CAST(count(*) AS integer) FROM webhook_dead_letter WHERE closed_at IS NULL) AS dead_letters,
         (SELECT CAST(count(*) AS integer) FROM outbox) AS outbox_rows,
         (SELECT CAST(coalesce(extract(epoch FROM now() - min(created_at)), 0) AS float8) FROM outbox) AS outbox_seconds
  FROM webhook_delivery d WHERE d.status IN ('PENDING', 'RETRYING')`;

/**
 * What to watch: above all the seconds past due of the oldest delivery that is not final, nothing excluded. Counted
 * when somebody looks, in one statement over the open rows' own indexes.
 */
export function measureDeliveries(registry: Registry, db: Knex): void {
  measureRow(registry, GAUGES, { db, sql: COUNT });
}
