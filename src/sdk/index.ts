export type { Environment, SubscriptionTest, Transaction, WebhookEvent } from './webhook-events.ts';
export {
  verifyWebhook,
  WebhookVerificationError,
  type VerificationFailure,
  type VerifyOptions,
  type WebhookHeaders,
} from './verify-webhook.ts';
