import knex, { type Knex as Builder } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import type pg from 'pg';

// With the option every name finds its way back: consecutive_failures, consecutiveFailures.
const columnNames = knexSnakeCaseMappers({ underscoreBetweenUppercaseLetters: true });

const ignore = (): void => {};

export type KnexConnection = {
  query: (statement: pg.QueryConfig, done: (error: Error, result: pg.QueryResult) => void) => void;
};
type Listeners = {
  onStatement: (statement: { sql: string; values: readonly unknown[]; rowCount: null }) => void;
  onError: (error: unknown) => void;
};
type Connections<Connection> = { acquire: () => Promise<Connection>; release: (connection: Connection) => void };

/** Knex on connections that it does not own, with what is called after each of its statements. */
export function openKnex<Connection extends KnexConnection>(
  { acquire, release }: Connections<Connection>,
  { onStatement, onError }: Listeners,
): Builder {
  // The interface of tarn, the pool that Knex expects.
  const connectionPool = {
    acquire: () => ({ promise: acquire() }),
    release: (connection: Connection) => {
      release(connection);
      return true;
    },
    destroy: async () => {},
    numUsed: () => 0,
    numFree: () => 0,
    numPendingAcquires: () => 0,
  };
  const builder = knex({
    client: 'pg',
    connectionPool,
    // Knex would query it on the first connection.
    version: '18',
    // Knex would log what it throws; with the values in its SQL these would be in the log.
    compileSqlOnError: false,
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
    ...columnNames,
  });
  return builder
    .on('query-response', (_rows, { sql, bindings }: { sql: string; bindings?: unknown[] }) =>
      onStatement({ sql, values: bindings ?? [], rowCount: null }),
    )
    .on('query-error', onError);
}
