import { AppError, notFound, type ErrorCode, type FieldIssue } from '../lib/errors.ts';
import { BODY_BYTES_MAX, toAppError } from './errors.ts';
import { REFUSED_BY_OPERATION } from './operation-examples.ts';
import type { Route } from './route.ts';
import { createValidator } from './validate.ts';

type Rejected = { message: string; details?: FieldIssue[]; existing?: AppError['existing'] };

const amount = (issue: string) => ({ message: `amount ${issue}`, details: [{ field: 'amount', issue }] });
const channel = (issue: string) => ({ message: `channel ${issue}`, details: [{ field: 'channel', issue }] });
const LIVE = 'your verification is APPROVED; it is SUBMITTED: see GET /api/checkout/kyc, which this key may call';

const UNLINKED = 'none is linked yet; link one with PUT /api/checkout/bank-account.';
const SHORT = 'this withdrawal takes 505.75 ETB with its fee and tax, and 120.00 ETB are available';

/** What a refusal with each code may look like, where that does not depend on the route. */
const EXAMPLES: Readonly<Record<ErrorCode, Rejected>> = {
  VALIDATION_ERROR: { message: 'sort is not a query parameter of this route' },
  INVALID_JSON: {
    message: 'The body must be valid JSON, without __proto__ keys. It stops being JSON at character 17.',
  },
  INVALID_DATE_RANGE: {
    message: 'startDate must not be after endDate, got 2026-02-01 and 2026-01-31',
    details: [{ field: 'startDate', issue: 'must not be after endDate, got 2026-02-01 and 2026-01-31' }],
  },
  DATE_RANGE_TOO_WIDE: {
    message: 'startDate and endDate are too far apart, got 2025-01-01 and 2026-01-31; ask for the range in parts',
    details: [{ field: 'startDate', issue: 'and endDate are too far apart, got 2025-01-01 and 2026-01-31' }],
  },
  UNSUPPORTED_CURRENCY: {
    message: 'currency must be ETB, got "USD"',
    details: [{ field: 'currency', issue: 'must be ETB, got "USD"' }],
  },
  AUTHENTICATION_REQUIRED: { message: 'Send your API key in the header x-api-key, or as Authorization: Bearer <key>.' },
  INVALID_API_KEY: { message: 'This is not a valid API key. It is not complete, or has a typo.' },
  API_KEY_EXPIRED: { message: 'This API key expired at 2026-01-31T12:00:00.000Z. Use another one.' },
  API_KEY_REVOKED: { message: 'This API key was revoked. Use another one.' },
  INSUFFICIENT_SCOPE: { message: "This needs a merchant's key; this key is an operator's." },
  IP_NOT_ALLOWED: { message: 'This API key may not be used from 203.0.113.7.' },
  KYC_REQUIRED: { message: `Live keys work once ${LIVE}.`, details: [{ field: 'kyc', issue: LIVE }] },
  CHANNEL_DISABLED: channel('TELEBIRR is switched off; switch it on with PATCH /api/checkout/channels/{channel}'),
  CHANNEL_NOT_AVAILABLE: channel('MPESA is announced as coming soon and cannot be used yet'),
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
  INSUFFICIENT_BALANCE: {
    message: `The balance is not sufficient: ${SHORT}.`,
    details: [{ field: 'amount', issue: SHORT }],
  },
  AMOUNT_BELOW_MINIMUM: amount('must be at least 1.00 ETB on TELEBIRR, got 0.50'),
  AMOUNT_ABOVE_MAXIMUM: amount('must be at most 75000.00 ETB on TELEBIRR, got 100000.00'),
  DAILY_LIMIT_EXCEEDED: amount(
    'must be at most 4000.00 ETB, what is left today of 50000.00 ETB a day on TELEBIRR, got 5000.00',
  ),
  BANK_ACCOUNT_NOT_VERIFIED: {
    message: `Settlements go to the linked bank account: ${UNLINKED}`,
    details: [{ field: 'bankAccount', issue: UNLINKED }],
  },
  RATE_LIMITED: { message: 'At most 50 requests with one key are allowed in 2 s. Repeat the request in 1 s.' },
  INTERNAL_ERROR: toAppError(new Error()),
  SERVICE_UNAVAILABLE: { message: 'The service cannot answer right now. Repeat the request in a moment.' },
};

/** A refusal of this route with this code, as its caller may get it; null where it is the same for every route. */
export function exampleOfRoute(route: Route, code: ErrorCode): AppError | null {
  const rejectedValue = OF_ROUTE[code]?.(route) ?? REFUSED_BY_OPERATION[code]?.[route.operationId];
  return rejectedValue ? asError(code, rejectedValue) : null;
}

/** A refusal with this code, where nothing of it depends on the route. */
export function exampleOf(code: ErrorCode): AppError {
  return asError(code, EXAMPLES[code]);
}

function asError(code: ErrorCode, { message, details, existing }: Rejected): AppError {
  return new AppError(code, message, { ...(details && { details }), ...(existing && { existing }) });
}

/** Refusals whose words follow from the route's declaration; null where it has no words of its own. */
const OF_ROUTE: Partial<Readonly<Record<ErrorCode, (route: Route) => Rejected | null>>> = {
  VALIDATION_ERROR: rejectedInput,
  NOT_FOUND: (route) => notFound(nounOf(route)),
  INSUFFICIENT_SCOPE: ({ auth }) => ({ message: lacking(auth) }),
  AUTHENTICATION_REQUIRED: ({ auth }) =>
    auth.by === 'operator'
      ? { message: "Send an operator's key in the header x-api-key, or as Authorization: Bearer <key>." }
      : null,
  PAYLOAD_TOO_LARGE: ({ upload }) =>
    upload ? { message: `The file must be at most ${upload.bytesMax} bytes.` } : null,
  UNSUPPORTED_MEDIA_TYPE: ({ upload }) =>
    upload ? { message: `Content-Type must be one of ${upload.types.join(', ')}, got "text/plain".` } : null,
};

/** What the route's own check says of a request without anything in it, or with a parameter that it does not know. */
function rejectedInput(route: Route): Rejected {
  const check = createValidator(route, route.operationId);
  const params = Object.fromEntries([...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, 'x']));
  for (const query of [{}, { sort: 'newest' }]) {
    try {
      check({ params, query, body: {} });
    } catch (error) {
      if (error instanceof AppError && error.code === 'VALIDATION_ERROR') return error;
    }
  }
  return EXAMPLES.VALIDATION_ERROR;
}

/** What the last id in the path names: `withdrawal_requestID` a withdrawal, `keyId` a key. */
function nounOf({ path }: Route): string {
  const name = [...path.matchAll(/:(\w+)/g)].at(-1)?.[1] ?? 'merchant';
  const words = name.replace(/_?(?:request)?i[dD]$/i, '').replaceAll(/([A-Z])/g, ' $1');
  return words.toLowerCase();
}

function lacking(auth: Route['auth']): string {
  if (auth.by === 'nobody') return EXAMPLES.INSUFFICIENT_SCOPE.message;
  if (auth.by !== 'operator') {
    const other = auth.scope === 'transactions:read' ? 'checkout:read' : 'transactions:read';
    return `This needs a key with the scope ${auth.scope}; this key has ${other}.`;
  }
  if (auth.roles.includes('viewer')) return "This needs an operator's key; this key is a merchant's.";
  const needed = [...new Set([...auth.roles, 'admin'])].join(' or ');
  return `This needs an operator with the role ${needed}; this one is viewer.`;
}
