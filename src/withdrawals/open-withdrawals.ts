import { rows, type Knex } from '../lib/db.ts';
import type { OpenProcess } from '../lib/open-process.ts';
import { withdrawalWorkflow, withdrawalWorkflowId, type WithdrawalInput } from './workflow-input.ts';

/**
 * PENDING withdrawals that have no outbox row, so must have a running workflow: `limit` of them after an id, in its
 * order. Those of the last half minute are left out: Temporal's list of workflows lags a little.
 */
export async function openWithdrawals(db: Knex, after: string, limit: number): Promise<OpenProcess[]> {
  const open = await rows<WithdrawalInput>(
    db,
    `SELECT w.id AS withdrawal_id, w.merchant_id, w.environment, w.channel FROM withdrawal w
     WHERE w.id > :after AND w.status = 'PENDING' AND w.created_at < now() - interval '30 seconds'
       AND NOT EXISTS (SELECT FROM outbox b WHERE b.workflow_id = CAST(:prefix AS text) || w.id)
     ORDER BY w.id LIMIT :limit`,
    { after, limit, prefix: withdrawalWorkflowId('') },
  );
  return open.map((input) => ({
    id: input.withdrawalId,
    wake: { kind: 'signalWithStart', signal: 'providerAnswered', ...withdrawalWorkflow(input) },
  }));
}
