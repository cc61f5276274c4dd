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

/**
 * An error as it may stand in the log: messages of the database and of parsers quote the values they failed on
 * (names, phones), so of those only the code and the place are kept.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!isNativeError(error)) return { name: typeof error };
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  const quotesValues = 'severity' in error || 'body' in error || error.name === 'SyntaxError';
  return {
    name: error.name,
    ...(codeOf(error) && { code: codeOf(error) }),
    ...('constraint' in error && { constraint: error.constraint }),
    ...(!quotesValues && { message: error.message }),
    stack: frames.slice(0, 12).map((line) => line.trim()),
  };
}
