import type { Environment } from '../lib/scope.ts';
import { findRecoverable } from '../outbox/recover-workflows.ts';

/** The input of `workflows/payment.ts`: ids, numbers, and the merchant's name for the Temporal UI. */
export type PaymentInput = {
  attemptId: string;
  merchantId: string;
  environment: Environment;
  channel: string;
  checkoutOrderNo: string;
  merchantName: string;
  /** The session's end, in ms since 1970. */
  expiresAtMs: number;
};

/** One workflow id per attempt, for its whole life. */
export function paymentWorkflowId(attemptId: string): string {
  return `payment-${attemptId}`;
}

/** Workflow type, id and input of an attempt, for every outbox message that may start its workflow. */
export function paymentWorkflow({ expiresAt, ...ids }: Omit<PaymentInput, 'expiresAtMs'> & { expiresAt: Date }) {
  const input: PaymentInput = { ...ids, expiresAtMs: expiresAt.getTime() };
  return { workflowType: 'payment', workflowId: paymentWorkflowId(ids.attemptId), input };
}

/**
 * Past due: not queried for longer than the interval between two polls (a minute; after the session's end the time since
 * then, at most 30 minutes).
 */
export const findRecoverableAttempts = findRecoverable<Parameters<typeof paymentWorkflow>[0]>({
  columns: `a.id AS attempt_id, a.merchant_id, a.environment, a.channel, s.expires_at, t.checkout_order_no,
    m.name AS merchant_name`,
  from: `payment_attempt a JOIN checkout_session s ON s.id = a.session_id JOIN transaction t ON t.id = a.transaction_id
    JOIN merchant m ON m.id = a.merchant_id`,
  id: 'a.id',
  isOpen: "a.status IN ('CREATED', 'PENDING')",
  changedAt: 'a.created_at',
  isPastDue: `coalesce(a.last_checked_at, a.created_at)
    + least(greatest(a.last_checked_at - s.expires_at, interval '1 minute'), interval '30 minutes') < now() - interval '1 minute'`,
  workflowId: `'${paymentWorkflowId('')}' || a.id`,
  message: (payment) => ({ kind: 'signalWithStart', signal: 'attemptUpdated', ...paymentWorkflow(payment) }),
});
