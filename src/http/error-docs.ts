import type { z } from 'zod';

import { ERROR_STATUS, type ErrorCode, type FieldIssue } from '../lib/errors.ts';
import { isIdempotent } from './idempotency.ts';
import { SCOPES_BEFORE_VERIFICATION, type Route } from './route.ts';

/** Every error code of a route: those that follow from its declaration, and those it declares for its operation. */
export function errorCodes(route: Route): ErrorCode[] {
  const isWrite = route.method !== 'GET';
  const fields = { ...fieldsOf(route.query), ...fieldsOf(route.body) };
  const codes: ReadonlySet<string> = new Set<ErrorCode>([
    'VALIDATION_ERROR',
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
    ...callerCodes(route.auth),
    ...codesIf(route.rateLimit !== 'none', 'RATE_LIMITED'),
    ...codesIf(route.params !== undefined, 'NOT_FOUND'),
    ...codesIf(isWrite, 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'),
    ...codesIf(isWrite && !route.upload, 'INVALID_JSON'),
    ...codesIf('startDate' in fields && 'endDate' in fields, 'INVALID_DATE_RANGE', 'DATE_RANGE_TOO_WIDE'),
    ...codesIf('currency' in fields, 'UNSUPPORTED_CURRENCY'),
    ...codesIf(isIdempotent(route), 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED'),
    ...(route.errors ?? []),
  ]);
  return (Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => codes.has(code));
}

const codesIf = (isSo: boolean, ...codes: ErrorCode[]): ErrorCode[] => (isSo ? codes : []);

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
export type ErrorExample = { message: string; details?: FieldIssue[]; existing?: Record<string, string> };

/** The documentation of errors: of each code, the text behind its docUrl too; and examples by code and operation. */
export type ErrorDocs = {
  errors: Readonly<Record<ErrorCode, ErrorExample & { meaning: string }>>;
  operationErrors: Partial<Readonly<Record<ErrorCode, Readonly<Record<string, ErrorExample>>>>>;
};
