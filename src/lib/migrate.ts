import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';

import type pg from 'pg';

import { connectSession, ensureOwnSession } from './db-session.ts';
import { rows, type Queryable } from './db.ts';
import { grantRights } from './grants.ts';

export type MigrateOptions = {
  /** A connection string of the owner of the database. */
  url: string;
  /** The folder of the numbered .sql files; its folder `functions` has the SQL functions, a file for each aggregate. */
  directory: string;
  /** The oldest server allowed, as server_version_num; by default the oldest supported one. */
  oldestServer?: number;
  /** Inserts rows that this release needs and the database lacks, in one transaction. Returns what it has inserted. */
  insertRows?: (client: pg.Client) => Promise<string[]>;
};

const CONNECT_MS = 5_000;

/** Longer than any statement of the running service. */
const LOCK_TIMEOUT_MS = 5_000;
// Any number that nothing else in this database locks: "mesk".
const MIGRATION_LOCK = 0x6d_65_73_6b;

// The first line of a file that cannot run in a transaction, such as one with CREATE INDEX CONCURRENTLY. After a failure
// the file runs again from its start, so its statements must be repeatable. Each ends at the end of a line. They have no
// lock timeout, since they block no statement while they wait.
const NO_TRANSACTION = '-- no transaction';

const FUNCTIONS = 'functions';
const UNRELEASED = 'UNRELEASED_SCHEMA';

/**
 * What is recorded as applied: a numbered file by its name, once and for all, with a hash of its content; a file of functions
 * by its name and the hash, so that it is applied again whenever it changed.
 */
type Migration = { name: string; sql: string };
type Applied = { name: string; hash: string };
const hashOf = (sql: string): string => createHash('sha256').update(sql).digest('hex').slice(0, 8);

/**
 * Brings the schema up to date, forward only, inserts missing rows, and grants rights (grants.ts). Any number of processes may call it at the
 * same time: one works, the others wait and find nothing to do. Changes of a newer release are left as they are, rights
 * included: migrations only expand the schema, so this release runs on it. Rejects before any change if the server is
 * too old, read-only or behind a pooler without sessions (DatabaseRefused), or if the database is of an unreleased version
 * ({@link isUnreleasedSchema}). Returns what was applied now, and the numbered migrations of a
 * newer release (`newer`), which this one does not have.
 */
export async function migrate({ url, directory, oldestServer, insertRows }: MigrateOptions) {
  const client = await connectSession(
    { url, applicationName: 'meskot-migrate', connectMs: CONNECT_MS },
    { oldestServer },
  );
  try {
    await ensureOwnSession(client, url, CONNECT_MS);
    await acquireLock(client);
    await rejectUnreleased(client);
    await client.query(
      'CREATE TABLE IF NOT EXISTS schema_migration (name text PRIMARY KEY, hash text NOT NULL, applied_at timestamptz NOT NULL)',
    );
    const { rows: recorded } = await client.query<Applied>('SELECT name, hash FROM schema_migration ORDER BY name');
    const { pending, newer, changed } = await compareSchema(directory, recorded);
    if (changed.length > 0) throw unreleased();
    for (const migration of pending) await apply(client, migration);
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const applied = pending.map(({ name }) => name);
    if (newer.length > 0) return { applied, newer };
    await client.query('BEGIN');
    const inserted = (await insertRows?.(client)) ?? [];
    await client.query('COMMIT');
    await grantRights(client);
    return { applied: [...applied, ...inserted], newer };
  } finally {
    await client.end();
  }
}

/**
 * The lock ends with its connection. Polls: a statement that waits for the lock would keep CREATE INDEX CONCURRENTLY from
 * ending.
 */
async function acquireLock(client: pg.Client): Promise<void> {
  const sql = 'SELECT pg_try_advisory_lock($1) AS taken';
  while (!(await client.query<{ taken: boolean }>(sql, [MIGRATION_LOCK])).rows[0]?.taken) await sleep(100);
}

async function apply(client: pg.Client, { name, sql }: Migration): Promise<void> {
  const isApart = sql.startsWith(NO_TRANSACTION);
  await client.query(`SET lock_timeout = ${isApart ? 0 : LOCK_TIMEOUT_MS}`);
  const record = {
    text: 'INSERT INTO schema_migration (name, hash, applied_at) VALUES ($1, $2, now())',
    values: [name, hashOf(sql)],
  };
  const statements = isApart ? [...sql.split(/;\s*$/m), record] : ['BEGIN', sql, record, 'COMMIT'];
  for (const statement of statements) await client.query(statement);
}

/** The migrations of this folder that the database lacks, for /readyz. Reads only. */
export async function pendingMigrations(db: Queryable, directory: string): Promise<string[]> {
  const sql = "SELECT to_regclass('schema_migration') IS NOT NULL AS is_migrated";
  const [found] = await rows<{ isMigrated: boolean }>(db, sql);
  const applied = found?.isMigrated ? await rows<Applied>(db, 'SELECT * FROM schema_migration') : [];
  const { pending } = await compareSchema(directory, applied);
  return pending.map(({ name }) => name);
}

async function compareSchema(directory: string, recorded: readonly Applied[]) {
  const applied = recorded.map(({ name }) => name);
  const files = await readSqlFiles(directory);
  const hashes = new Map(files.map(({ name, sql }) => [name, hashOf(sql)]));
  const changed = recorded.filter(({ name, hash }) => (hashes.get(name) ?? hash) !== hash);
  // Files of functions do not count: nothing shows which of two hashes is newer.
  const newer = applied.filter(
    (name) => !name.startsWith(`${FUNCTIONS}/`) && !files.some((file) => file.name === name),
  );
  const functionsFolder = join(directory, FUNCTIONS);
  const functionFiles = existsSync(functionsFolder) ? await readSqlFiles(functionsFolder) : [];
  const functions = functionFiles.map(({ name, sql }) => ({
    file: `${FUNCTIONS}/${name}`,
    name: `${FUNCTIONS}/${name}@${hashOf(sql)}`,
    sql,
  }));
  // The functions of a newer release stay, as its tables do.
  const own = functions.filter(
    ({ file }) => newer.length === 0 || !applied.some((name) => name.startsWith(`${file}@`)),
  );
  return { pending: [...files, ...own].filter(({ name }) => !applied.includes(name)), newer, changed };
}

async function readSqlFiles(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
  return Promise.all(files.map(async (name) => ({ name, sql: await readFile(join(folder, name), 'utf8') })));
}

/** Before the first release, migrations were recorded otherwise, and their files were changed. */
async function rejectUnreleased(client: pg.Client): Promise<void> {
  const sql =
    "SELECT coalesce(to_regclass('public.knex_migrations'), to_regclass('public.migration')) IS NOT NULL AS found";
  if ((await client.query<{ found: boolean }>(sql)).rows[0]?.found) throw unreleased();
}

function unreleased(): Error {
  const message =
    'The database is of an unreleased version of Meskot, which cannot be migrated: nothing was changed; use an empty ' +
    'database.';
  return Object.assign(new Error(message), { code: UNRELEASED });
}

/** Whether {@link migrate} rejected because the database is of an unreleased version. */
export function isUnreleasedSchema(error: unknown): boolean {
  return isNativeError(error) && 'code' in error && error.code === UNRELEASED;
}

/** The warning for an older release that starts on the schema of a newer one. */
export function ofNewerRelease(newer: readonly string[]): string {
  return (
    `The database has migrations of a newer release (${newer.join(', ')}); this release runs on it, since migrations ` +
    'only expand the schema (docs/operations/rolling-back.md).'
  );
}
