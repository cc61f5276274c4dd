import { isNativeError } from 'node:util/types';

import knex, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import pg from 'pg';

export type { Knex };

// bigint columns are santim and counters: exact, as BigInt. Cast to ::int in SQL where a number is wanted.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);

// With the option every name finds its way back: failures_in_a_row, failuresInARow.
const columnNames = knexSnakeCaseMappers({ underscoreBetweenUppercaseLetters: true });

export type DatabaseOptions = {
  url: string;
  poolMax: number;
  applicationName: string;
  /** Lets many statements of one transaction be under way at once, answered in their order. Not unless said. */
  pipeline?: boolean;
};

/**
 * A pool with the house's limits: acquire 1 s, connect 2 s, statement 5 s, lock 1 s, idle in transaction 10 s, so that
 * a database that is away is a 503 within 2 s. Column names are camelCase in TypeScript and snake_case in SQL, also
 * in the results of raw queries.
 */
export function openDatabase(options: DatabaseOptions): Knex {
  // A constant of its own: knex's types do not know all of pg's settings.
  const connection = {
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: 1_500,
    keepAlive: true,
    pipeline: options.pipeline ?? false,
    // A server that is frozen answers nothing, not even that the statement took too long.
    query_timeout: 6_000,
    options:
      '-c statement_timeout=5000 -c lock_timeout=1000 -c idle_in_transaction_session_timeout=10000 -c timezone=UTC',
  };
  return knex({
    client: 'pg',
    connection,
    pool: {
      min: 0,
      max: options.poolMax,
      acquireTimeoutMillis: 1_000,
      createTimeoutMillis: 1_500,
      propagateCreateError: true,
    },
    // What knex would print is thrown as well; with the values in its SQL it would end in the log.
    compileSqlOnError: false,
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
    ...columnNames,
  });
}

const ignore = (): void => {};

/** A transaction or the pool: what read queries take. */
export type Queryable = Knex | Knex.Transaction;

/** Rows of a raw query, typed by the caller who wrote the SQL. Knex maps the column names of its own queries only. */
export async function rows<Row>(
  db: Queryable,
  sql: string,
  bindings: Record<string, unknown> | readonly unknown[] = [],
): Promise<Row[]> {
  const result = (await db.raw(sql, bindings as Knex.RawBinding[])) as { rows: Row[] };
  return columnNames.postProcessResponse(result.rows) as Row[];
}

const UNAVAILABLE = /^(08|57P0[1-3]|53)|ECONNREFUSED|ECONNRESET|ENOENT|ETIMEDOUT|EPIPE/;

/** Whether an error says that the database is away or has no room, rather than that we asked wrongly. */
export function isDatabaseUnavailable(thrown: unknown): boolean {
  const error = unwrapped(thrown);
  if (!isNativeError(error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    UNAVAILABLE.test(code) ||
    error.name === 'KnexTimeoutError' ||
    error.name === 'TimeoutError' ||
    /Connection terminated|Connection ended|not queryable|timeout exceeded when trying to connect|the database system is/.test(
      error.message,
    )
  );
}

/** Whether an error is PostgreSQL's unique violation, of this constraint or index if named. */
export function isUniqueViolation(thrown: unknown, constraint?: string): boolean {
  const error = unwrapped(thrown);
  if (!isNativeError(error) || !('code' in error) || error.code !== '23505') return false;
  return constraint === undefined || ('constraint' in error && error.constraint === constraint);
}

/** PostgreSQL's own error: Objection throws another one around it, which lacks the code. */
function unwrapped(error: unknown): unknown {
  return error instanceof Error && 'nativeError' in error ? error.nativeError : error;
}
