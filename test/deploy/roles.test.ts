import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import pg from 'pg';

import { migrate } from '../../src/lib/migrate.ts';
import { createOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts';

const script = readFileSync(new URL('../../deploy/postgres/roles.sql', import.meta.url), 'utf8');
const directory = resolve(import.meta.dirname, '../../migrations');
let postgres: OwnPostgres;

/** A server without our roles, and a login as clouds give one: no superuser. */
beforeAll(async () => {
  postgres = await createOwnPostgres();
  await postgres.database.drop();
  for (const sql of [
    'DROP DATABASE meskot WITH (FORCE)',
    'DROP ROLE meskot_app',
    "CREATE ROLE admin LOGIN CREATEROLE CREATEDB PASSWORD 'admin'",
  ])
    await query('postgres', sql, postgres.database.superuserUrl);
});
afterAll(() => postgres.close());

function urlOf(username: string, password: string, database: string): string {
  const url = new URL(postgres.database.superuserUrl);
  return Object.assign(url, { username, password, pathname: `/${database}` }).href;
}

async function query(database: string, sql: string, as: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: Object.assign(new URL(as), { pathname: `/${database}` }).href });
  await client.connect();
  return client
    .query<Record<string, unknown>>(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

/** As psql does with --set owner=… --set app=…, and with \gexec. */
async function runScript(passwords: { owner: string; app: string }): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf('admin', 'admin', 'postgres') });
  await client.connect();
  const sql = script
    .replaceAll(/^(?:--|\\set ).*$/gm, '')
    .replaceAll(/:'(owner|app)'/g, (_, name: 'owner' | 'app') => pg.escapeLiteral(passwords[name]));
  try {
    for (const [, statement = '', end] of sql.matchAll(/([^;\\]+)(;|\\gexec)/g)) {
      const { rows } = await client.query<string[]>({ text: statement, rowMode: 'array' });
      if (end !== ';') for (const [made = ''] of rows) await client.query(made);
    }
  } finally {
    await client.end();
  }
}

test('a login without superuser makes roles and database, the owner migrates, and the application works', async () => {
  await runScript({ owner: 'one', app: 'two' });
  await migrate({ url: urlOf('meskot', 'one', 'meskot'), directory });
  const app = urlOf('meskot_app', 'two', 'meskot');
  await expect(query('meskot', 'SELECT FROM merchant', app)).resolves.toEqual([]);
  await expect(query('meskot', 'CREATE TABLE t ()', app)).rejects.toThrow('permission denied');
  await expect(query('meskot', 'DELETE FROM merchant', app)).rejects.toThrow('permission denied');
});

test('run again, the script sets other passwords, and leaves the administrator no member of the owner', async () => {
  await runScript({ owner: "own'er", app: 'three' });
  await expect(query('meskot', 'SELECT 1 AS one', urlOf('meskot_app', 'three', 'meskot'))).resolves.toHaveLength(1);
  await expect(query('meskot', 'SELECT 1 AS one', urlOf('meskot_app', 'two', 'meskot'))).rejects.toThrow('password');
  const admin = urlOf('admin', 'admin', 'postgres');
  await expect(query('postgres', 'SET ROLE meskot', admin)).rejects.toThrow('permission denied');
  await expect(query('meskot', 'SELECT 1', admin)).rejects.toThrow('permission denied');
});

test('neither role has a right beyond its database', async () => {
  const sql = `SELECT rolname FROM pg_roles WHERE rolname IN ('meskot', 'meskot_app')
               AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)`;
  await expect(query('postgres', sql, postgres.database.superuserUrl)).resolves.toEqual([]);
});
