import { rows, type Knex } from '../lib/db.ts';
import type { Environment } from '../lib/scope.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import type { OpenPage, RecoverableWorkflow } from '../outbox/recoverable.ts';

/** What `workflows/settlement.ts` is started with: ids only. */
export type SettlementInput = { settlementId: string; merchantId: string; environment: Environment };

/** Why a settlement's workflow is woken; each signal only says "read the row again". */
export type SettlementSignal =
  | 'approved'
  | 'rejected'
  | 'cancelled'
  | 'sent'
  | 'bankResultRecorded'
  | 'calendarChanged';

/** One workflow for each settlement, under this id for life. */
export function settlementWorkflowId(settlementId: string): string {
  return `settlement-${settlementId}`;
}

/** Workflow type, id and input of a settlement, as every outbox message that may start its workflow needs them. */
export function settlementWorkflow(
  input: SettlementInput,
): Pick<OutboxMessage, 'workflowType' | 'workflowId' | 'priority'> & { input: SettlementInput } {
  const { settlementId, merchantId, environment } = input;
  return {
    workflowType: 'settlement',
    priority: 'money',
    workflowId: settlementWorkflowId(settlementId),
    input: { settlementId, merchantId, environment },
  };
}

/** Tells the workflow to read the row again. */
export function settlementMessage(settlementId: string, signal: SettlementSignal): OutboxMessage {
  return {
    kind: 'signal',
    workflowType: 'settlement',
    workflowId: settlementWorkflowId(settlementId),
    signal,
    priority: 'money',
  };
}

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
