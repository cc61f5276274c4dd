export type * from './webhook-events.ts';
export {
  verifyWebhook,
  WebhookVerificationError,
  type VerificationErrorCode,
  type VerifyOptions,
  type WebhookHeaders,
} from './verify-webhook.ts';
