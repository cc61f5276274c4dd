import { rows, type Queryable } from '../lib/db.ts';
import type { Environment } from '../lib/scope.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import type { OpenPage, RecoverableWorkflow } from '../outbox/recover-workflows.ts';

/** What `workflows/settlement.ts` is started with: ids only. */
export type SettlementInput = { settlementId: string; merchantId: string; environment: Environment };

/** The signals of a settlement's workflow. Each makes it read the row again. */
export type SettlementSignal =
  | 'approved'
  | 'rejected'
  | 'cancelled'
  | 'sent'
  | 'bankResultRecorded'
  | 'calendarChanged';

export function settlementWorkflowId(settlementId: string): string {
  return `settlement-${settlementId}`;
}

/** Type, id and input of a settlement's workflow, for outbox messages that may start it. */
export function settlementWorkflow({ settlementId, merchantId, environment }: SettlementInput) {
  const workflowId = settlementWorkflowId(settlementId);
  const input = { settlementId, merchantId, environment } satisfies SettlementInput;
  return { workflowType: 'settlement', priority: 'money', workflowId, input } as const;
}

/** The outbox message that signals a settlement's workflow. */
export function settlementMessage(settlementId: string, signal: SettlementSignal): OutboxMessage {
  const workflowId = settlementWorkflowId(settlementId);
  return { kind: 'signal', workflowType: 'settlement', workflowId, signal, priority: 'money' };
}

/**
 * Open settlements without an outbox row, which must have a running workflow. Past due: not decided by the sandbox, or past
 * the last expected day and not marked as overdue. Skips those of the last 30 s, since Temporal's list of workflows lags.
 */
export async function findRecoverableSettlements(
  db: Queryable,
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
