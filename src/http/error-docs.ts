import type { z } from 'zod';

import { AppError, ERROR_STATUS, notFound, type ErrorCode, type FieldIssue } from '../lib/errors.ts';
import { authenticationRequired, ensurePermission } from './auth.ts';
import { isIdempotent } from './idempotency.ts';
import { SCOPES_BEFORE_VERIFICATION, type Route } from './route.ts';
import { fileTooLarge, wrongFileType } from './upload.ts';
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

/** The documentation of errors: of each code, the text behind its docUrl too; and examples by code and operation. */
export type ErrorDocs = {
  errors: Readonly<Record<ErrorCode, ErrorExample & { meaning: string }>>;
  operationErrors: Partial<Readonly<Record<ErrorCode, Readonly<Record<string, ErrorExample>>>>>;
};

/** An error with this code as callers of the route get it; null where it is the same for every route. */
export function exampleOfRoute(route: Route, code: ErrorCode, { operationErrors }: ErrorDocs): AppError | null {
  const recorded = operationErrors[code]?.[route.operationId];
  return EXAMPLES_BY_ROUTE[code]?.(route) ?? (recorded ? new AppError(code, recorded.message, recorded) : null);
}

/** An error with this code, independent of the route. */
export function exampleOf(code: ErrorCode, { errors }: ErrorDocs): AppError {
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
