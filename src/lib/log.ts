import { isNativeError } from 'node:util/types';

import { pino, type DestinationStream, type LogFn, type Logger } from 'pino';

import { AwayError } from './errors.ts';

export type { Logger };

/**
 * JSON lines on stdout, or where else they are asked for. Log ids, codes and durations; never headers, bodies, names,
 * phones or secrets, so there is nothing to redact. Errors go under `err`: of those that quote values the values are
 * left out. That something is away is told once in 10 s, with how often it was left untold.
 */
export function createLogger(level: string, role: string, destination?: DestinationStream): Logger {
  const serializers = { err: (error: unknown) => (isNativeError(error) ? describeError(error) : error) };
  const hooks = { logMethod: createAwayFilter() };
  const options = { level, base: { role }, timestamp: pino.stdTimeFunctions.isoTime, serializers, hooks };
  return destination ? pino(options, destination) : pino(options);
}

const AWAY_EVERY_MS = 10_000;

/** While Temporal is away every payment and delivery would say so: of equal messages one is let through in 10 s. */
function createAwayFilter() {
  const told = new Map<string, { atMs: number; untold: number }>();
  return function filter(this: Logger, args: Parameters<LogFn>, write: LogFn): void {
    const [details, message = ''] = args as [unknown, string?];
    const isAway =
      typeof details === 'object' && details !== null && 'err' in details && details.err instanceof AwayError;
    if (!isAway) return write.apply(this, args);
    const last = told.get(message) ?? { atMs: Number.NEGATIVE_INFINITY, untold: 0 };
    if (performance.now() - last.atMs < AWAY_EVERY_MS) return void (last.untold += 1);
    told.set(message, { atMs: performance.now(), untold: 0 });
    write.call(this, { ...details, ...(last.untold > 0 && { untold: last.untold }) }, message);
  };
}

/**
 * An error as it may stand in the log: messages and details of the database and messages of parsers quote the values
 * they failed on (names, phones), so of those only the code and the place are kept. What caused it comes with it.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!isNativeError(error)) return { name: typeof error };
  if (error instanceof AwayError) return { name: error.name, message: error.message };
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
