import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';

import { openDatabase } from '../../src/lib/db.ts';
import { migrate, pendingMigrations } from '../../src/lib/migrate.ts';
import { makeDatabaseOnce } from '../../src/local/postgres.ts';
import { testStack } from '../support/stack-facts.ts';

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
    expect(all.flat()).toEqual(['0001-first.sql', '0002-second.sql']);
    await query(url, 'UPDATE knex_migrations_lock SET is_locked = 1');
    await expect(migrate({ url, directory })).resolves.toEqual([]);
  });

  test('what is still to come can be told', async () => {
    await migrate({ url, directory });
    await writeFile(join(directory, '0003-third.sql'), 'SELECT 1');
    const db = openDatabase({ url, poolMax: 1, applicationName: 'test' });
    await expect(pendingMigrations(db, directory)).resolves.toEqual(['0003-third.sql']);
    await db.destroy();
  });
});
