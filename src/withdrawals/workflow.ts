import { rows, type Knex } from '../lib/db.ts';
import type { Environment } from '../lib/scope.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import type { OpenPage, RecoverableWorkflow } from '../outbox/recoverable.ts';

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

/**
 * PENDING withdrawals that have no outbox row, so must have a running workflow. Past due are those that were never sent,
 * that were not asked about for longer than between two polls (each as long as all before it, at most 30 minutes), and
 * that the sandbox has not decided. Those of the last half minute are left out: Temporal's list of workflows lags a
 * little.
 */
export async function findRecoverableWithdrawals(
  db: Knex,
  { onlyPastDue, ...page }: OpenPage,
): Promise<RecoverableWorkflow[]> {
  const open = await rows<WithdrawalInput>(
    db,
    `SELECT w.id AS withdrawal_id, w.merchant_id, w.environment, w.channel FROM withdrawal w
     WHERE w.id > :after AND w.status = 'PENDING' AND w.created_at < now() - interval '30 seconds'
       AND (NOT CAST(:onlyPastDue AS boolean) OR CASE
         WHEN w.stage = 'UNDER_REVIEW' THEN w.environment = 'sandbox'
         WHEN w.last_checked_at IS NULL THEN true
         ELSE w.last_checked_at + least(w.last_checked_at - w.submitted_at, interval '30 minutes')
           < now() - interval '1 minute' END)
       AND NOT EXISTS (SELECT FROM outbox b WHERE b.workflow_id = CAST(:prefix AS text) || w.id)
     ORDER BY w.id LIMIT :limit`,
    { ...page, onlyPastDue, prefix: withdrawalWorkflowId('') },
  );
  return open.map((input) => ({
    id: input.withdrawalId,
    message: { kind: 'signalWithStart', signal: 'providerResultRecorded', ...withdrawalWorkflow(input) },
  }));
}
