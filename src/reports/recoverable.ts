import { rows, type Knex } from '../lib/db.ts';
import type { OpenPage, RecoverableWorkflow } from '../outbox/recoverable.ts';
import { reportMessage, reportWorkflowId, type ReportInput } from './workflow-input.ts';

/**
 * Reports that are asked for and not there, and have no outbox row. They are few: all are compared each time. A small
 * one whose maker was killed is among them: it gets a workflow then. Those of the last half minute are left out:
 * Temporal's list of workflows lags a little, and small ones are being made.
 */
export async function findRecoverableReports(db: Knex, { after, limit }: OpenPage): Promise<RecoverableWorkflow[]> {
  const open = await rows<ReportInput>(
    db,
    `SELECT r.id AS report_id, r.merchant_id, r.environment FROM report r
     WHERE r.id > :after AND r.status IN ('QUEUED', 'RUNNING') AND r.created_at < now() - interval '30 seconds'
       AND NOT EXISTS (SELECT FROM outbox b WHERE b.workflow_id = CAST(:prefix AS text) || r.id)
     ORDER BY r.id LIMIT :limit`,
    { after, limit, prefix: reportWorkflowId('') },
  );
  return open.map((input) => ({ id: input.reportId, message: reportMessage(input) }));
}
