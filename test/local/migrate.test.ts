import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { openDatabase } from '../../src/lib/db.ts';
import { APP_ROLE } from '../../src/lib/grants.ts';
import { migrate, pendingMigrations } from '../../src/lib/migrate.ts';
import { makeDatabaseOnce } from '../../src/local/postgres.ts';
import { testStack } from '../support/stack-facts.ts';

/** From here on: the first ones made the tables. */
const FIRST_HELD = '0029';

test('what holds up those who write a table is not done to one that has rows', async () => {
  const directory = resolve(import.meta.dirname, '../../migrations');
  const files = (await readdir(directory)).filter((file) => file >= FIRST_HELD);
  const found: string[] = [];
  for (const file of files) {
    const sql = await readFile(join(directory, file), 'utf8');
    const own = new Set([...sql.matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => table));
    for (const [statement, table] of sql.matchAll(/CREATE (?:UNIQUE )?INDEX \w+\s+ON (\w+)/g)) {
      if (!own.has(table)) found.push(`${file}: ${statement}`);
    }
    for (const [statement] of sql.matchAll(/ADD (?:CONSTRAINT \w+ )?(?:PRIMARY KEY|UNIQUE) \(/g))
      found.push(`${file}: ${statement}`);
  }
  expect(found).toEqual([]);
});

describe('migrating', () => {
  const name = `migrate_${randomBytes(4).toString('hex')}`;
  const ownerUrl = testStack().ownerUrl;
  const url = ownerUrl.replace(/\/postgres$/, `/${name}`);
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'meskot-migrate-'));
    await makeDatabaseOnce(ownerUrl, name);
    await writeFile(join(directory, '0001-first.sql'), "CREATE TABLE first (body jsonb CHECK (body ? 'id'));");
    await writeFile(
      join(directory, '0002-second.sql'),
      '-- no transaction\nCREATE INDEX CONCURRENTLY first_body ON first (body);',
    );
  });
  afterAll(async () => {
    await query(ownerUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    await rm(directory, { recursive: true });
  });

  async function query(database: string, sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }

  test('is done once, however many processes do it and although one was killed meanwhile', async () => {
    const all = await Promise.all([1, 2, 3].map(() => migrate({ url, directory })));
    expect(all.flatMap(({ applied }) => applied)).toEqual(['0001-first.sql', '0002-second.sql']);
    await query(url, 'UPDATE knex_migrations_lock SET is_locked = 1');
    await expect(migrate({ url, directory })).resolves.toEqual({ applied: [], newer: [] });
  });

  test('what needs no transaction waits as long as it must, and begins again after it failed', async () => {
    const file = join(directory, '0003-apart.sql');
    const build = 'CREATE UNIQUE INDEX CONCURRENTLY first_text ON first ((body::text))';
    await writeFile(file, `-- no transaction\nDROP INDEX CONCURRENTLY IF EXISTS first_text;\n${build};\nSELECT 1;\n`);
    await query(url, `INSERT INTO first VALUES ('{"id": 1}'), ('{"id": 1}')`);
    await expect(migrate({ url, directory })).rejects.toThrow('first_text');
    await query(url, 'DELETE FROM first');
    const writer = new pg.Client({ connectionString: url });
    await writer.connect();
    await writer.query(`BEGIN; INSERT INTO first VALUES ('{"id": 2}')`);
    const migrating = migrate({ url, directory });
    await sleep(6_000);
    await writer.query('COMMIT');
    await writer.end();
    await expect(migrating).resolves.toEqual({ applied: ['0003-apart.sql'], newer: [] });
    await query(url, `INSERT INTO first VALUES ('{"id": 3}')`);
    await expect(query(url, `INSERT INTO first VALUES ('{"id": 3}')`)).rejects.toThrow('first_text');
  });

  test('what is still to come can be told', async () => {
    await migrate({ url, directory });
    await writeFile(join(directory, '0004-third.sql'), 'SELECT 1');
    const db = openDatabase({ url, poolMax: 1, applicationName: 'test' });
    await expect(pendingMigrations(db, directory)).resolves.toEqual(['0004-third.sql']);
    await db.destroy();
  });

  test('an older release starts on the schema of a newer one, brings its own, and leaves the rights as they are', async () => {
    await migrate({ url, directory });
    await query(url, `REVOKE ALL ON first FROM ${APP_ROLE}`);
    await Promise.all([rm(join(directory, '0002-second.sql')), rm(join(directory, '0004-third.sql'))]);
    await writeFile(join(directory, '0003-mend.sql'), 'CREATE TABLE mended (id text)');
    const db = openDatabase({ url, poolMax: 1, applicationName: 'test' });

    await expect(pendingMigrations(db, directory)).resolves.toEqual(['0003-mend.sql']);
    await expect(migrate({ url, directory })).resolves.toEqual({
      applied: ['0003-mend.sql'],
      newer: ['0002-second.sql', '0004-third.sql'],
    });
    await expect(pendingMigrations(db, directory)).resolves.toEqual([]);
    const { rows } = (await db.raw(`SELECT has_table_privilege('${APP_ROLE}', 'first', 'SELECT') AS may`)) as {
      rows: { may: boolean }[];
    };
    expect(rows).toEqual([{ may: false }]);
    await db.destroy();
  });
});
