import type { WorkItemSource } from '../outbox/work-items.ts';
import { reportWorkflowId } from './workflow-input.ts';

/** Reports that should have been made by themselves: for a quarter of an hour no row of them was read. */
export const STALLED_REPORTS: WorkItemSource = {
  kinds: ['REPORT_PENDING'],
  sql: `SELECT 'REPORT_PENDING' AS kind, r.id, r.merchant_id, r.environment, NULL::bigint AS amount_santim,
               coalesce(r.progressed_at, r.requested_at) AS since,
               CASE r.status WHEN 'QUEUED' THEN 'Nobody has begun to make it'
                             ELSE 'It was begun, and does not go on' END AS what,
               jsonb_build_object('kind', r.kind, 'format', r.format, 'status', r.status, 'rowsDone', r.processed_rows,
                                  'rowsTotal', r.total_rows) AS detail,
               '${reportWorkflowId('')}' || r.id AS workflow_id
        FROM report r
        WHERE r.status IN ('QUEUED', 'RUNNING')
          AND coalesce(r.progressed_at, r.requested_at) < CAST(:at AS timestamptz) - interval '15 minutes'`,
};
