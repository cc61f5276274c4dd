import type { Environment } from '../lib/scope.ts';
import type { OutboxMessage } from '../outbox/record.ts';

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
