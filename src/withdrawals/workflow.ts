import type { MerchantScope } from '../lib/scope.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import { findRecoverable } from '../outbox/recover-workflows.ts';

/** What `workflows/withdrawal.ts` is started with: ids and numbers. */
export type WithdrawalInput = MerchantScope & { withdrawalId: string; channel: string };

/** Why a withdrawal's workflow is signalled; each signal means "read the row again". */
export type WithdrawalSignal = 'confirmed' | 'approved' | 'rejected' | 'cancelled' | 'providerResultRecorded';

export function withdrawalWorkflowId(withdrawalId: string): string {
  return `withdrawal-${withdrawalId}`;
}

/** Type, id and input of the workflow, for outbox messages that can start it. */
export function withdrawalWorkflow({ withdrawalId, merchantId, environment, channel }: WithdrawalInput) {
  const input: WithdrawalInput = { withdrawalId, merchantId, environment, channel };
  return {
    workflowType: 'withdrawal',
    priority: 'money',
    workflowId: withdrawalWorkflowId(withdrawalId),
    input,
  } as const;
}

export function withdrawalMessage(withdrawalId: string, signal: WithdrawalSignal): OutboxMessage {
  const workflowId = withdrawalWorkflowId(withdrawalId);
  return { kind: 'signal', workflowType: 'withdrawal', workflowId, signal, priority: 'money' };
}

/**
 * Past due are those never sent, those not queried within a poll interval (each as long as all before it, at most 30
 * minutes), and sandbox reviews.
 */
export const findRecoverableWithdrawals = findRecoverable<WithdrawalInput>({
  columns: 'w.id AS withdrawal_id, w.merchant_id, w.environment, w.channel',
  from: 'withdrawal w',
  id: 'w.id',
  isOpen: "w.status = 'PENDING'",
  changedAt: 'w.created_at',
  isPastDue: `CASE WHEN w.stage = 'AWAITING_CONFIRMATION' THEN false
    WHEN w.stage = 'UNDER_REVIEW' THEN w.environment = 'sandbox'
    WHEN w.last_checked_at IS NULL THEN true
    ELSE w.last_checked_at + least(w.last_checked_at - w.submitted_at, interval '30 minutes') < now() - interval '1 minute' END`,
  workflowId: `'${withdrawalWorkflowId('')}' || w.id`,
  message: (input) => ({ kind: 'signalWithStart', signal: 'providerResultRecorded', ...withdrawalWorkflow(input) }),
});
