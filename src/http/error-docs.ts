import type { ErrorCode } from '../lib/errors.ts';

/** What each code means and what to do about it: the text behind every error's docUrl. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: 'A value is missing, unknown or not allowed. details names every field; correct them all.',
  INVALID_JSON: 'The body is not JSON, or holds what cannot be stored. Correct the body.',
  INVALID_DATE_RANGE: 'startDate is after endDate.',
  DATE_RANGE_TOO_WIDE: 'startDate and endDate are more than 93 days apart. Ask for the range in parts.',
  UNSUPPORTED_CURRENCY: 'Only ETB is supported.',
  AUTHENTICATION_REQUIRED: 'The request carries no key, or a client token that is not valid for this session.',
  INVALID_API_KEY: 'The key is not one of ours, or the two headers carry different keys. Copy it again.',
  API_KEY_EXPIRED: 'The key is right but its time is over. Use the key it was rotated to, or make a new one.',
  API_KEY_REVOKED: 'The key is right but was revoked. Make a new one.',
  INSUFFICIENT_SCOPE:
    'The key lacks the scope this needs, or its operator the role, or it is of the wrong kind; the message says which.',
  IP_NOT_ALLOWED: 'The key may only be used from certain addresses, and this is not one of them.',
  KYC_REQUIRED:
    'Live keys work once the merchant is verified and one sandbox payment has succeeded; details name what is missing.',
  CHANNEL_DISABLED: 'The merchant has not enabled this payment channel.',
  CHANNEL_NOT_AVAILABLE: 'This payment channel cannot be used now, whatever the merchant enables.',
  MERCHANT_SUSPENDED: 'The merchant is suspended. Contact support.',
  NOT_FOUND: 'It does not exist, or belongs to another merchant or environment. Check the id and the key.',
  METHOD_NOT_ALLOWED: 'The path exists, but not with this method. Allow lists the right ones.',
  DUPLICATE_REFERENCE: 'Your reference was used before. existing names what it belongs to.',
  IDEMPOTENCY_IN_PROGRESS: 'The first request with this Idempotency-Key is still being worked on. Repeat in a moment.',
  INVALID_STATE: 'What you ask cannot be done in the state it is in; the message names the state.',
  PAYLOAD_TOO_LARGE: 'The body is larger than 256 KiB.',
  UNSUPPORTED_MEDIA_TYPE: 'Send the body as application/json in UTF-8.',
  IDEMPOTENCY_KEY_REUSED: 'This Idempotency-Key belongs to another request. Use a new key for a new request.',
  INSUFFICIENT_BALANCE:
    'The available balance does not cover the amount with its fee and tax; the message says how much is there.',
  AMOUNT_BELOW_MINIMUM: 'The amount is below what the channel takes; the message names the limit.',
  AMOUNT_ABOVE_MAXIMUM: 'The amount is above what the channel takes; the message names the limit.',
  DAILY_LIMIT_EXCEEDED:
    'The amount is more than what is left of the day on this channel; the message says how much is left.',
  BANK_ACCOUNT_NOT_VERIFIED:
    'Settlements go to a linked and verified bank account; the message says what is missing, or from when on it works.',
  RATE_LIMITED: 'Too many requests. Wait as many seconds as Retry-After says.',
  INTERNAL_ERROR: 'A fault of ours. Safe to repeat with the same Idempotency-Key; tell us the requestId if it stays.',
  SERVICE_UNAVAILABLE: 'We cannot answer right now. Repeat after as many seconds as Retry-After says.',
};
