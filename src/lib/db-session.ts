import { randomUUID } from 'node:crypto';

import pg from 'pg';

import { asAbsence, DatabaseRefused } from './db-errors.ts';

/** The oldest PostgreSQL that the migrations and statements are tested with, as server_version_num. */
const OLDEST_SERVER = 150_000;

/**
 * What statements depend on. Each connection sets it, whatever the server, the database or the role has set. Not in the
 * start-up packet, whose settings poolers reject or ignore.
 */
const SETTINGS = {
  // Operations lock, then read what was committed before.
  default_transaction_isolation: 'read committed',
  search_path: 'public',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  // Hot pages are in memory. At the default, for a turning disk, the few rows due in a queue are found by sorting all.
  random_page_cost: 1.1,
};

/** 0 is none. */
export type SessionLimits = Record<
  'statement_timeout' | 'lock_timeout' | 'idle_in_transaction_session_timeout',
  number
>;

export const NO_LIMITS: SessionLimits = {
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
};

/** The server that a connection leads to: another one, or the same after a restart, has another start. */
export const READ_SERVER = 'SELECT CAST(extract(epoch FROM pg_postmaster_start_time()) AS text) AS server';

const READ_STATE = `
  SELECT pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only') = 'on' AS is_read_only,
         CAST(current_setting('server_version_num') AS int) AS version_number, current_setting('server_version') AS version,
         (${READ_SERVER})`;

type State = { is_standby: boolean; is_read_only: boolean; version_number: number; version: string; server: string };

/** Unlike our limits, not of all supported versions: 0 where there is one. */
const newerLimit = (name: string): string =>
  `SELECT set_config('${name}', '0', false) WHERE current_setting('${name}', true) IS NOT NULL`;

export type SessionOptions = { limits: SessionLimits; timeoutMs: number; oldestServer?: number | undefined };

/**
 * Sets what our statements depend on, in one round trip, and returns the server. Throws DatabaseRefused if that is older
 * than supported, a standby, or read-only.
 */
export async function beginSession(client: pg.ClientBase, options: SessionOptions): Promise<string> {
  const { limits, timeoutMs, oldestServer = OLDEST_SERVER } = options;
  const text = [
    // First: a role's limit of a millisecond would end the others.
    newerLimit('transaction_timeout'),
    ...Object.entries({ ...limits, ...SETTINGS }).map(([name, value]) => `SET ${name} = '${value}'`),
    newerLimit('idle_session_timeout'),
    READ_STATE,
  ].join(';\n');
  // pg has a result for each statement.
  const results = await client.query<State>({ text, query_timeout: timeoutMs } as pg.QueryConfig);
  const state = ([results].flat().at(-1) as pg.QueryResult<State>).rows[0] as State;
  if (state.version_number < oldestServer) throw ofOldServer(state.version, oldestServer);
  if (state.is_standby || state.is_read_only) throw ofReadOnly(state.is_standby);
  return state.server;
}

function ofOldServer(version: string, oldestServer: number): DatabaseRefused {
  const oldest = Math.floor(oldestServer / 10_000);
  return new DatabaseRefused(
    'OLD_SERVER',
    `The database is PostgreSQL ${version}, and Meskot needs ${oldest} or newer.`,
    'Upgrade the server, or set DATABASE_URL to a newer one.',
  );
}

export function ofReadOnly(isStandby: boolean): DatabaseRefused {
  return isStandby
    ? new DatabaseRefused(
        'READ_ONLY',
        'The database is read-only: the server is a standby, or still recovers.',
        'Wait until it is promoted, or set DATABASE_URL to the primary.',
      )
    : new DatabaseRefused(
        'READ_ONLY',
        'The database is read-only: default_transaction_read_only is on.',
        'Make room if its disk is full; then set it to off for the server, the database and the role (ALTER … SET).',
      );
}

const CONNECT_MS = 5_000;

/** A connection of its own with the settings of all, for what needs no pool. Its errors are absences of the database. */
export async function connectSession(
  config: { url: string; applicationName: string; connectMs?: number },
  options: Partial<SessionOptions> = {},
): Promise<pg.Client> {
  const { url, applicationName, connectMs = CONNECT_MS } = config;
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await beginSession(client, { limits: NO_LIMITS, timeoutMs: connectMs, ...options });
    return client;
  } catch (error) {
    void client.end().catch(() => {});
    throw asAbsence(error);
  }
}

const MARK = "SELECT set_config('meskot.connection', $1, false)";
/** A busy pooler may happen to give a connection the same session again. */
const ROUNDS = 3;
const READ_MARK = "SELECT current_setting('meskot.connection', true) AS mark";

/**
 * Throws DatabaseRefused if a pooler gives each transaction another session, which would lose time limits, locks and
 * notifications. Two connections mark their sessions and read the marks in later transactions: those of a session of one's
 * own never change, whatever else the server does. Returns false if nothing is known, since a second connection could not be opened.
 */
export async function ensureOwnSession(client: pg.ClientBase, url: string, timeoutMs: number): Promise<boolean> {
  const other = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs });
  other.on('error', () => {});
  try {
    await other.connect();
    // Never used before: a session that was passed on keeps the marks of others.
    const [mark, otherMark] = [randomUUID(), randomUUID()];
    await client.query(MARK, [mark]);
    await other.query(MARK, [otherMark]);
    for (let round = 0; round < ROUNDS; round += 1) {
      // In this order: a pooler that uses two sessions in turn gives each of them to the other one.
      if ((await markOf(other)) !== otherMark || (await markOf(client)) !== mark) throw ofSharedSessions();
    }
    return true;
  } catch (error) {
    if (error instanceof DatabaseRefused) throw error;
    return false;
  } finally {
    // Not awaited: a silent server does not confirm the end.
    void other.end().catch(() => {});
  }
}

/**
 * For a process that starts: throws a sentence where {@link ensureOwnSession} throws. One whose database is away, or is
 * refused for another reason, starts and waits.
 */
export async function rejectSharedSessions(url: string): Promise<void> {
  const client = await connectSession({ url, applicationName: 'meskot-start' }).catch(() => null);
  if (!client) return;
  try {
    await ensureOwnSession(client, url, CONNECT_MS);
  } catch (error) {
    throw error instanceof DatabaseRefused ? new Error(`${error.message} ${error.next}`) : error;
  } finally {
    void client.end().catch(() => {});
  }
}

const markOf = async (client: pg.ClientBase): Promise<string | null | undefined> =>
  (await client.query<{ mark: string | null }>(READ_MARK)).rows[0]?.mark;

function ofSharedSessions(): DatabaseRefused {
  return new DatabaseRefused(
    'SHARED_SESSIONS',
    'DATABASE_URL leads to a pooler that gives each transaction another session (PgBouncer in transaction or statement ' +
      'mode): time limits, locks and notifications would be lost.',
    'Set DATABASE_URL to PostgreSQL itself, or the pooler to pool_mode = session.',
  );
}
