import { measureRow, type Registry } from '../http/metrics.ts';
import type { Database } from '../lib/db.ts';
import type { Environment } from '../lib/scope.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import { findRecoverable } from '../outbox/recover-workflows.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';

/** The input of `workflows/report.ts`: ids only. */
export type ReportInput = { reportId: string; merchantId: string; environment: Environment };

export function reportWorkflowId(reportId: string): string {
  return `report-${reportId}`;
}

/** Starts the workflow of a report. A workflow that runs already ignores the signal. */
export function reportMessage({ reportId, merchantId, environment }: ReportInput): OutboxMessage {
  return {
    kind: 'signalWithStart',
    signal: 'ensureRunning',
    workflowType: 'report',
    workflowId: reportWorkflowId(reportId),
    input: { reportId, merchantId, environment },
  };
}

/** Also small ones whose process ended while it generated them. */
export const findRecoverableReports = findRecoverable<ReportInput>({
  columns: 'r.id AS report_id, r.merchant_id, r.environment',
  from: 'report r',
  id: 'r.id',
  isOpen: "r.status IN ('QUEUED', 'RUNNING')",
  changedAt: 'r.created_at',
  workflowId: `'${reportWorkflowId('')}' || r.id`,
  message: reportMessage,
});

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

export function measureReports(registry: Registry, db: Database): void {
  measureRow(registry, GAUGES, { db, sql: COUNT });
}

/** Pending reports of which no row was read for 15 minutes. */
export const STALLED_REPORTS: WorkItemSource = {
  kinds: ['REPORT_PENDING'],
  sql: `SELECT 'REPORT_PENDING' AS kind, r.id, r.merchant_id, r.environment, NULL::bigint AS amount_santim,
               coalesce(r.progressed_at, r.requested_at) AS since,
               CASE r.status WHEN 'QUEUED' THEN 'Generation has not started'
                             ELSE 'Generation has started and makes no progress' END AS what,
               jsonb_build_object('kind', r.kind, 'format', r.format, 'status', r.status, 'rowsDone', r.processed_rows,
                                  'rowsTotal', r.total_rows) AS detail,
               '${reportWorkflowId('')}' || r.id AS workflow_id
        FROM report r
        WHERE r.status IN ('QUEUED', 'RUNNING')
          AND coalesce(r.progressed_at, r.requested_at) < CAST(:at AS timestamptz) - interval '15 minutes'`,
};
