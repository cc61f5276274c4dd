import type { Issue } from './issues.ts';

export const ERROR_STATUS = {
  VALIDATION_ERROR: 400,
  INVALID_JSON: 400,
  INVALID_DATE_RANGE: 400,
  DATE_RANGE_TOO_WIDE: 400,
  UNSUPPORTED_CURRENCY: 400,
  AUTHENTICATION_REQUIRED: 401,
  INVALID_API_KEY: 401,
  API_KEY_EXPIRED: 401,
  API_KEY_REVOKED: 401,
  INSUFFICIENT_SCOPE: 403,
  TWO_FACTOR_REQUIRED: 403,
  STEP_UP_REQUIRED: 403,
  IP_NOT_ALLOWED: 403,
  KYC_REQUIRED: 403,
  CHANNEL_DISABLED: 403,
  CHANNEL_NOT_AVAILABLE: 403,
  MERCHANT_SUSPENDED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  DUPLICATE_REFERENCE: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  INVALID_STATE: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  INSUFFICIENT_BALANCE: 422,
  AMOUNT_BELOW_MINIMUM: 422,
  AMOUNT_ABOVE_MAXIMUM: 422,
  DAILY_LIMIT_EXCEEDED: 422,
  BANK_ACCOUNT_NOT_VERIFIED: 422,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;
export type FieldIssue = { field: string } & Issue;

/**
 * An external system is unavailable. Expected: logged without a stack, and not every time. `forCallers`: what callers of
 * the API are told, in place of the general text.
 */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
  readonly forCallers: string | undefined;

  constructor(message: string, { forCallers, ...more }: { forCallers?: string; cause?: unknown } = {}) {
    super(message, more);
    this.forCallers = forCallers;
  }
}

/**
 * The error of a caller's mistake. The message names the wrong value, what is allowed and what to do. The caller gets it
 * as it is, so it holds nothing secret.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: FieldIssue[];
  /** Ids of the existing resources, for DUPLICATE_REFERENCE. */
  readonly existing: Existing | undefined;
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    message: string,
    more: { details?: FieldIssue[]; existing?: Existing; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.status = ERROR_STATUS[code];
    this.details = more.details ?? [];
    this.existing = more.existing;
    this.headers = more.headers ?? {};
  }
}

type Existing = Record<string, string>;

/** The error of one field's value. Its message is "<field> <issue>" unless another is given. */
export function invalid(
  field: string,
  wrong: string | Issue,
  { code = 'VALIDATION_ERROR', message, ...more }: { code?: ErrorCode; message?: string; existing?: Existing } = {},
): AppError {
  const issue = typeof wrong === 'string' ? { issue: wrong } : wrong;
  return new AppError(code, message ?? `${field} ${issue.issue}`, { details: [{ field, ...issue }], ...more });
}

/** DUPLICATE_REFERENCE of one field's value, which an existing resource has. */
export const duplicate = (field: string, issue: string, existing: Existing): AppError =>
  invalid(field, { issue, code: 'already_used' }, { code: 'DUPLICATE_REFERENCE', existing });

/** The VALIDATION_ERROR of several fields. Its message lists all issues unless another is given. */
export function invalidFields(
  details: FieldIssue[],
  message = details.map(({ field, issue }) => `${field} ${issue}`.trim()).join('; '),
): AppError {
  return new AppError('VALIDATION_ERROR', message, { details });
}

/** The issues of an error in responses. */
export const presentIssues = (details: readonly FieldIssue[]) =>
  details.map(({ field, issue, code = 'invalid', params }) => ({ field, issue, code, ...(params && { params }) }));

/** An error as what is wrong with a request that was not made. */
export const presentProblem = ({ code, message, details }: AppError) => ({
  code,
  message,
  details: presentIssues(details),
});

/** The error of an operation that the resource's state does not allow. */
export const invalidState = (message: string): AppError => new AppError('INVALID_STATE', message);

/** The error of a request that can be repeated in a second. */
export function serviceUnavailable(
  message = 'The service is temporarily unavailable. Repeat the request in a moment.',
): AppError {
  return new AppError('SERVICE_UNAVAILABLE', message, { headers: { 'Retry-After': '1' } });
}

/** The only 404 of resources: the same text for one that never existed and one of another merchant. */
export function notFound(resource: string): AppError {
  const name = resource.charAt(0).toUpperCase() + resource.slice(1);
  return new AppError('NOT_FOUND', `${name} not found. Check the id, and that you use a key of the right environment.`);
}

/** The error of a route that only the sandbox has. */
export const sandboxOnly = (): AppError =>
  new AppError('NOT_FOUND', 'Available in the sandbox only. Use a sandbox key.');

/** The row. Throws NOT_FOUND, as {@link notFound}, where there is none. */
export function found<Row>(row: Row | undefined, resource: string): Row {
  if (row === undefined) throw notFound(resource);
  return row;
}
