import type { z } from 'zod';

import { AppError, ERROR_STATUS, notFound, type ErrorCode } from '../lib/errors.ts';
import { ERROR_EXAMPLES, type ErrorExample } from './error-docs.ts';
import { isIdempotent } from './idempotency.ts';
import { EXAMPLES_BY_OPERATION } from './operation-examples.ts';
import { SCOPES_BEFORE_VERIFICATION, type Route } from './route.ts';
import { createValidator } from './validate.ts';

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

/** Every error status of a route. */
export function errorStatuses(route: Route): number[] {
  return [...new Set(errorCodes(route).map((code) => ERROR_STATUS[code]))].toSorted((a, b) => a - b);
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
  if (auth.by === 'nobody') return [];
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

/** An error of this route with this code, as its caller may get it; null where it is the same for every route. */
export function exampleOfRoute(route: Route, code: ErrorCode): AppError | null {
  const example = EXAMPLES_BY_ROUTE[code]?.(route) ?? EXAMPLES_BY_OPERATION[code]?.[route.operationId];
  return example ? toError(code, example) : null;
}

/** An error with this code, independent of the route. */
export function exampleOf(code: ErrorCode): AppError {
  return toError(code, ERROR_EXAMPLES[code]);
}

function toError(code: ErrorCode, { message, details, existing }: ErrorExample): AppError {
  return new AppError(code, message, { ...(details && { details }), ...(existing && { existing }) });
}

/** Errors whose text follows from the route's declaration; null where it is the common one. */
const EXAMPLES_BY_ROUTE: Partial<Readonly<Record<ErrorCode, (route: Route) => ErrorExample | null>>> = {
  VALIDATION_ERROR: validationExample,
  NOT_FOUND: (route) => notFound(nounOf(route)),
  INSUFFICIENT_SCOPE: ({ auth }) => ({ message: missingPermission(auth) }),
  AUTHENTICATION_REQUIRED: ({ auth }) =>
    auth.by === 'operator'
      ? { message: "Send an operator's key in the header x-api-key, or as Authorization: Bearer <key>." }
      : null,
  PAYLOAD_TOO_LARGE: ({ upload }) =>
    upload ? { message: `The file must be at most ${upload.bytesMax} bytes.` } : null,
  UNSUPPORTED_MEDIA_TYPE: ({ upload }) =>
    upload ? { message: `Content-Type must be one of ${upload.types.join(', ')}, got "text/plain".` } : null,
};

/** The error of the route's own validator for an empty request, or for one with an unknown parameter. */
function validationExample(route: Route): ErrorExample {
  const check = createValidator(route, route.operationId);
  const params = Object.fromEntries([...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, 'x']));
  for (const query of [{}, { sort: 'newest' }]) {
    try {
      check({ params, query, body: {} });
    } catch (error) {
      if (error instanceof AppError && error.code === 'VALIDATION_ERROR') return error;
    }
  }
  return ERROR_EXAMPLES.VALIDATION_ERROR;
}

/** The resource that the last id in the path names: `withdrawal_requestID` a withdrawal, `keyId` a key. */
function nounOf({ path }: Route): string {
  const name = [...path.matchAll(/:(\w+)/g)].at(-1)?.[1] ?? 'merchant';
  const words = name.replace(/_?(?:request)?i[dD]$/i, '').replaceAll(/([A-Z])/g, ' $1');
  return words.toLowerCase();
}

function missingPermission(auth: Route['auth']): string {
  if (auth.by === 'nobody') return ERROR_EXAMPLES.INSUFFICIENT_SCOPE.message;
  if (auth.by !== 'operator') {
    const other = auth.scope === 'transactions:read' ? 'checkout:read' : 'transactions:read';
    return `This needs a key with the scope ${auth.scope}; this key has ${other}.`;
  }
  if (auth.roles.includes('viewer')) return "This needs an operator's key; this key is a merchant's.";
  const needed = [...new Set([...auth.roles, 'admin'])].join(' or ');
  return `This needs an operator with the role ${needed}; this one is viewer.`;
}
