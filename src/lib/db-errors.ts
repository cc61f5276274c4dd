import { isNativeError } from 'node:util/types';

/** Why a server that answers is not used, with what to do about it. Its texts quote no secret. */
export class DatabaseRefused extends Error {
  readonly code: 'READ_ONLY' | 'SHARED_SESSIONS' | 'OLD_SERVER';
  readonly next: string;

  constructor(code: DatabaseRefused['code'], found: string, next: string) {
    super(found);
    this.name = 'DatabaseRefused';
    this.code = code;
    this.next = next;
  }
}

const ABSENT = Symbol('no connection could be opened');

/**
 * Marks an error of opening a connection. Whatever it is, a name that does not resolve, a certificate or a password, the
 * database is away.
 */
export function asAbsence(error: unknown): unknown {
  return error instanceof Error ? Object.assign(error, { [ABSENT]: true }) : error;
}

/** SQLSTATE of a write on a server that became a standby or read-only, as an old one does after a failover. */
const READ_ONLY = '25006';
const UNAVAILABLE = new RegExp(
  `^(08|53|57P0[1-5]|${READ_ONLY})|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|ECONN(REFUSED|RESET|ABORTED)|E(HOST|NET)(UNREACH|DOWN)`,
);

/** Whether an error means that the database is unavailable or overloaded, rather than that the statement is wrong. */
export function isDatabaseUnavailable(thrown: unknown): boolean {
  const error = unwrapped(thrown);
  if (!isNativeError(error)) return false;
  if (ABSENT in error || error instanceof DatabaseRefused || isStalePlan(error)) return true;
  return (
    UNAVAILABLE.test(codeOf(error)) ||
    /Query read timeout|Connection terminated|Connection ended|not queryable|timeout exceeded when trying to connect|timeout expired/.test(
      error.message,
    )
  );
}

/** Whether an error comes from the database, its connections or its pool. */
export function isDatabaseError(thrown: unknown): boolean {
  const error = unwrapped(thrown);
  return (isNativeError(error) && 'severity' in error) || isDatabaseUnavailable(error);
}

/** Whether a statement was rejected because the server takes no writes. */
export const isReadOnly = (thrown: unknown): boolean => codeOf(unwrapped(thrown)) === READ_ONLY;

/**
 * Whether a migration has changed the columns of a prepared statement. PostgreSQL's text is in the server's language, and
 * its code, feature not supported, has other causes.
 */
export function isStalePlan(thrown: unknown): boolean {
  const error = unwrapped(thrown);
  return isNativeError(error) && 'routine' in error && error.routine === 'RevalidateCachedQuery';
}

/** Whether an error is PostgreSQL's unique violation, of this constraint or index if named. */
export function isUniqueViolation(thrown: unknown, constraint?: string): boolean {
  const error = unwrapped(thrown);
  if (!isNativeError(error) || codeOf(error) !== '23505') return false;
  return constraint === undefined || ('constraint' in error && error.constraint === constraint);
}

function codeOf(error: unknown): string {
  return isNativeError(error) && 'code' in error ? String(error.code) : '';
}

/** PostgreSQL's own error: Objection throws another one around it, which lacks the code. */
function unwrapped(error: unknown): unknown {
  return error instanceof Error && 'nativeError' in error ? error.nativeError : error;
}
