import { measureRow, type Registry } from '../http/metrics.ts';
import type { Database } from '../lib/db.ts';

const open = { name: 'meskot_settlements_pending', help: 'Settlements that have not ended, by status' };

const GAUGES = {
  requested: { ...open, labels: { status: 'REQUESTED' } },
  approved: { ...open, labels: { status: 'APPROVED' } },
  processing: { ...open, labels: { status: 'PROCESSING' } },
  overdue: { name: 'meskot_settlements_overdue', help: 'Open settlements past their last expected day' },
} as const;

const COUNT = `
  SELECT CAST(count(*) FILTER (WHERE status = 'REQUESTED') AS integer) AS requested,
         CAST(count(*) FILTER (WHERE status = 'APPROVED') AS integer) AS approved,
         CAST(count(*) FILTER (WHERE status = 'PROCESSING') AS integer) AS processing,
         CAST(count(*) FILTER (WHERE overdue_at IS NOT NULL) AS integer) AS overdue
  FROM settlement WHERE status IN ('REQUESTED', 'APPROVED', 'PROCESSING')`;

/** Gauges of open and of overdue settlements (normally 0), counted at each scrape. */
export function measureSettlements(registry: Registry, db: Database): void {
  measureRow(registry, GAUGES, { db, sql: COUNT });
}
