export type { VerificationErrorCode } from './verify-webhook.ts';
export type {
  Environment,
  Refund,
  Settlement,
  SubscriptionTest,
  Transaction,
  WebhookEvent,
  Withdrawal,
} from './webhook-events.ts';
export { verifyWebhook, WebhookVerificationError, type VerifyOptions, type WebhookHeaders } from './verify-webhook.ts';
