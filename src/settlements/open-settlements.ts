import { rows, type Knex } from '../lib/db.ts';
import type { OpenProcess } from '../lib/open-process.ts';
import { settlementWorkflow, settlementWorkflowId, type SettlementInput } from './workflow-input.ts';

/**
 * Open settlements that have no outbox row, so must have a running workflow: `limit` of them after an id, in its order.
 * Those of the last half minute are left out: Temporal's list of workflows lags a little.
 */
export async function openSettlements(db: Knex, after: string, limit: number): Promise<OpenProcess[]> {
  const open = await rows<SettlementInput>(
    db,
    `SELECT s.id AS settlement_id, s.merchant_id, s.environment FROM settlement s
     WHERE s.id > :after AND s.status IN ('REQUESTED', 'APPROVED', 'PROCESSING')
       AND s.created_at < now() - interval '30 seconds'
       AND NOT EXISTS (SELECT FROM outbox b WHERE b.workflow_id = CAST(:prefix AS text) || s.id)
     ORDER BY s.id LIMIT :limit`,
    { after, limit, prefix: settlementWorkflowId('') },
  );
  return open.map((input) => ({
    id: input.settlementId,
    wake: { kind: 'signalWithStart', signal: 'bankAnswered', ...settlementWorkflow(input) },
  }));
}
