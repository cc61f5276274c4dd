import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

import type { Knex } from 'knex';
import pg from 'pg';

import { camelCase, snakeCase } from './column-names.ts';
import { isReadOnly, isStalePlan } from './db-errors.ts';
import { acquireCurrent, type DatabaseOptions, openPool, type ServerWatch } from './db-pool.ts';
import { ofReadOnly } from './db-session.ts';
import { openKnex, type KnexConnection } from './knex.ts';
import { prepare, rename, type Prepared } from './prepared-statements.ts';

// bigint columns are santim and counters: exact, as BigInt. Cast to ::int in SQL where a number is wanted.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
// Days are texts, YYYY-MM-DD.
pg.types.setTypeParser(pg.types.builtins.DATE, String);

type Run = (statement: pg.QueryArrayConfig) => Promise<pg.QueryArrayResult<unknown[]>>;

/** What runs SQL: a pool or a transaction. Raw SQL goes through {@link rows}. */
export type Queryable = {
  isTransaction: boolean;
  run: Run;
  /** Knex on the same connections, for statements that depend on the input, and for Objection's models. */
  knex: () => Knex;
};

/** One transaction on one connection. Rejects statements after its end. */
export type Trx = Queryable & { isTransaction: true };

export type Database = Queryable & {
  isTransaction: false;
  /** Runs the work in one transaction: committed when it resolves, rolled back when it rejects. */
  transaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>;
  pool: pg.Pool;
  /** The sockets of the pool's connections. */
  sockets: ReadonlySet<Socket>;
  /** The server that they lead to. */
  server: ServerWatch;
  events: EventEmitter<DatabaseEvents>;
  /** Closes the pool, once its connections are idle. */
  destroy: () => Promise<void>;
};

export type DatabaseEvents = {
  /** A connection was acquired, or could not be. */
  acquired: [waitedMs: number];
  /** A statement succeeded; BEGIN, COMMIT and ROLLBACK are left out. */
  statement: [{ sql: string; values: readonly unknown[]; rowCount: number | null }];
};

/**
 * A pool with the house's limits: acquire and connect 1 s, statement 5 s, lock 1 s, idle in transaction 10 s, so that a
 * database that is unavailable is a 503 within 2 s. Column names are camelCase in TypeScript and snake_case in SQL.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { pool, sockets, server } = openPool(options);
  const events = new EventEmitter<DatabaseEvents>();
  let ended: Promise<void> | undefined;
  const connections: Connections = {
    acquire: async () => {
      const startedAt = performance.now();
      return acquireCurrent(pool, server).finally(() => events.emit('acquired', performance.now() - startedAt));
    },
    release: (client, isLost = false) => client.release(isLost || !server.has(client)),
    onStatement: (statement) => events.emit('statement', statement),
    onError: (error) => isReadOnly(error) && server.leave(),
  };
  const knex = openKnex(connections, connections);
  return {
    isTransaction: false,
    run: async (statement) => runOnce(connections, statement),
    knex: () => knex,
    transaction: async (work) => transact(connections, work),
    pool,
    sockets,
    server,
    events,
    destroy: async () => (ended ??= pool.end()),
  };
}

const ignore = (): void => {};

type Connections = {
  acquire: () => Promise<pg.PoolClient>;
  release: (client: pg.PoolClient, isLost?: boolean) => void;
  onStatement: (statement: DatabaseEvents['statement'][0]) => void;
  onError: (error: unknown) => void;
};

async function runOnce(connections: Connections, statement: pg.QueryArrayConfig) {
  const client = await connections.acquire();
  let isLost = false;
  try {
    return await execute(client, statement, connections);
  } catch (error) {
    connections.onError(error);
    // All other errors are the connection's, such as a timeout. After 57P…, a server that stops, it closes the connection.
    isLost = !(error instanceof pg.DatabaseError) || (error.code ?? '').startsWith('57P');
    throw error;
  } finally {
    connections.release(client, isLost);
  }
}

async function execute(
  client: pg.ClientBase,
  statement: pg.QueryArrayConfig,
  { onStatement }: Connections,
): Promise<pg.QueryArrayResult<unknown[]>> {
  const result = await client.query<unknown[]>(statement);
  onStatement({ sql: statement.text, values: statement.values ?? [], rowCount: result.rowCount });
  return result;
}

async function transact<T>(connections: Connections, work: (trx: Trx) => Promise<T>): Promise<T> {
  const client = await connections.acquire();
  let isOver = false;
  // Checked as a statement is sent: after the end it would be committed by itself, or belong to another transaction.
  const ensureOpen = (): void => {
    if (isOver) throw new Error('The transaction is over.');
  };
  const connection: KnexConnection = {
    query: (statement, done) => {
      ensureOpen();
      client.query(statement, done);
    },
  };
  let opened: Knex | undefined;
  // Made for the transactions that use it: it takes as long as a few statements.
  const knex = () => (opened ??= openKnex({ acquire: async () => connection, release: ignore }, connections));
  const run: Run = async (statement) => {
    ensureOpen();
    return execute(client, statement, connections);
  };
  try {
    // Awaited: after a BEGIN that failed, the first statement would be committed by itself.
    await client.query('BEGIN');
    const result = await work({ isTransaction: true, run, knex });
    isOver = true;
    // PostgreSQL answers ROLLBACK, without an error, when a statement has failed.
    const { command } = await client.query('COMMIT');
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement of it failed.');
    connections.release(client);
    return result;
  } catch (error) {
    isOver = true;
    connections.onError(error);
    await client.query('ROLLBACK').then(
      () => connections.release(client),
      () => connections.release(client, true),
    );
    throw error;
  }
}

/**
 * Rows of one SQL statement with `:named` values, typed by the caller. PostgreSQL parses and plans it once per connection:
 * the text must be fixed, or one of a few; what changes belongs into the values. A migration that changes a statement's
 * columns outdates its plan: outside of a transaction the statement is repeated once under a new name.
 */
export async function rows<Row>(db: Queryable, sql: string, values: Record<string, unknown> = {}): Promise<Row[]> {
  try {
    return await runPrepared<Row>(db, prepare(sql), values);
  } catch (error) {
    if (!isStalePlan(error)) throw error;
    const renamed = rename(sql);
    if (db.isTransaction) throw error;
    return await runPrepared<Row>(db, renamed, values);
  }
}

/** The first row of a statement, as {@link rows}. */
export async function first<Row>(db: Queryable, sql: string, values: Record<string, unknown> = {}) {
  const [row] = await rows<Row>(db, sql, values);
  return row;
}

/**
 * Throws DatabaseRefused if the server has become read-only since its connections were opened: they are not used again, in
 * case that another one has taken its place.
 */
export async function ensureWritable(db: Database): Promise<void> {
  const sql =
    "SELECT pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only') = 'on' AS is_read_only";
  const state = await first<{ isStandby: boolean; isReadOnly: boolean }>(db, sql);
  if (!state?.isReadOnly) return;
  db.server.leave();
  throw ofReadOnly(state.isStandby);
}

/** The statement that inserts a row, its columns named by the object's keys, and returns it whole. */
export function insertSql(table: string, row: Record<string, unknown>): string {
  const names = Object.keys(row);
  return `INSERT INTO ${table} (${names.map(snakeCase).join(', ')}) VALUES (:${names.join(', :')}) RETURNING *`;
}

/** Inserts a row as {@link insertSql}. */
export async function insertRow<Row>(trx: Trx, table: string, row: Record<string, unknown>): Promise<Row> {
  return (await first<Row>(trx, insertSql(table, row), row)) as Row;
}

/** Changes these columns of the row with this key, and returns it whole; undefined if there is none. */
export async function updateRow<Row>(
  trx: Trx,
  { table, ...key }: { table: string } & Record<string, string>,
  changes: Record<string, unknown>,
): Promise<Row | undefined> {
  const assignments = Object.keys(changes).map((name) => `${snakeCase(name)} = :${name}`);
  const conditions = Object.keys(key).map((name) => `${snakeCase(name)} = :of_${name}`);
  const sql = `UPDATE ${table} SET ${assignments.join(', ')} WHERE ${conditions.join(' AND ')} RETURNING *`;
  const keyValues = Object.fromEntries(Object.entries(key).map(([name, value]) => [`of_${name}`, value]));
  return first<Row>(trx, sql, { ...changes, ...keyValues });
}

async function runPrepared<Row>(db: Queryable, statement: Prepared, named: Record<string, unknown>): Promise<Row[]> {
  const { name, text, parameters } = statement;
  const values = parameters.map((parameter) => {
    const value = named[parameter];
    if (value === undefined) throw new Error(`The value :${parameter} is missing: ${text}`);
    return value;
  });
  const { fields, rows: found } = await db.run({ name, text, values, rowMode: 'array' });
  const columns = fields.map((field) => camelCase(field.name));
  // Copies of one object take a third of the time of objects that are built key by key.
  const empty = Object.fromEntries(columns.map((column) => [column, null]));
  return found.map((cells) => {
    const row: Record<string, unknown> = { ...empty };
    for (let index = 0; index < columns.length; index += 1) row[columns[index] as string] = cells[index];
    return row as Row;
  });
}
