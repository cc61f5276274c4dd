import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { isNativeError } from 'node:util/types';

import knex, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import pg from 'pg';

export type { Knex };

// bigint columns are santim and counters: exact, as BigInt. Cast to ::int in SQL where a number is wanted.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
// Days are texts, YYYY-MM-DD.
pg.types.setTypeParser(pg.types.builtins.DATE, String);

// With the option every name finds its way back: consecutive_failures, consecutiveFailures.
const columnNames = knexSnakeCaseMappers({ underscoreBetweenUppercaseLetters: true });

export type DatabaseOptions = {
  /** For questions about everything there is: they take as long as they take. */
  unlimitedStatements?: boolean;
  url: string;
  poolMax: number;
  applicationName: string;
};

const SESSION = {
  statement_timeout: 5_000,
  lock_timeout: 1_000,
  idle_in_transaction_session_timeout: 10_000,
  timezone: 'UTC',
  // Every question has its index. A queue is empty when PostgreSQL plans and full of dead rows when it reads: a plan
  // made for an empty table would read them all, and prepared statements keep their plan.
  enable_seqscan: 'off',
  // What is hot is in memory. As for a turning disk, a queue's few wanted rows would be found by reading and sorting all.
  random_page_cost: 1.1,
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
    // Statements of one transaction travel without waiting for each other, and are answered in their order.
    pipeline: true,
    // A server that is frozen answers nothing, not even that the statement took too long.
    ...(options.unlimitedStatements ? {} : { query_timeout: 6_000 }),
    options: Object.entries(SESSION)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
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
      afterCreate: travelTogether,
    },
    // What knex would print is thrown as well; with the values in its SQL it would end in the log.
    compileSqlOnError: false,
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
    ...columnNames,
  });
}

const ignore = (): void => {};

/** What is used of pg's client. */
type Connection = { query: Query; connection: { stream: Writable } };
type Query = (asked: { text: string }, answered: (error: unknown, result?: unknown) => void) => unknown;

/**
 * Lets what is asked in one go travel in one packet, and BEGIN with the first statement of its transaction: a round trip
 * less for each. Should BEGIN fail, so does the statement after it: what makes it fail is a connection that is gone.
 */
function travelTogether(connection: Connection, done: (error: unknown, connection: unknown) => void): void {
  const { stream } = connection.connection;
  const query = connection.query.bind(connection);
  connection.query = (asked, answered) => {
    stream.cork();
    // After the promises that are being settled now: one of them may ask the next statement.
    process.nextTick(() => stream.uncork());
    if (asked.text !== BEGIN) return query(asked, answered);
    // Without its BEGIN, what follows would be committed piece by piece.
    query(asked, (error) => error && stream.destroy());
    return answered(null, { rows: [] });
  };
  done(null, connection);
}

/** As knex says it, too. */
const BEGIN = 'BEGIN;';

/**
 * Runs the work in one transaction: committed when it resolves, rolled back when it rejects. Knex's own transactions
 * make a whole new knex each, which takes as long as the statements of a small one; this is the same knex, asking on
 * one connection.
 */
export async function inTransaction<T>(db: Knex, work: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
  const pool = db.client as KnexClient;
  const connection = await pool.acquireConnection();
  let isOver = false;
  const client: KnexClient = Object.create(pool, {
    transacting: { value: true },
    acquireConnection: {
      value: async () => {
        if (isOver) throw new Error('the transaction is over');
        return connection;
      },
    },
    releaseConnection: { value: async () => {} },
  });
  try {
    await client.query(connection, { sql: BEGIN });
    const result = await work(knexOn(db, client));
    const end = ask(client, { sql: 'COMMIT' });
    isOver = true;
    // What PostgreSQL has given up cannot be committed: it says ROLLBACK then, and calls it success.
    if ((await end).command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement of it failed');
    return result;
  } catch (error) {
    // Where this fails the connection is gone, and the transaction with it.
    if (!isOver) await ask(client, { sql: 'ROLLBACK' }).catch(ignore);
    isOver = true;
    throw error;
  } finally {
    await pool.releaseConnection(connection);
  }
}

/** The same knex over another client. */
function knexOn(db: Knex, client: KnexClient): Knex.Transaction {
  const trx = (table: string): unknown => client.queryBuilder().table(table);
  const { context } = db as unknown as { context: object };
  const own = { context: Object.create(context, { client: { value: client } }), isTransaction: true };
  return Object.assign(Object.setPrototypeOf(trx, db), own);
}

/** A transaction or the pool: what read queries take. */
export type Queryable = Knex | Knex.Transaction;

/**
 * Rows of one SQL statement with `:named` values, typed by the caller who wrote the SQL. PostgreSQL parses and plans it
 * once for a connection: the text must be fixed, or one of a few, and all that changes be in the values. A migration
 * that changes a statement's columns outdates it: outside of a transaction it is asked anew at once.
 */
export async function rows<Row>(db: Queryable, sql: string, values: Record<string, unknown> = {}): Promise<Row[]> {
  const statement = statementOf(sql);
  const bindings = statement.places.map((place) => {
    const value = values[place];
    if (value === undefined) throw new Error(`the value :${place} is not given: ${sql}`);
    return value;
  });
  try {
    return await askRows<Row>(db, statement, bindings);
  } catch (error) {
    if (!(error instanceof Error && error.message.includes(OUTDATED))) throw error;
    const renewed = { ...statement, name: nameOf(`${statement.name} once more`) };
    statements.set(sql, renewed);
    if (db.isTransaction) throw error;
    return await askRows<Row>(db, renewed, bindings);
  }
}

const OUTDATED = 'cached plan must not change result type';

async function askRows<Row>(db: Queryable, { text, name }: Statement, bindings: unknown[]): Promise<Row[]> {
  const { rows: found } = await ask(db.client as KnexClient, { sql: text, bindings, options: { name } });
  return columnNames.postProcessResponse(found) as Row[];
}

async function ask(client: KnexClient, asked: Asked): Promise<Answer> {
  const connection = await client.acquireConnection();
  try {
    await client.query(connection, asked);
    const answer = asked.response ?? NO_ANSWER;
    client.emit('query-response', answer, asked);
    return answer;
  } finally {
    await client.releaseConnection(connection);
  }
}

/** What knex's own queries are made with: types of its own it has none. */
type KnexClient = {
  acquireConnection: () => Promise<object>;
  releaseConnection: (connection: object) => Promise<void>;
  query: (connection: object, asked: Asked) => Promise<unknown>;
  queryBuilder: () => { table: (name: string) => unknown };
  emit: (event: string, ...about: unknown[]) => void;
};
type Asked = { sql: string; bindings?: unknown[]; options?: { name: string }; response?: Answer };
type Answer = { command?: string; rows: Record<string, unknown>[]; rowCount: number | null };

const NO_ANSWER: Answer = { rows: [], rowCount: null };

/** A statement as PostgreSQL takes it: $1 … in place of names, which stand in `places` in their order. */
type Statement = { text: string; name: string; places: string[] };

const statements = new Map<string, Statement>();
/** A value's place; comments and texts, in which a colon is a colon, are passed over. */
const PLACE = /--[^\n]*|'(?:[^']|'')*'|(?<![:\w]):([A-Za-z]\w*)/g;

function statementOf(sql: string): Statement {
  const known = statements.get(sql);
  if (known) return known;
  const places: string[] = [];
  const text = sql.replace(PLACE, (match, place?: string) => (place ? `$${places.push(place)}` : match));
  // Knex would take a question mark for a value's place.
  const statement = { text: text.replaceAll('?', String.raw`\?`), name: nameOf(text), places };
  statements.set(sql, statement);
  return statement;
}

/** A prepared statement's name may have 63 characters. */
const nameOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

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
    /Query read timeout|cached plan must not change|Connection terminated|Connection ended|not queryable|timeout exceeded when trying to connect|the database system is/.test(
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
