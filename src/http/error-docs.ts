import { invalid, notFound, type AppError, type ErrorCode, type FieldIssue } from '../lib/errors.ts';
import { BODY_BYTES_MAX } from './body.ts';
import { toAppError } from './response.ts';

/** The part of an error that differs from one to the next of the same code. */
export type ErrorExample = { message: string; details?: FieldIssue[]; existing?: AppError['existing'] };

const LIVE = 'your verification is APPROVED; it is SUBMITTED: see GET /api/checkout/kyc, which this key may call';
const UNLINKED = 'none is linked yet; link one with PUT /api/checkout/bank-account.';
const SHORT = 'this withdrawal takes 505.75 ETB with its fee and tax, and 120.00 ETB are available';

/** What each code means and what to do about it, behind every error's docUrl; and an example that fits most routes. */
export const ERROR_DOCS: Readonly<Record<ErrorCode, { meaning: string; example: ErrorExample }>> = {
  VALIDATION_ERROR: {
    meaning: 'A value is missing, unknown or not allowed. details names every field; correct them all.',
    example: { message: 'sort is not a query parameter of this route' },
  },
  INVALID_JSON: {
    meaning: 'The body is not JSON, or holds what cannot be stored. Correct the body.',
    example: { message: 'The body must be valid JSON, without __proto__ keys. It stops being JSON at character 17.' },
  },
  INVALID_DATE_RANGE: {
    meaning: 'startDate is after endDate.',
    example: invalid('startDate', 'must not be after endDate, got 2026-02-01 and 2026-01-31'),
  },
  DATE_RANGE_TOO_WIDE: {
    meaning: 'startDate and endDate are more than 93 days apart. Ask for the range in parts.',
    example: invalid(
      'startDate',
      'and endDate are too far apart, got 2025-01-01 and 2026-01-31; ask for the range in parts',
    ),
  },
  UNSUPPORTED_CURRENCY: {
    meaning: 'Only ETB is supported.',
    example: invalid('currency', 'must be ETB, got "USD"'),
  },
  AUTHENTICATION_REQUIRED: {
    meaning: 'The request carries no key, or a client token that is not valid for this session.',
    example: { message: 'Send your API key in the header x-api-key, or as Authorization: Bearer <key>.' },
  },
  INVALID_API_KEY: {
    meaning: 'The key is not one of ours, or the two headers carry different keys. Copy it again.',
    example: { message: 'This is not a valid API key. It is not complete, or has a typo.' },
  },
  API_KEY_EXPIRED: {
    meaning: 'The key is right but its time is over. Use the key it was rotated to, or make a new one.',
    example: { message: 'This API key expired at 2026-01-31T12:00:00.000Z. Use another one.' },
  },
  API_KEY_REVOKED: {
    meaning: 'The key is right but was revoked. Make a new one.',
    example: { message: 'This API key was revoked. Use another one.' },
  },
  INSUFFICIENT_SCOPE: {
    meaning:
      'The key lacks the scope this needs, or its operator the role, or it is of the wrong kind; the message says which.',
    example: { message: "This needs a merchant's key; this key is an operator's." },
  },
  IP_NOT_ALLOWED: {
    meaning: 'The key may only be used from certain addresses, and this is not one of them.',
    example: { message: 'This API key may not be used from 203.0.113.7.' },
  },
  KYC_REQUIRED: {
    meaning:
      'Live keys work once the merchant is verified and one sandbox payment has succeeded; details name what is missing.',
    example: invalid('kyc', LIVE, { message: `Live keys work once ${LIVE}.` }),
  },
  CHANNEL_DISABLED: {
    meaning: 'The merchant has not enabled this payment channel.',
    example: invalid('channel', 'TELEBIRR is switched off; switch it on with PATCH /api/checkout/channels/{channel}'),
  },
  CHANNEL_NOT_AVAILABLE: {
    meaning: 'This payment channel cannot be used now, whatever the merchant enables.',
    example: invalid('channel', 'MPESA is announced as coming soon and cannot be used yet'),
  },
  MERCHANT_SUSPENDED: {
    meaning: 'The merchant is suspended. Contact support.',
    example: { message: 'This merchant is suspended. Contact support.' },
  },
  NOT_FOUND: {
    meaning: 'It does not exist, or belongs to another merchant or environment. Check the id and the key.',
    example: notFound('resource'),
  },
  METHOD_NOT_ALLOWED: {
    meaning: 'The path exists, but not with this method. Allow lists the right ones.',
    example: { message: 'This path takes GET, POST, got PUT.' },
  },
  DUPLICATE_REFERENCE: {
    meaning: 'Your reference was used before. existing names what it belongs to.',
    example: { message: 'The reference is already used; read what it belongs to, or use a new one' },
  },
  IDEMPOTENCY_IN_PROGRESS: {
    meaning: 'The first request with this Idempotency-Key is still being worked on. Repeat in a moment.',
    example: {
      message: 'A request with this Idempotency-Key is still being worked on. Repeat it in a moment for its answer.',
    },
  },
  INVALID_STATE: {
    meaning: 'The resource is in a state that does not allow this; the message names the state.',
    example: { message: 'It cannot be done in the state it is in.' },
  },
  PAYLOAD_TOO_LARGE: {
    meaning: 'The body is larger than 256 KiB.',
    example: { message: `The body must be at most ${BODY_BYTES_MAX} bytes.` },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: 'Send the body as application/json in UTF-8.',
    example: { message: 'Content-Type must be application/json in UTF-8, got "text/plain".' },
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: 'This Idempotency-Key belongs to another request. Use a new key for a new request.',
    example: {
      message:
        'This Idempotency-Key was used for another request in the last 24 hours. Use a new key for a new request.',
    },
  },
  INSUFFICIENT_BALANCE: {
    meaning:
      'The available balance does not cover the amount with its fee and tax; the message says how much is there.',
    example: invalid('amount', SHORT, { message: `The balance is not sufficient: ${SHORT}.` }),
  },
  AMOUNT_BELOW_MINIMUM: {
    meaning: 'The amount is below what the channel takes; the message names the limit.',
    example: invalid('amount', 'must be at least 1.00 ETB on TELEBIRR, got 0.50'),
  },
  AMOUNT_ABOVE_MAXIMUM: {
    meaning: 'The amount is above what the channel takes; the message names the limit.',
    example: invalid('amount', 'must be at most 75000.00 ETB on TELEBIRR, got 100000.00'),
  },
  DAILY_LIMIT_EXCEEDED: {
    meaning: 'The amount is more than what is left of the day on this channel; the message says how much is left.',
    example: invalid(
      'amount',
      'must be at most 4000.00 ETB, what is left today of 50000.00 ETB a day on TELEBIRR, got 5000.00',
    ),
  },
  BANK_ACCOUNT_NOT_VERIFIED: {
    meaning:
      'Settlements go to a linked and verified bank account; the message says what is missing, or from when on it works.',
    example: invalid('bankAccount', UNLINKED, { message: `Settlements go to the linked bank account: ${UNLINKED}` }),
  },
  RATE_LIMITED: {
    meaning: 'Too many requests. Wait as many seconds as Retry-After says.',
    example: { message: 'At most 50 requests with one key are allowed in 2 s. Repeat the request in 1 s.' },
  },
  INTERNAL_ERROR: {
    meaning:
      'Internal error. Safe to repeat with the same Idempotency-Key; if it persists, contact support with the requestId.',
    example: toAppError(new Error()),
  },
  SERVICE_UNAVAILABLE: {
    meaning: 'The service is unavailable for a moment. Repeat after as many seconds as Retry-After says.',
    example: { message: 'The service cannot answer right now. Repeat the request in a moment.' },
  },
};
