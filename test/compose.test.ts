import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import pg from 'pg';

import { openDatabase, rows } from '../src/lib/db.ts';
import { migrate, pendingMigrations } from '../src/lib/migrate.ts';
import { testStack } from './support/stack-facts.ts';

const compose = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8');
const directory = resolve(import.meta.dirname, '../migrations');

/** The text of each service, by its name. */
function services(): Record<string, string> {
  const [, text = ''] = /^services:\n(.*?)^\S/ms.exec(compose) ?? [];
  const parts = text.split(/^ {2}([a-z-]+):\n/m).slice(1);
  return Object.fromEntries(parts.flatMap((part, at) => (at % 2 === 0 ? [[part, parts[at + 1] ?? '']] : [])));
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // Separate statements, since CREATE DATABASE cannot run in a transaction.
  for (const statement of sql.split(/;\s*$/m)) await client.query(statement);
  await client.end();
}

test('each service of the compose file limits its log', () => {
  const found = Object.entries(services());
  expect(found.length).toBeGreaterThanOrEqual(9);
  expect(found.filter(([, text]) => !/^ {4}(logging: \*logging|<<: \*meskot)$/m.test(text))).toEqual([]);
  expect(compose).toMatch(/max-size: .*\n +max-file: /);
});

test('Temporal has a PostgreSQL server of its own without our passwords', () => {
  const { temporal = '', 'temporal-schema': schema = '', 'temporal-postgres': own = '' } = services();
  expect(temporal).toContain('POSTGRES_SEEDS: temporal-postgres\n');
  expect(`${temporal}${schema}${own}`).not.toMatch(/MESKOT_|\{POSTGRES_PASSWORD/);
  expect(services()['postgres']).not.toContain('TEMPORAL');
});

test('API and worker have the accounts at live providers, and no other service', () => {
  const found = Object.entries(services()).filter(([, text]) => text.includes('env_file: *providers'));
  expect(found.map(([name]) => name)).toEqual(['api', 'worker']);
  expect(compose).toMatch(/&providers\n +- path: providers\.env\n +required: false/);
});

test('the stop timeout exceeds the time in which the API finishes its requests', () => {
  const [, grace] = /stop_grace_period: (\d+)s/.exec(compose) ?? [];
  expect(Number(grace)).toBeGreaterThan(5 + 15);
});

test('the owner of our database is no superuser and can migrate it, and other roles cannot connect', async () => {
  const scope = `owner_${randomBytes(4).toString('hex')}`;
  const { superuserUrl } = testStack();
  const [, script = ''] = /<<'SQL'\n(.*?)\n +SQL\n/s.exec(compose) ?? [];
  const sql = script
    .split('\n')
    // The test server has that role.
    .filter((line) => !line.includes('CREATE ROLE meskot_app'))
    .join('\n')
    .replaceAll(/\bmeskot\b/g, scope)
    .replaceAll(":'owner'", "'secret'");
  await run(superuserUrl, sql);
  const url = new URL(superuserUrl);
  Object.assign(url, { username: scope, password: 'secret', pathname: `/${scope}` });
  await migrate({ url: url.href, directory });

  const db = openDatabase({ url: url.href, poolMax: 1, applicationName: 'test' });
  await expect(pendingMigrations(db, directory)).resolves.toEqual([]);
  const found = await rows(
    db,
    `SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls,
            has_database_privilege('meskot_app', current_database(), 'CONNECT') AS app_gets_in,
            has_database_privilege('pg_monitor', current_database(), 'CONNECT') AS others_get_in
     FROM pg_roles WHERE rolname = current_user`,
  );
  expect(found).toEqual([
    {
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolbypassrls: false,
      appGetsIn: true,
      othersGetIn: false,
    },
  ]);
  await db.destroy();
  await run(superuserUrl, `DROP DATABASE ${scope} WITH (FORCE); DROP ROLE ${scope}`.replace('; ', ';\n'));
}, 30_000);
