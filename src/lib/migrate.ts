import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';

import knex, { type Knex } from 'knex';
import pg from 'pg';

import type { Queryable } from './db.ts';
import { grantRights } from './grants.ts';

export type MigrateOptions = {
  /** A connection string of the owner of the database. */
  url: string;
  /** The folder of the numbered .sql files; its folder `functions` has the SQL functions, a file for each aggregate. */
  directory: string;
};

// Any number that nothing else in this database locks: "mesk".
const MIGRATION_LOCK = 0x6d_65_73_6b;

// The first line of a file that cannot run in a transaction, such as one with CREATE INDEX CONCURRENTLY. After a failure
// the file runs again from its start, so its statements must be repeatable. Each ends at the end of a line. They have no
// lock timeout, since they block nobody while they wait.
const NO_TRANSACTION = '-- no transaction';

/** Knex's own name of the table. */
const RECORD = 'knex_migrations';
const FUNCTIONS = 'functions';
const UNRELEASED = 'UNRELEASED_SCHEMA';

/**
 * What is recorded as applied: a numbered file by its name, once and for all; a file of functions by its name and a hash
 * of its content, so that it is applied again whenever it changed.
 */
type Migration = { name: string; path: string };

export type Migrated = {
  /** What was applied now. */
  applied: string[];
  /** Numbered migrations of a newer release, which this one does not have. */
  newer: string[];
};

/**
 * Brings the schema up to date, forward only, and grants rights (grants.ts). Any number of processes may call it at the
 * same time: one works, the others wait and find nothing to do. Changes of a newer release are left as they are, rights
 * included: migrations only expand the schema, so this release runs on it. Rejects before any change if the database is
 * of an unreleased version ({@link isUnreleasedSchema}).
 */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const holder = new pg.Client({ connectionString: options.url, connectionTimeoutMillis: 5_000 });
  await holder.connect();
  const db = knex({
    client: 'pg',
    connection: { connectionString: options.url, options: '-c lock_timeout=5000 -c timezone=UTC' },
    pool: { min: 0, max: 2 },
    log: { warn: ignore, error: ignore, debug: ignore, deprecate: ignore },
  });
  try {
    await acquireLock(holder);
    const { pending, newer } = await compareSchema(db, options.directory);
    rejectUnreleased(pending, newer);
    const config = { migrationSource: sqlFiles(pending, holder), disableMigrationsListValidation: true };
    // Knex's own lock is a row that a killed process leaves behind; ours ends with its connection.
    await db.migrate.forceFreeMigrationsLock(config);
    const [, applied] = (await db.migrate.latest(config)) as [number, string[]];
    if (newer.length === 0) await grantRights(db);
    return { applied, newer };
  } finally {
    await db.destroy();
    await holder.end();
  }
}

/** Polls: a statement that waits for the lock would keep CREATE INDEX CONCURRENTLY from ending. */
async function acquireLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      MIGRATION_LOCK,
    ]);
    if (rows[0]?.taken) return;
    await sleep(100);
  }
}

// Knex would print errors that are thrown anyway.
function ignore(): void {}

/** The migrations of this folder that the database has not had yet: what /readyz asks. Reads only. */
export async function pendingMigrations(db: Pick<Queryable, 'raw'>, directory: string): Promise<string[]> {
  const { pending } = await compareSchema(db, directory);
  return pending.map(({ name }) => name);
}

async function compareSchema(
  db: Pick<Queryable, 'raw'>,
  directory: string,
): Promise<{ pending: Migration[]; newer: string[] }> {
  const [files, functions, applied] = await Promise.all([
    sqlFileNames(directory),
    functionFiles(join(directory, FUNCTIONS)),
    appliedMigrations(db),
  ]);
  // Files of functions do not count: nothing shows which of two hashes is newer.
  const newer = applied.filter((name) => !name.startsWith(`${FUNCTIONS}/`) && !files.includes(name));
  const numbered = files.map((name) => ({ name, path: join(directory, name) }));
  const missing = numbered.filter(({ name }) => !applied.includes(name));
  const changed = functions.filter(({ name }) => !applied.includes(name));
  // The functions of a newer release stay, as its tables do.
  const isNewer = ({ name }: Migration): boolean =>
    newer.length > 0 && applied.some((other) => withoutHash(other) === withoutHash(name));
  return { pending: [...missing, ...changed.filter((file) => !isNewer(file))], newer };
}

/**
 * Before the first release the migrations were folded into new files. A database that was made by the earlier ones lacks
 * files of this release and has others under their numbers; no release, newer or older, leaves a database like that.
 */
function rejectUnreleased(pending: readonly Migration[], unknown: readonly string[]): void {
  const numbers = new Set(pending.map(({ name }) => numberOf(name)));
  const other = unknown.find((name) => numbers.has(numberOf(name)));
  if (other === undefined) return;
  const message =
    `The database is of an unreleased version of Meskot (it has the migration ${other}), which cannot be migrated: ` +
    'nothing was changed; use an empty database.';
  throw Object.assign(new Error(message), { code: UNRELEASED });
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

function numberOf(name: string): string {
  return name.slice(0, name.indexOf('-'));
}

function withoutHash(name: string): string {
  return name.replace(/@.*/, '');
}

async function appliedMigrations(db: Pick<Queryable, 'raw'>): Promise<string[]> {
  // Before the first migration there is no such table.
  const found = await db.raw(`SELECT to_regclass('${RECORD}') AS record`);
  if (found.rows[0].record === null) return [];
  const { rows } = (await db.raw(`SELECT name FROM ${RECORD} ORDER BY id`)) as { rows: { name: string }[] };
  return rows.map((row) => row.name);
}

async function functionFiles(folder: string): Promise<Migration[]> {
  const files = existsSync(folder) ? await sqlFileNames(folder) : [];
  return Promise.all(
    files.map(async (file) => {
      const path = join(folder, file);
      const hash = createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
      return { name: `${FUNCTIONS}/${file}@${hash.slice(0, 8)}`, path };
    }),
  );
}

async function sqlFileNames(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names.filter((name) => name.endsWith('.sql')).toSorted();
}

function sqlFiles(migrations: Migration[], holder: pg.Client): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => migrations,
    getMigrationName: ({ name }) => name,
    getMigration: async ({ path }) => {
      const sql = await readFile(path, 'utf8');
      const isApart = sql.startsWith(NO_TRANSACTION);
      return {
        up: async (trx) => {
          if (isApart) for (const statement of sql.split(/;\s*$/m)) await holder.query(statement);
          // A bare ? would be taken for a binding.
          else await trx.raw(sql.replaceAll('?', String.raw`\?`));
        },
        down: () => Promise.reject(new Error('migrations go forward only')),
        config: { transaction: !isApart },
      };
    },
  };
}
