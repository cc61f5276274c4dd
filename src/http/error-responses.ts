import type { z } from 'zod';

import { ERROR_STATUS, type ErrorCode } from '../lib/errors.ts';
import { SCOPES_BEFORE_VERIFICATION, type Route } from './route.ts';

/** Whether a route honours Idempotency-Key. */
export function isIdempotent(route: Route): boolean {
  return 'write' in route && route.method === 'POST' && route.auth.by !== 'nobody';
}

/** Every code a route may refuse with: what follows from its shape, and what its operation declares beside that. */
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

/** Every status a route may refuse with. */
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
