import { invalid, notFound, type AppError, type ErrorCode, type FieldIssue } from '../lib/errors.ts';
import { BODY_BYTES_MAX } from './body.ts';
import { toAppError } from './response.ts';

/** The part of an error that differs from one to the next of the same code. */
export type ErrorExample = { message: string; details?: FieldIssue[]; existing?: AppError['existing'] };

const LIVE = 'your verification is APPROVED; it is SUBMITTED: see GET /api/checkout/kyc, which this key may call';
const UNLINKED = 'none is linked yet; link one with PUT /api/checkout/bank-account.';
const SHORT = 'this withdrawal takes 505.75 ETB with its fee and tax, and 120.00 ETB are available';

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
  INVALID_STATE: 'The resource is in a state that does not allow this; the message names the state.',
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
  INTERNAL_ERROR:
    'Internal error. Safe to repeat with the same Idempotency-Key; if it persists, contact support with the requestId.',
  SERVICE_UNAVAILABLE: 'The service is unavailable for a moment. Repeat after as many seconds as Retry-After says.',
};

/** An error with each code, where its text does not depend on the route. */
export const ERROR_EXAMPLES: Readonly<Record<ErrorCode, ErrorExample>> = {
  VALIDATION_ERROR: { message: 'sort is not a query parameter of this route' },
  INVALID_JSON: {
    message: 'The body must be valid JSON, without __proto__ keys. It stops being JSON at character 17.',
  },
  INVALID_DATE_RANGE: invalid('startDate', 'must not be after endDate, got 2026-02-01 and 2026-01-31'),
  DATE_RANGE_TOO_WIDE: invalid(
    'startDate',
    'and endDate are too far apart, got 2025-01-01 and 2026-01-31; ask for the range in parts',
  ),
  UNSUPPORTED_CURRENCY: invalid('currency', 'must be ETB, got "USD"'),
  AUTHENTICATION_REQUIRED: { message: 'Send your API key in the header x-api-key, or as Authorization: Bearer <key>.' },
  INVALID_API_KEY: { message: 'This is not a valid API key. It is not complete, or has a typo.' },
  API_KEY_EXPIRED: { message: 'This API key expired at 2026-01-31T12:00:00.000Z. Use another one.' },
  API_KEY_REVOKED: { message: 'This API key was revoked. Use another one.' },
  INSUFFICIENT_SCOPE: { message: "This needs a merchant's key; this key is an operator's." },
  IP_NOT_ALLOWED: { message: 'This API key may not be used from 203.0.113.7.' },
  KYC_REQUIRED: invalid('kyc', LIVE, { message: `Live keys work once ${LIVE}.` }),
  CHANNEL_DISABLED: invalid(
    'channel',
    'TELEBIRR is switched off; switch it on with PATCH /api/checkout/channels/{channel}',
  ),
  CHANNEL_NOT_AVAILABLE: invalid('channel', 'MPESA is announced as coming soon and cannot be used yet'),
  MERCHANT_SUSPENDED: { message: 'This merchant is suspended. Contact support.' },
  NOT_FOUND: notFound('resource'),
  METHOD_NOT_ALLOWED: { message: 'This path takes GET, POST, got PUT.' },
  DUPLICATE_REFERENCE: { message: 'The reference is already used; read what it belongs to, or use a new one' },
  IDEMPOTENCY_IN_PROGRESS: {
    message: 'A request with this Idempotency-Key is still being worked on. Repeat it in a moment for its answer.',
  },
  INVALID_STATE: { message: 'It cannot be done in the state it is in.' },
  PAYLOAD_TOO_LARGE: { message: `The body must be at most ${BODY_BYTES_MAX} bytes.` },
  UNSUPPORTED_MEDIA_TYPE: { message: 'Content-Type must be application/json in UTF-8, got "text/plain".' },
  IDEMPOTENCY_KEY_REUSED: {
    message: 'This Idempotency-Key was used for another request in the last 24 hours. Use a new key for a new request.',
  },
  INSUFFICIENT_BALANCE: invalid('amount', SHORT, { message: `The balance is not sufficient: ${SHORT}.` }),
  AMOUNT_BELOW_MINIMUM: invalid('amount', 'must be at least 1.00 ETB on TELEBIRR, got 0.50'),
  AMOUNT_ABOVE_MAXIMUM: invalid('amount', 'must be at most 75000.00 ETB on TELEBIRR, got 100000.00'),
  DAILY_LIMIT_EXCEEDED: invalid(
    'amount',
    'must be at most 4000.00 ETB, what is left today of 50000.00 ETB a day on TELEBIRR, got 5000.00',
  ),
  BANK_ACCOUNT_NOT_VERIFIED: invalid('bankAccount', UNLINKED, {
    message: `Settlements go to the linked bank account: ${UNLINKED}`,
  }),
  RATE_LIMITED: { message: 'At most 50 requests with one key are allowed in 2 s. Repeat the request in 1 s.' },
  INTERNAL_ERROR: toAppError(new Error()),
  SERVICE_UNAVAILABLE: { message: 'The service cannot answer right now. Repeat the request in a moment.' },
};
