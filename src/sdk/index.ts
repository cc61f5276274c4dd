export type { VerificationErrorCode } from './diagnose.ts';
export type {
  Environment,
  Settlement,
  SubscriptionTest,
  Transaction,
  WebhookEvent,
  Withdrawal,
} from './webhook-events.ts';
export { verifyWebhook, WebhookVerificationError, type VerifyOptions, type WebhookHeaders } from './verify-webhook.ts';
