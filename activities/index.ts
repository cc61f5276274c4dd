import { createPaymentActivities, type PaymentDeps } from './payments.ts';
import { createWebhookActivities, type WebhookDeps } from './webhooks.ts';

/** Everything that may fail and be retried, by noun; the worker gives each task queue what it needs. */
export function createActivities(deps: { payments: PaymentDeps; webhooks: WebhookDeps }) {
  return {
    payments: createPaymentActivities(deps.payments),
    webhooks: createWebhookActivities(deps.webhooks),
  };
}
