import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { openDatabase } from '../../src/lib/db.ts';
import { APP_ROLE } from '../../src/lib/grants.ts';
import { isUnreleasedSchema, migrate, pendingMigrations } from '../../src/lib/migrate.ts';
import { ensureDatabase } from '../../src/local/postgres.ts';
import { testStack } from '../support/stack-facts.ts';
import { UNRELEASED_SCHEMA } from './unreleased-schema.ts';

const MIGRATIONS = resolve(import.meta.dirname, '../../migrations');
/** The numbers before are the first release, which creates the tables. */
const FIRST_ON_EXISTING_TABLES = '0024';

test('a migration does not block writers of a table that has rows', async () => {
  const files = (await sqlFilesIn(MIGRATIONS)).filter((file) => file >= FIRST_ON_EXISTING_TABLES);
  const found: string[] = [];
  for (const file of files) {
    const sql = await readFile(join(MIGRATIONS, file), 'utf8');
    const own = new Set([...sql.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+)/g)].map(([, table]) => table));
    for (const [statement, table] of sql.matchAll(/CREATE (?:UNIQUE )?INDEX \w+\s+ON (\w+)/g)) {
      if (!own.has(table)) found.push(`${file}: ${statement}`);
    }
    for (const [statement] of sql.matchAll(/ADD (?:CONSTRAINT \w+ )?(?:PRIMARY KEY|UNIQUE) \(/g))
      found.push(`${file}: ${statement}`);
  }
  expect(found).toEqual([]);
});

test('migrations are numbered from 1 without holes', async () => {
  const numbers = (await sqlFilesIn(MIGRATIONS)).map((file) => Number(file.slice(0, file.indexOf('-'))));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

test('a function file replaces everything that it creates, so it can be applied again', async () => {
  const folder = join(MIGRATIONS, 'functions');
  const found: string[] = [];
  for (const file of await sqlFilesIn(folder)) {
    const sql = await readFile(join(folder, file), 'utf8');
    for (const [statement] of sql.matchAll(/^CREATE (?!OR REPLACE (?:FUNCTION|TRIGGER) ).*/gm)) {
      found.push(`${file}: ${statement}`);
    }
  }
  expect(found).toEqual([]);
});

async function sqlFilesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted();
}

async function query<Row extends pg.QueryResultRow>(database: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const { rows } = await client.query<Row>(sql).finally(() => client.end());
  return rows;
}

test('a server that is too old is refused in one sentence, and nothing is changed', async () => {
  const name = `old_${randomBytes(4).toString('hex')}`;
  const { ownerUrl, superuserUrl } = testStack();
  const url = ownerUrl.replace(/\/postgres$/, `/${name}`);
  await ensureDatabase(ownerUrl, name);
  await expect(migrate({ url, directory: MIGRATIONS, oldestServer: 990_000 })).rejects.toMatchObject({
    message: expect.stringMatching(/^The database is PostgreSQL \d+\.\d+.*, and Meskot needs 99 or newer\.$/),
    next: expect.stringContaining('Upgrade the server'),
  });
  expect(await query(url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  await query(superuserUrl, `DROP DATABASE ${name}`);
});

describe('migrating', () => {
  const name = `migrate_${randomBytes(4).toString('hex')}`;
  const ownerUrl = testStack().ownerUrl;
  const url = ownerUrl.replace(/\/postgres$/, `/${name}`);
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'meskot-migrate-'));
    await ensureDatabase(ownerUrl, name);
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

  test('applies each file once when several processes migrate at once, and nothing when repeated', async () => {
    const all = await Promise.all([1, 2, 3].map(() => migrate({ url, directory })));
    expect(all.flatMap(({ applied }) => applied)).toEqual(['0001-first.sql', '0002-second.sql']);
    await expect(migrate({ url, directory })).resolves.toEqual({ applied: [], newer: [] });
  });

  test('rejects a database whose file was changed after it was applied, and changes nothing', async () => {
    const file = join(directory, '0001-first.sql');
    const original = await readFile(file, 'utf8');
    await writeFile(file, `${original} SELECT 1;`);
    const rejected: unknown = await migrate({ url, directory }).catch((error: unknown) => error);
    await writeFile(file, original);
    expect(isUnreleasedSchema(rejected)).toBe(true);
  });

  test('a file without a transaction waits for locks, and is applied again after a failure', async () => {
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

  test('pending files can be listed', async () => {
    await migrate({ url, directory });
    await writeFile(join(directory, '0004-third.sql'), 'SELECT 1');
    const db = openDatabase({ url, poolMax: 1, applicationName: 'test' });
    await expect(pendingMigrations(db, directory)).resolves.toEqual(['0004-third.sql']);
    await db.destroy();
  });

  test('an older release on the schema of a newer one applies its own files and keeps the grants', async () => {
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
    const { rows } = (await db.knex().raw(`SELECT has_table_privilege('${APP_ROLE}', 'first', 'SELECT') AS may`)) as {
      rows: { may: boolean }[];
    };
    expect(rows).toEqual([{ may: false }]);
    await db.destroy();
  });

  describe('function files', () => {
    const write = async (file: string, body: string): Promise<void> => {
      const signature = `FUNCTION ${file}() RETURNS integer LANGUAGE sql`;
      await writeFile(join(directory, 'functions', `${file}.sql`), `CREATE OR REPLACE ${signature} AS $$ ${body} $$;`);
    };
    const pending = async (): Promise<string[]> => {
      const db = openDatabase({ url, poolMax: 1, applicationName: 'test' });
      return pendingMigrations(db, directory).finally(() => db.destroy());
    };
    const answer = () => query<{ answer: number }>(url, 'SELECT caller() AS answer');
    const both = [
      expect.stringMatching(/^functions\/called\.sql@[0-9a-f]{8}$/),
      expect.stringMatching(/^functions\/caller\.sql@[0-9a-f]{8}$/),
    ];

    // No newer release has been here.
    beforeAll(() => query(url, "DELETE FROM schema_migration WHERE name IN ('0002-second.sql', '0004-third.sql')"));

    test('are applied in alphabetical order after the numbered files, and again after a change', async () => {
      await mkdir(join(directory, 'functions'));
      await write('caller', 'SELECT called()');
      await write('called', 'SELECT 1');
      await writeFile(join(directory, '0005-fifth.sql'), 'SELECT 1');
      const inOrder = ['0005-fifth.sql', ...both];
      await expect(pending()).resolves.toEqual(inOrder);
      await expect(migrate({ url, directory })).resolves.toMatchObject({ applied: inOrder });
      await expect(answer()).resolves.toEqual([{ answer: 1 }]);
      await expect(pending()).resolves.toEqual([]);

      await write('called', 'SELECT 2');
      await expect(pending()).resolves.toEqual([both[0]]);
      await expect(migrate({ url, directory })).resolves.toMatchObject({ applied: [both[0]] });
      await expect(answer()).resolves.toEqual([{ answer: 2 }]);
      await expect(migrate({ url, directory })).resolves.toMatchObject({ applied: [] });
    });

    test('are not applied again by an older release that was deployed before', async () => {
      await write('called', 'SELECT 1');
      await expect(pending()).resolves.toEqual([]);
      await expect(migrate({ url, directory })).resolves.toEqual({ applied: [], newer: [] });
      await expect(answer()).resolves.toEqual([{ answer: 2 }]);
    });

    test('are not applied by an older release on the schema of a newer one', async () => {
      await rm(join(directory, '0005-fifth.sql'));
      await write('called', 'SELECT 0');
      await write('added', 'SELECT 0');
      const added = [expect.stringMatching(/^functions\/added\.sql@/)];
      await expect(pending()).resolves.toEqual(added);
      await expect(migrate({ url, directory })).resolves.toEqual({ applied: added, newer: ['0005-fifth.sql'] });
      await expect(pending()).resolves.toEqual([]);
      await expect(answer()).resolves.toEqual([{ answer: 2 }]);
    });
  });
});

describe('a database of an unreleased version', () => {
  const name = `unreleased_${randomBytes(4).toString('hex')}`;
  const ownerUrl = testStack().ownerUrl;
  const url = ownerUrl.replace(/\/postgres$/, `/${name}`);

  beforeAll(async () => {
    await ensureDatabase(ownerUrl, name);
    await query(url, UNRELEASED_SCHEMA);
  });
  afterAll(() => query(ownerUrl, `DROP DATABASE ${name} WITH (FORCE)`));

  test('is rejected with one sentence before anything is applied', async () => {
    const error: unknown = await migrate({ url, directory: MIGRATIONS }).catch((cause: unknown) => cause);
    expect(isUnreleasedSchema(error)).toBe(true);
    expect(String(error)).toBe(
      'Error: The database is of an unreleased version of Meskot, which cannot be migrated: nothing was changed; use ' +
        'an empty database.',
    );
    const tables = await query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    expect(tables).toEqual([{ tablename: 'knex_migrations' }]);
  });
});
