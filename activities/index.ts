import { createPaymentActivities, type PaymentDeps } from './payments.ts';
import { createWebhookActivities, type WebhookDeps } from './webhooks.ts';
import { createWithdrawalActivities, type WithdrawalDeps } from './withdrawals.ts';

/** Everything that may fail and be retried, by noun; the worker gives each task queue what it needs. */
export function createActivities(deps: { payments: PaymentDeps; withdrawals: WithdrawalDeps; webhooks: WebhookDeps }) {
  return {
    payments: createPaymentActivities(deps.payments),
    withdrawals: createWithdrawalActivities(deps.withdrawals),
    webhooks: createWebhookActivities(deps.webhooks),
  };
}
