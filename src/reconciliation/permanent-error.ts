import { isNativeError } from 'node:util/types';

/** Of our own code: it met a value that it does not know. */
const MISTAKES: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'SyntaxError', 'ReferenceError']);

/** SQLSTATE classes of values that PostgreSQL or a constraint does not take. */
const REFUSED_VALUE = /^2[23][0-9A-Z]{3}$/;

/** Whether the same work would most likely fail so again: not for what is away or busy, but for what it is about. */
export function isPermanentError(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return MISTAKES.has(error.name) || (typeof code === 'string' && REFUSED_VALUE.test(code));
}
