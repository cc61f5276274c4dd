import { type Database, rows } from '../lib/db.ts';
import type { Environment } from '../lib/scope.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import type { OpenPage, RecoverableWorkflow } from '../outbox/recoverable.ts';

/** The input of `workflows/report.ts`: ids only. */
export type ReportInput = { reportId: string; merchantId: string; environment: Environment };

/** Each report has one workflow, under this id for life. */
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

/**
 * Pending reports without an outbox row, to compare with Temporal's list of workflows; also small ones whose process
 * ended while it generated them. Reports of the last 30 seconds are skipped: Temporal's list lags a little, and small
 * reports are being generated.
 */
export async function findRecoverableReports(db: Database, { after, limit }: OpenPage): Promise<RecoverableWorkflow[]> {
  const pending = await rows<ReportInput>(
    db,
    `SELECT r.id AS report_id, r.merchant_id, r.environment FROM report r
     WHERE r.id > :after AND r.status IN ('QUEUED', 'RUNNING') AND r.created_at < now() - interval '30 seconds'
       AND NOT EXISTS (SELECT FROM outbox b WHERE b.workflow_id = CAST(:prefix AS text) || r.id)
     ORDER BY r.id LIMIT :limit`,
    { after, limit, prefix: reportWorkflowId('') },
  );
  return pending.map((input) => ({ id: input.reportId, message: reportMessage(input) }));
}
