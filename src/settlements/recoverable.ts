import { rows, type Knex } from '../lib/db.ts';
import type { OpenPage, RecoverableWorkflow } from '../outbox/recoverable.ts';
import { settlementWorkflow, settlementWorkflowId, type SettlementInput } from './workflow-input.ts';

/**
 * Open settlements that have no outbox row, so must have a running workflow. Past due are those that the sandbox has not
 * decided, and those whose last day is over and not noted. Those of the last half minute are left out: Temporal's list
 * of workflows lags a little.
 */
export async function findRecoverableSettlements(
  db: Knex,
  { onlyPastDue, ...page }: OpenPage,
): Promise<RecoverableWorkflow[]> {
  const open = await rows<SettlementInput>(
    db,
    `SELECT s.id AS settlement_id, s.merchant_id, s.environment FROM settlement s
     WHERE s.id > :after AND s.status IN ('REQUESTED', 'APPROVED', 'PROCESSING')
       AND s.created_at < now() - interval '30 seconds'
       AND (NOT CAST(:onlyPastDue AS boolean) OR (s.status = 'REQUESTED' AND s.environment = 'sandbox')
         OR (s.overdue_at IS NULL AND s.expected_until < CAST(now() AT TIME ZONE 'Africa/Addis_Ababa' AS date)))
       AND NOT EXISTS (SELECT FROM outbox b WHERE b.workflow_id = CAST(:prefix AS text) || s.id)
     ORDER BY s.id LIMIT :limit`,
    { ...page, onlyPastDue, prefix: settlementWorkflowId('') },
  );
  return open.map((input) => ({
    id: input.settlementId,
    message: { kind: 'signalWithStart', signal: 'bankResultRecorded', ...settlementWorkflow(input) },
  }));
}
