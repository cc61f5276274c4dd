import { isNativeError } from 'node:util/types';

import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger };

/**
 * JSON lines on stdout, or where else they are asked for. Log ids, codes and durations; never headers, bodies, names,
 * phones or secrets (docs: quality I13), so there is nothing to redact. Errors go under `err`: of those that quote
 * values the values are left out.
 */
export function createLogger(level: string, role: string, destination?: DestinationStream): Logger {
  const serializers = { err: (error: unknown) => (isNativeError(error) ? describeError(error) : error) };
  const options = { level, base: { role }, timestamp: pino.stdTimeFunctions.isoTime, serializers };
  return destination ? pino(options, destination) : pino(options);
}

/**
 * An error as it may stand in the log: messages and details of the database and messages of parsers quote the values
 * they failed on (names, phones), so of those only the code and the place are kept. What caused it comes with it.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!isNativeError(error)) return { name: typeof error };
  // Objection throws an error of its own around the database's.
  if ('nativeError' in error) return describeError(error.nativeError);
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  const quotesValues = 'severity' in error || 'body' in error || error.name === 'SyntaxError';
  return {
    name: error.name,
    ...('code' in error && { code: String(error.code) }),
    ...('constraint' in error && { constraint: error.constraint }),
    ...(!quotesValues && { message: error.message }),
    stack: frames.slice(0, 12).map((line) => line.trim()),
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  };
}
