import { isNativeError } from 'node:util/types';

import { isDatabaseUnavailable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';

/** Largest request body, in bytes, after decompression. */
export const BODY_BYTES_MAX = 256 * 1024;

/** SQLSTATEs that a repeat may not meet again: lock and statement timeouts, deadlocks, serialization failures. */
const PASSING_SQLSTATE = new Set(['55P03', '57014', '40P01', '40001', '25P03', '25P02']);

/**
 * The error a caller gets for whatever was thrown. What is not theirs to know becomes INTERNAL_ERROR; the database
 * being away, or too busy to answer in time, becomes SERVICE_UNAVAILABLE with Retry-After.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isDatabaseUnavailable(error) || PASSING_SQLSTATE.has(codeOf(error))) {
    return new AppError('SERVICE_UNAVAILABLE', 'The service cannot answer right now. Repeat the request in a moment.', {
      headers: { 'Retry-After': '1' },
    });
  }
  return new AppError('INTERNAL_ERROR', 'Something went wrong on our side. If it stays, write us the requestId.');
}

function codeOf(error: unknown): string {
  return isNativeError(error) && 'code' in error ? String(error.code) : '';
}
