import type { Environment } from '../lib/scope.ts';
import type { OutboxMessage } from '../outbox/record.ts';

/** What `workflows/payment.ts` is started with: ids and numbers. */
export type PaymentInput = {
  attemptId: string;
  merchantId: string;
  environment: Environment;
  channel: string;
  /** The session's end, in ms since 1970. */
  expiresAtMs: number;
};

/** The columns a payment's workflow is started from. */
export type PaymentToStart = Omit<PaymentInput, 'expiresAtMs'> & { expiresAt: Date };

/** One workflow id per attempt, for its whole life. */
export function paymentWorkflowId(attemptId: string): string {
  return `payment-${attemptId}`;
}

/** Workflow type, id and input of an attempt, for every outbox message that may start its workflow. */
export function paymentWorkflow(
  payment: PaymentToStart,
): Pick<OutboxMessage, 'workflowType' | 'workflowId'> & { input: PaymentInput } {
  return {
    workflowType: 'payment',
    workflowId: paymentWorkflowId(payment.attemptId),
    input: {
      attemptId: payment.attemptId,
      merchantId: payment.merchantId,
      environment: payment.environment,
      channel: payment.channel,
      expiresAtMs: payment.expiresAt.getTime(),
    },
  };
}
