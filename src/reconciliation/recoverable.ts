import { rows, type Knex } from '../lib/db.ts';
import type { OpenPage, RecoverableWorkflow } from '../outbox/recoverable.ts';
import { requestMessage, reconciliationWorkflowId, type ChannelDay } from './workflow-input.ts';

/**
 * Days that were asked for and have not ended, without an outbox row, so must have a running workflow. They are few: all
 * are compared each time. Those of the last half minute are left out: Temporal's list of workflows lags a little.
 */
export async function findRecoverableRuns(db: Knex, { after, limit }: OpenPage): Promise<RecoverableWorkflow[]> {
  const open = await rows<ChannelDay & { id: string }>(
    db,
    `SELECT r.id, r.environment, r.channel, CAST(r.day AS text) AS day FROM reconciliation r
     WHERE r.id > :after AND r.is_running AND r.requested_at < now() - interval '30 seconds'
       AND NOT EXISTS (SELECT FROM outbox b WHERE b.workflow_id = CAST(:prefix AS text) || r.id)
     ORDER BY r.id LIMIT :limit`,
    { after, limit, prefix: reconciliationWorkflowId('') },
  );
  return open.map(({ id, ...day }) => ({ id, message: requestMessage(day) }));
}
