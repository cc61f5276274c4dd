import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import knex, { type Knex } from 'knex';
import pg from 'pg';

import { grantRights } from './grants.ts';

export type MigrateOptions = {
  /** A connection string of the owner of the database. */
  url: string;
  /** The folder of the numbered .sql files. */
  directory: string;
};

// Any number that nothing else in this database locks: "mesk".
const MIGRATION_LOCK = 0x6d_65_73_6b;

// The first line of a file that cannot run in a transaction, such as one with CREATE INDEX CONCURRENTLY. It begins again
// when it failed, so its statements, which end at a line's end, must bear that. They may wait: nobody waits for them.
const WITHOUT_TRANSACTION = '-- no transaction';

export type Migrated = {
  /** The files that were applied now. */
  applied: string[];
  /** Migrations of a newer release, which this one does not have. */
  newer: string[];
};

/**
 * Brings the schema up to date, forward only, and sees to who may do what (grants.ts). Any number of
 * processes may call it at once: one works, the others wait and find nothing to do. What a newer release has applied is
 * left as it is, rights included: migrations only expand, so this release runs on it.
 */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const holder = new pg.Client({ connectionString: options.url, connectionTimeoutMillis: 5_000 });
  await holder.connect();
  const db = knex({
    client: 'pg',
    connection: { connectionString: options.url, options: '-c lock_timeout=5000 -c timezone=UTC' },
    pool: { min: 0, max: 2 },
    log: { warn: ignore, error: ignore, debug: ignore, deprecate: ignore },
    migrations: { migrationSource: sqlFiles(options.directory, holder), disableMigrationsListValidation: true },
  });
  try {
    await takeTurn(holder);
    // Knex's own lock is a row that a killed process leaves behind; ours went with its connection.
    await db.migrate.forceFreeMigrationsLock();
    const [, applied] = (await db.migrate.latest()) as [number, string[]];
    const newer = await newerMigrations(db, options.directory);
    if (newer.length === 0) await grantRights(db);
    return { applied, newer };
  } finally {
    await db.destroy();
    await holder.end();
  }
}

/** Asks again and again rather than waits: a waiting statement would keep CREATE INDEX CONCURRENTLY from ending. */
async function takeTurn(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      MIGRATION_LOCK,
    ]);
    if (rows[0]?.taken) return;
    await sleep(100);
  }
}

// Knex would print errors that we throw.
function ignore(): void {}

/** The migrations of this folder that the database has not had yet: what /readyz asks. Reads only. */
export async function pendingMigrations(db: Knex, directory: string): Promise<string[]> {
  const [files, done] = await Promise.all([sqlFileNames(directory), appliedMigrations(db)]);
  return files.filter((file) => !done.includes(file));
}

async function newerMigrations(db: Knex, directory: string): Promise<string[]> {
  const [files, done] = await Promise.all([sqlFileNames(directory), appliedMigrations(db)]);
  return done.filter((name) => !files.includes(name));
}

/** One sentence for whoever starts an older release on the schema of a newer one. */
export function ofNewerRelease(newer: readonly string[]): string {
  return (
    `The database has migrations of a newer release (${newer.join(', ')}); this release runs on it, since migrations ` +
    'only expand the schema (docs/operations/rolling-back.md).'
  );
}

async function appliedMigrations(db: Knex): Promise<string[]> {
  const { rows } = (await db.raw('SELECT name FROM knex_migrations ORDER BY id')) as { rows: { name: string }[] };
  return rows.map((row) => row.name);
}

async function sqlFileNames(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names.filter((name) => name.endsWith('.sql')).toSorted();
}

function sqlFiles(directory: string, holder: pg.Client): Knex.MigrationSource<string> {
  return {
    getMigrations: () => sqlFileNames(directory),
    getMigrationName: (name) => name,
    getMigration: async (name) => {
      const sql = await readFile(join(directory, name), 'utf8');
      const isApart = sql.startsWith(WITHOUT_TRANSACTION);
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
