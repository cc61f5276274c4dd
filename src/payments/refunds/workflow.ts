import { rows } from '../../lib/db.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { OutboxMessage, UnitOfWork } from '../../outbox/record.ts';
import { findRecoverable } from '../../outbox/recover-workflows.ts';

/** What `workflows/refund.ts` is started with: ids. */
export type RefundInput = MerchantScope & { refundId: string; channel: string };

export function refundWorkflowId(refundId: string): string {
  return `refund-${refundId}`;
}

/** Type, id and input of the workflow, for outbox messages that can start it. */
export function refundWorkflow({ refundId, merchantId, environment, channel }: RefundInput) {
  const input: RefundInput = { refundId, merchantId, environment, channel };
  return { workflowType: 'refund', priority: 'money', workflowId: refundWorkflowId(refundId), input } as const;
}

/** The signal after a change outside of the workflow: "read the row again". */
export function refundChanged(refundId: string): OutboxMessage {
  const workflowId = refundWorkflowId(refundId);
  return { kind: 'signal', workflowType: 'refund', workflowId, signal: 'refundUpdated', priority: 'money' };
}

/** Signals the workflows of refunds that were not sent while the merchant was suspended. */
export async function resumeUnsentRefunds(tx: UnitOfWork, merchantId: string): Promise<void> {
  const sql = `SELECT id FROM refund WHERE merchant_id = :merchantId AND status = 'PENDING' AND stage = 'CREATED'`;
  const unsent = await rows<{ id: string }>(tx.trx, sql, { merchantId });
  await tx.enqueue(unsent.map(({ id }) => refundChanged(id)));
}

/**
 * Past due are those not confirmed in time, those never sent, and those not queried within a poll interval (each as long as
 * all before it, at most 30 minutes).
 */
export const findRecoverableRefunds = findRecoverable<RefundInput>({
  columns: 'r.id AS refund_id, r.merchant_id, r.environment, r.channel',
  from: 'refund r',
  id: 'r.id',
  isOpen: "r.status = 'PENDING'",
  changedAt: 'r.created_at',
  isPastDue: `CASE WHEN r.stage = 'AWAITING_CONFIRMATION' THEN r.requested_at < now() - interval '7 days 1 hour'
    WHEN r.last_checked_at IS NULL THEN true
    ELSE r.last_checked_at + least(r.last_checked_at - r.submitted_at, interval '30 minutes') < now() - interval '1 minute' END`,
  workflowId: `'${refundWorkflowId('')}' || r.id`,
  message: (input) => ({ kind: 'signalWithStart', signal: 'refundUpdated', ...refundWorkflow(input) }),
});
