import { pino, type Logger } from 'pino';

export type { Logger };

/**
 * JSON lines on stdout. Log ids, codes and durations; never headers, bodies, names, phones or secrets
 * (docs: quality I13), so there is nothing to redact.
 */
export function createLogger(level: string, role: string): Logger {
  return pino({ level, base: { role }, timestamp: pino.stdTimeFunctions.isoTime });
}
