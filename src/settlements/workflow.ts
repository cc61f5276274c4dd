import type { Environment } from '../lib/scope.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import { findRecoverable } from '../outbox/recover-workflows.ts';
import { IS_OPEN } from './states.ts';

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

export function settlementMessage(settlementId: string, signal: SettlementSignal): OutboxMessage {
  const workflowId = settlementWorkflowId(settlementId);
  return { kind: 'signal', workflowType: 'settlement', workflowId, signal, priority: 'money' };
}

/** Past due: not decided by the sandbox, or past the last expected day and not marked as overdue. */
export const findRecoverableSettlements = findRecoverable<SettlementInput>({
  columns: 's.id AS settlement_id, s.merchant_id, s.environment',
  from: 'settlement s',
  id: 's.id',
  isOpen: `s.${IS_OPEN}`,
  changedAt: 's.created_at',
  isPastDue: `(s.status = 'REQUESTED' AND s.environment = 'sandbox')
    OR (s.overdue_at IS NULL AND s.expected_until < CAST(now() AT TIME ZONE 'Africa/Addis_Ababa' AS date))`,
  workflowId: `'${settlementWorkflowId('')}' || s.id`,
  message: (input) => ({ kind: 'signalWithStart', signal: 'bankResultRecorded', ...settlementWorkflow(input) }),
});
