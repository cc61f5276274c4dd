import type { z } from 'zod';

import { AppError, ERROR_STATUS, notFound, type ErrorCode, type FieldIssue } from '../lib/errors.ts';
import { authenticationRequired, ensurePermission } from './auth.ts';
import { isIdempotent } from './idempotency.ts';
import { SCOPES_BEFORE_VERIFICATION, type Route } from './route.ts';
import { fileTooLarge, wrongFileType } from './upload.ts';
import { createValidator } from './validate.ts';

/** What each code means and what to do about it: the text behind every error's docUrl. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: 'A value is missing, unknown or not allowed. details lists every wrong field.',
  INVALID_JSON: 'The body is not JSON, or contains characters that cannot be stored. Correct the body.',
  INVALID_DATE_RANGE: 'startDate is after endDate.',
  DATE_RANGE_TOO_WIDE: 'startDate and endDate are more than 93 days apart. Request the range in parts.',
  UNSUPPORTED_CURRENCY: 'Only ETB is supported.',
  AUTHENTICATION_REQUIRED: 'The request carries no key, or a client token that is not valid for this session.',
  INVALID_API_KEY: 'The key does not exist, or the two headers carry different keys. Copy it again.',
  API_KEY_EXPIRED: 'The key is right but has expired. Use the key it was rotated to, or create a new one.',
  API_KEY_REVOKED: 'The key is right but was revoked. Create a new one.',
  INSUFFICIENT_SCOPE:
    'The key lacks the required scope, its operator lacks the required role, or it is of the wrong kind; the message says which.',
  IP_NOT_ALLOWED: 'The key may only be used from certain addresses, and this is not one of them.',
  KYC_REQUIRED:
    'Live keys work once the merchant is verified and one sandbox payment has succeeded; details name what is missing.',
  CHANNEL_DISABLED: 'The merchant has not enabled this payment channel.',
  CHANNEL_NOT_AVAILABLE: 'This payment channel cannot be used now, whatever the merchant enables.',
  MERCHANT_SUSPENDED: 'The merchant is suspended. Contact support.',
  NOT_FOUND: 'The resource does not exist, or belongs to another merchant or environment. Check the id and the key.',
  METHOD_NOT_ALLOWED: 'The path exists, but not with this method. Allow lists the right ones.',
  DUPLICATE_REFERENCE: 'Your reference was used before. existing names what it belongs to.',
  IDEMPOTENCY_IN_PROGRESS: 'The first request with this Idempotency-Key is still running. Repeat in a moment.',
  INVALID_STATE: 'The resource is in a state that does not allow this; the message names the state.',
  PAYLOAD_TOO_LARGE: 'The body is larger than 256 KiB.',
  UNSUPPORTED_MEDIA_TYPE: 'Send the body as application/json in UTF-8.',
  IDEMPOTENCY_KEY_REUSED: 'This Idempotency-Key belongs to another request. Use a new key for a new request.',
  INSUFFICIENT_BALANCE:
    'The available balance does not cover the amount with its fee and tax; the message contains both.',
  AMOUNT_BELOW_MINIMUM: 'The amount is below what the channel takes; the message names the limit.',
  AMOUNT_ABOVE_MAXIMUM: 'The amount is above what the channel takes; the message names the limit.',
  DAILY_LIMIT_EXCEEDED:
    'The amount exceeds what is left of the daily limit of this channel; the message contains the rest.',
  BANK_ACCOUNT_NOT_VERIFIED:
    'Settlements go to a linked and verified bank account; the message says what is missing, or from when on the account can be used.',
  RATE_LIMITED: 'Too many requests. Wait for the seconds in Retry-After.',
  INTERNAL_ERROR:
    'Internal error. Safe to repeat with the same Idempotency-Key; if it persists, contact support with the requestId.',
  SERVICE_UNAVAILABLE: 'The service is temporarily unavailable. Repeat after the seconds in Retry-After.',
};

/** Every error code of a route: those that follow from its declaration, and those it declares for its operation. */
export function errorCodes(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(['VALIDATION_ERROR', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE']);
  const add = (...more: ErrorCode[]): void => more.forEach((code) => codes.add(code));
  if (route.rateLimit !== 'none') add('RATE_LIMITED');
  for (const code of callerCodes(route.auth)) add(code);
  if (route.params) add('NOT_FOUND');
  if (route.method !== 'GET') add('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  if (route.method !== 'GET' && !route.upload) add('INVALID_JSON');
  const fields = { ...fieldsOf(route.query), ...fieldsOf(route.body) };
  if ('startDate' in fields && 'endDate' in fields) add('INVALID_DATE_RANGE', 'DATE_RANGE_TOO_WIDE');
  if ('currency' in fields) add('UNSUPPORTED_CURRENCY');
  if (isIdempotent(route)) add('IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED');
  add(...(route.errors ?? []));
  return Object.keys(ERROR_STATUS).filter((code): code is ErrorCode => codes.has(code as ErrorCode));
}

const ANY_KEY: ErrorCode[] = [
  'AUTHENTICATION_REQUIRED',
  'INVALID_API_KEY',
  'API_KEY_EXPIRED',
  'API_KEY_REVOKED',
  'INSUFFICIENT_SCOPE',
  'IP_NOT_ALLOWED',
];

function callerCodes(auth: Route['auth']): ErrorCode[] {
  if (auth.by === 'public') return [];
  if (auth.by === 'operator') return ANY_KEY;
  const worksUnverified = SCOPES_BEFORE_VERIFICATION.includes(auth.scope);
  return [...ANY_KEY, 'MERCHANT_SUSPENDED', ...(worksUnverified ? [] : (['KYC_REQUIRED'] as const))];
}

type Described = { shape?: Record<string, z.core.$ZodType>; in?: z.core.$ZodType; innerType?: z.core.$ZodType };

/** The fields of an input, behind pipes and wrappers; none where there is no input. */
function fieldsOf(schema: z.core.$ZodType | undefined): Record<string, z.core.$ZodType> {
  const { shape, in: piped, innerType } = (schema?._zod.def ?? {}) as Described;
  return shape ?? (schema ? fieldsOf(piped ?? innerType) : {});
}

/** The part of an error that differs from one to the next of the same code. */
type ErrorExample = { message: string; details?: FieldIssue[]; existing?: Record<string, string> };

/** Examples of errors: by code; and by code and operation, where the operation determines the text. */
export type ErrorExamples = {
  errors: Readonly<Record<ErrorCode, ErrorExample>>;
  operationErrors: Partial<Readonly<Record<ErrorCode, Readonly<Record<string, ErrorExample>>>>>;
};

/** An error with this code as callers of the route get it; null where it is the same for every route. */
export function exampleOfRoute(route: Route, code: ErrorCode, { operationErrors }: ErrorExamples): AppError | null {
  const recorded = operationErrors[code]?.[route.operationId];
  return EXAMPLES_BY_ROUTE[code]?.(route) ?? (recorded ? new AppError(code, recorded.message, recorded) : null);
}

/** An error with this code, independent of the route. */
export function exampleOf(code: ErrorCode, { errors }: ErrorExamples): AppError {
  return new AppError(code, errors[code].message, errors[code]);
}

/** Errors whose text follows from the route's declaration; null where it is the common one. */
const EXAMPLES_BY_ROUTE: Partial<Readonly<Record<ErrorCode, (route: Route) => AppError | null>>> = {
  VALIDATION_ERROR: validationExample,
  NOT_FOUND: (route) => notFound(nounOf(route)),
  INSUFFICIENT_SCOPE: ({ auth }) => missingPermission(auth),
  AUTHENTICATION_REQUIRED: ({ auth }) => (auth.by === 'operator' ? authenticationRequired(auth.by) : null),
  PAYLOAD_TOO_LARGE: ({ upload }) => (upload ? fileTooLarge(upload) : null),
  UNSUPPORTED_MEDIA_TYPE: ({ upload }) => (upload ? wrongFileType(upload, 'text/plain') : null),
};

/** The error of the route's own validator for an empty request, or for one with an unknown parameter. */
function validationExample(route: Route): AppError | null {
  const check = createValidator(route, route.operationId);
  const params = Object.fromEntries([...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, 'x']));
  const errors = [{}, { sort: 'newest' }].map((query) => errorOf(() => check({ params, query, body: {} })));
  return errors.find((error) => error?.code === 'VALIDATION_ERROR') ?? null;
}

/** The error of a key with another scope, or of an operator without the role. */
function missingPermission(auth: Route['auth']): AppError | null {
  if (auth.by === 'public') return null;
  if (auth.by === 'operator' && !auth.roles.includes('viewer')) {
    return errorOf(() => ensurePermission({ kind: 'operator', role: 'viewer' }, auth));
  }
  const isRead = auth.by !== 'operator' && auth.scope === 'transactions:read';
  const scopes = [isRead ? 'checkout:read' : 'transactions:read'] as const;
  return errorOf(() => ensurePermission({ kind: 'key', scopes }, auth));
}

function errorOf(work: () => unknown): AppError | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** The resource that the last id in the path names: `withdrawal_requestID` a withdrawal, `keyId` a key. */
function nounOf({ path }: Route): string {
  const name = [...path.matchAll(/:(\w+)/g)].at(-1)?.[1] ?? 'merchant';
  const words = name.replace(/_?(?:request)?i[dD]$/i, '').replaceAll(/([A-Z])/g, ' $1');
  return words.toLowerCase();
}
