import { measureRow, type Registry } from '../http/metrics.ts';
import type { Knex } from '../lib/db.ts';

const open = { name: 'meskot_reports_pending', help: 'Reports that are asked for and not there, by status' };

const GAUGES = {
  queued: { ...open, labels: { status: 'QUEUED' } },
  running: { ...open, labels: { status: 'RUNNING' } },
  oldest: {
    name: 'meskot_reports_oldest_stalled_seconds',
    help: 'Time since the slowest of them went on, or was asked for; 0 when none is open',
  },
} as const;

const COUNT = `
  SELECT CAST(count(*) FILTER (WHERE status = 'QUEUED') AS integer) AS queued,
         CAST(count(*) FILTER (WHERE status = 'RUNNING') AS integer) AS running,
         CAST(greatest(0, coalesce(extract(epoch FROM now() - min(coalesce(progressed_at, requested_at))), 0))
              AS double precision) AS oldest
  FROM report WHERE status IN ('QUEUED', 'RUNNING')`;

/** Reports that are waited for, and for how long one has stood still. Counted when somebody looks. */
export function measureReports(registry: Registry, db: Knex): void {
  measureRow(registry, GAUGES, { db, sql: COUNT });
}
