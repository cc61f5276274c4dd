import type { Environment } from '../lib/scope.ts';
import type { OutboxMessage } from '../outbox/record.ts';

/** What `workflows/withdrawal.ts` is started with: ids and numbers. */
export type WithdrawalInput = {
  withdrawalId: string;
  merchantId: string;
  environment: Environment;
  channel: string;
};

/** Why a withdrawal's workflow is woken; each signal only says "read the row again". */
export type WithdrawalSignal = 'approved' | 'rejected' | 'cancelled' | 'providerResultRecorded';

/** One workflow for each withdrawal, under this id for life. */
export function withdrawalWorkflowId(withdrawalId: string): string {
  return `withdrawal-${withdrawalId}`;
}

/** Workflow type, id and input of a withdrawal, as every outbox message that may start its workflow needs them. */
export function withdrawalWorkflow(
  input: WithdrawalInput,
): Pick<OutboxMessage, 'workflowType' | 'workflowId' | 'priority'> & { input: WithdrawalInput } {
  const { withdrawalId, merchantId, environment, channel } = input;
  return {
    workflowType: 'withdrawal',
    priority: 'money',
    workflowId: withdrawalWorkflowId(withdrawalId),
    input: { withdrawalId, merchantId, environment, channel },
  };
}

/** Tells the workflow to read the row again. */
export function withdrawalMessage(withdrawalId: string, signal: WithdrawalSignal): OutboxMessage {
  return {
    kind: 'signal',
    workflowType: 'withdrawal',
    workflowId: withdrawalWorkflowId(withdrawalId),
    signal,
    priority: 'money',
  };
}
