import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { isNativeError } from 'node:util/types';

import type { Knex } from 'knex';
import pg from 'pg';

import { camelCase, snakeCase } from './column-names.ts';
import { openKnex, type KnexConnection } from './knex.ts';
import { prepare, rename, type Prepared } from './prepared-statements.ts';

// bigint columns are santim and counters: exact, as BigInt. Cast to ::int in SQL where a number is wanted.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
// Days are texts, YYYY-MM-DD.
pg.types.setTypeParser(pg.types.builtins.DATE, String);

export type DatabaseOptions = {
  /** For queries over whole tables: without time limits of statements. */
  unlimitedStatements?: boolean;
  url: string;
  poolMax: number;
  applicationName: string;
};

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

const SESSION = {
  statement_timeout: 5_000,
  lock_timeout: 1_000,
  idle_in_transaction_session_timeout: 10_000,
  timezone: 'UTC',
  // Hot pages are in memory. At the default, for a turning disk, the few rows due in a queue are found by sorting all.
  random_page_cost: 1.1,
};
/** For a free connection, and for a new one. */
const CONNECT_MS = 1_000;

/**
 * A pool with the house's limits: acquire and connect 1 s, statement 5 s, lock 1 s, idle in transaction 10 s, so that a
 * database that is unavailable is a 503 within 2 s. Column names are camelCase in TypeScript and snake_case in SQL.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const sockets = new Set<Socket>();
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.poolMax,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // Statements that do not wait for each other's results share a round trip.
    pipeline: true,
    // A frozen server does not enforce its statement timeout.
    ...(options.unlimitedStatements ? {} : { query_timeout: 6_000 }),
    options: Object.entries(SESSION)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once('close', () => sockets.delete(socket));
    },
  });
  // The statements of a lost connection reject with the same error.
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  const events = new EventEmitter<DatabaseEvents>();
  let ended: Promise<void> | undefined;
  const acquire = async (): Promise<pg.PoolClient> => {
    const startedAt = performance.now();
    return pool.connect().finally(() => events.emit('acquired', performance.now() - startedAt));
  };
  const run: Run = async (statement) => {
    const client = await acquire();
    let isLost = false;
    try {
      return await execute(client, statement, events);
    } catch (error) {
      // All other errors are the connection's, such as a timeout.
      isLost = !(error instanceof pg.DatabaseError);
      throw error;
    } finally {
      client.release(isLost);
    }
  };
  const knex = openKnex({ acquire, release: (client) => client.release() }, onKnexStatement(events));
  return {
    isTransaction: false,
    run,
    knex: () => knex,
    transaction: async (work) => transact(await acquire(), events, work),
    pool,
    sockets,
    events,
    destroy: async () => (ended ??= pool.end()),
  };
}

const ignore = (): void => {};

function onKnexStatement(events: EventEmitter<DatabaseEvents>) {
  return (sql: string, values: readonly unknown[]) => events.emit('statement', { sql, values, rowCount: null });
}

async function execute(
  client: pg.ClientBase,
  statement: pg.QueryArrayConfig,
  events: EventEmitter<DatabaseEvents>,
): Promise<pg.QueryArrayResult<unknown[]>> {
  const result = await client.query<unknown[]>(statement);
  events.emit('statement', { sql: statement.text, values: statement.values ?? [], rowCount: result.rowCount });
  return result;
}

async function transact<T>(
  client: pg.PoolClient,
  events: EventEmitter<DatabaseEvents>,
  work: (trx: Trx) => Promise<T>,
): Promise<T> {
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
  const knex = () =>
    (opened ??= openKnex({ acquire: async () => connection, release: ignore }, onKnexStatement(events)));
  const run: Run = async (statement) => {
    ensureOpen();
    return execute(client, statement, events);
  };
  try {
    // Awaited: after a BEGIN that failed, the first statement would be committed by itself.
    await client.query('BEGIN');
    const result = await work({ isTransaction: true, run, knex });
    isOver = true;
    // PostgreSQL answers ROLLBACK, without an error, when a statement has failed.
    const { command } = await client.query('COMMIT');
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement of it failed.');
    client.release();
    return result;
  } catch (error) {
    isOver = true;
    await client.query('ROLLBACK').then(
      () => client.release(),
      () => client.release(true),
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
    if (!(error instanceof Error && error.message.includes(STALE_PLAN))) throw error;
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

const STALE_PLAN = 'cached plan must not change result type';

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

const UNAVAILABLE = /^(08|57P0[1-3]|53)|ECONNREFUSED|ECONNRESET|ENOENT|ETIMEDOUT|EPIPE/;

/** Whether an error means that the database is unavailable or overloaded, rather than that the statement is wrong. */
export function isDatabaseUnavailable(thrown: unknown): boolean {
  const error = unwrapped(thrown);
  if (!isNativeError(error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    UNAVAILABLE.test(code) ||
    /Query read timeout|cached plan must not change|Connection terminated|Connection ended|not queryable|timeout exceeded when trying to connect|timeout expired|the database system is/.test(
      error.message,
    )
  );
}

/** Whether an error comes from the database, its connections or its pool. */
export function isDatabaseError(thrown: unknown): boolean {
  const error = unwrapped(thrown);
  return (isNativeError(error) && 'severity' in error) || isDatabaseUnavailable(error);
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
