import { measureRow, type Registry } from '../http/metrics.ts';
import type { Knex } from '../lib/db.ts';

const pending = { name: 'meskot_reports_pending', help: 'Reports that are QUEUED or RUNNING, by status' };

const GAUGES = {
  queued: { ...pending, labels: { status: 'QUEUED' } },
  running: { ...pending, labels: { status: 'RUNNING' } },
  oldest: {
    name: 'meskot_reports_oldest_stalled_seconds',
    help: 'Longest time since a pending report last read rows, or was requested; 0 when none is pending',
  },
} as const;

const COUNT = `
  SELECT CAST(count(*) FILTER (WHERE status = 'QUEUED') AS integer) AS queued,
         CAST(count(*) FILTER (WHERE status = 'RUNNING') AS integer) AS running,
         CAST(greatest(0, coalesce(extract(epoch FROM now() - min(coalesce(progressed_at, requested_at))), 0))
              AS double precision) AS oldest
  FROM report WHERE status IN ('QUEUED', 'RUNNING')`;

/** Gauges of pending reports, measured at each scrape. */
export function measureReports(registry: Registry, db: Knex): void {
  measureRow(registry, GAUGES, { db, sql: COUNT });
}
