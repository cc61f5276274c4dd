import { isNativeError } from 'node:util/types';

import { pino, type DestinationStream, type LogFn, type Logger } from 'pino';

import { isDatabaseError } from './db-errors.ts';
import { UnavailableError } from './errors.ts';

export type { Logger };

/**
 * JSON lines. Log ids, codes and durations; never headers, bodies, names, phones or secrets, so nothing is redacted.
 * Errors go under `err`, without the values they quote. Errors of the database and of unavailable systems are sampled:
 * the same one once in 10 s, with the number of suppressed ones. Written to stdout unless a destination is given.
 */
export function createLogger(
  level: string,
  role: string,
  { destination, nowMs = () => performance.now() }: { destination?: DestinationStream; nowMs?: () => number } = {},
): Logger {
  const serializers = { err: (error: unknown) => (isNativeError(error) ? describeError(error) : error) };
  const hooks = { logMethod: createSampler(nowMs) };
  const options = { level, base: { role }, timestamp: pino.stdTimeFunctions.isoTime, serializers, hooks };
  return destination ? pino(options, destination) : pino(options);
}

const SAMPLE_EVERY_MS = 10_000;

/** Under overload, or without the database or Temporal, every request and delivery would log the same line. */
function createSampler(nowMs: () => number) {
  const logged = new Map<string, { atMs: number; suppressed: number }>();
  return function sample(this: Logger, args: Parameters<LogFn>, write: LogFn): void {
    const [details, message = ''] = args as [unknown, string?];
    const kind = sampledKind(details);
    if (kind === null) return write.apply(this, args);
    const key = `${message} ${kind}`;
    const last = logged.get(key) ?? { atMs: Number.NEGATIVE_INFINITY, suppressed: 0 };
    if (nowMs() - last.atMs < SAMPLE_EVERY_MS) return void (last.suppressed += 1);
    logged.set(key, { atMs: nowMs(), suppressed: 0 });
    const { suppressed } = last;
    write.call(this, { ...(details as object), ...(suppressed > 0 && { suppressed }) }, message);
  };
}

/** The kind of a sampled error, without ids, which never repeat; null for an error that is logged each time. */
function sampledKind(details: unknown): string | null {
  if (typeof details !== 'object' || details === null || !('err' in details)) return null;
  const { err } = details;
  const place = 'route' in details ? details.route : 'job' in details ? details.job : '';
  if (err instanceof UnavailableError) return `${err.name} ${String(place)}`;
  if (!isDatabaseError(err)) return null;
  const { name, code, constraint } = describeError(err);
  return [place, name, code, constraint].join(' ');
}

/**
 * An error as it is logged, with its cause. Messages of the database and of parsers quote the values they failed on
 * (names, phones): of those only the code and the place are logged.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!isNativeError(error)) return { name: typeof error };
  if (error instanceof UnavailableError) return { name: error.name, message: error.message };
  // Objection wraps the database's error.
  if ('nativeError' in error) return describeError(error.nativeError);
  // The stack begins with the message, whose lines may look like frames.
  const trace = (error.stack ?? '').replace(error.message, '');
  const frames = trace.split('\n').filter((line) => line.startsWith('    at '));
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
