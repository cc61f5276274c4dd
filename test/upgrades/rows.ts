import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import pg from 'pg';

import { rows, type Queryable } from '../../src/lib/db.ts';
import { migrate } from '../../src/lib/migrate.ts';
import { createTestDatabase, runSql, type TestDatabase } from '../support/database.ts';

const MIGRATIONS = resolve(import.meta.dirname, '../../migrations');

/** All rows of a database by table, as PostgreSQL writes them in JSON, and the migrations that it had. */
export type SavedRows = { migrations: string[]; tables: Record<string, object[]> };

/** Each table with those of its columns whose values are stored as given. */
const TABLES = `
  SELECT quote_ident(c.table_name) AS name, string_agg(quote_ident(c.column_name), ', ' ORDER BY c.ordinal_position) AS columns,
         min(quote_ident(c.column_name)) FILTER (WHERE c.is_identity = 'YES') AS identity
  FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
  WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER' AND c.table_name <> 'schema_migration'
  GROUP BY c.table_name ORDER BY c.table_name`;
type Table = { name: string; columns: string; identity: string | null };

export async function saveRows(db: Queryable): Promise<SavedRows> {
  const tables: SavedRows['tables'] = {};
  for (const { name, columns } of await rows<Table>(db, TABLES)) {
    const found = await rows<{ row: object }>(db, `SELECT to_jsonb(r) AS row FROM (SELECT ${columns} FROM ${name}) r`);
    if (found.length > 0) tables[name] = found.map(({ row }) => row);
  }
  const applied = await rows<{ name: string }>(db, 'SELECT name FROM schema_migration ORDER BY name');
  return { migrations: applied.map(({ name }) => name).filter((name) => !name.includes('/')), tables };
}

/** A new database with these rows, in the schema that they were saved from and then brought up to date by all later migrations. */
export async function upgradeRows({ migrations, tables }: SavedRows): Promise<TestDatabase> {
  const database = await createTestDatabase();
  const { ownerUrl: url, superuserUrl } = database;
  const directory = await mkdtemp(join(tmpdir(), 'meskot-upgrade-'));
  try {
    const owner = new URL(url).username;
    await runSql(superuserUrl, `DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION ${owner}`);
    // Without the SQL functions, which are of today's tables.
    for (const name of migrations) await cp(join(MIGRATIONS, name), join(directory, name));
    await migrate({ url, directory });
    await insertRows(superuserUrl, tables);
    await migrate({ url, directory: MIGRATIONS });
    return database;
  } catch (error) {
    await database.drop();
    throw error;
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function insertRows(url: string, saved: SavedRows['tables']): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // The rows as they were: no triggers, and foreign keys in any order.
    await client.query('SET session_replication_role = replica');
    for (const { name, columns, identity } of (await client.query<Table>(TABLES)).rows) {
      // Migrations have written some themselves.
      await client.query(`DELETE FROM ${name}`);
      const read = `SELECT ${columns} FROM jsonb_populate_recordset(NULL::${name}, $1)`;
      const values = [JSON.stringify(saved[name] ?? [])];
      await client.query(`INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE ${read}`, values);
      if (identity === null) continue;
      const next = `(SELECT coalesce(max(${identity}), 0) + 1 FROM ${name})`;
      await client.query(`SELECT setval(pg_get_serial_sequence('${name}', '${identity}'), ${next}, false)`);
    }
  } finally {
    await client.end();
  }
}
