import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import pg from 'pg';

import { rows } from '../../src/lib/db.ts';
import { APP_ROLE } from '../../src/lib/grants.ts';
import { runSql, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { TEMPLATE_DATABASE, testStack } from '../support/stack-facts.ts';

/** Where the code deletes rows: in SQL, or as a periodic job does. */
const DELETES = /DELETE FROM ([a-z_]+)|deleteInBatches\(db, \{ table: '([a-z_]+)'/g;
const PERMISSION_DENIED = { code: '42501' };

/** Another login of the same server, as Temporal's in the compose file. */
const stranger = `stranger_${randomBytes(4).toString('hex')}`;
const password = randomBytes(8).toString('hex');

let database: TestDatabase;
let strangerUrl: string;
beforeAll(async () => {
  database = await createTestDatabase();
  await runSql(database.superuserUrl, `CREATE ROLE ${stranger} LOGIN PASSWORD '${password}'`);
  strangerUrl = asStranger(database.url);
});
afterAll(async () => {
  const { superuserUrl } = database;
  await runSql(superuserUrl, `DROP OWNED BY ${stranger}`);
  await database.drop();
  await runSql(testStack().superuserUrl, `DROP ROLE ${stranger}`);
});

function asStranger(text: string): string {
  const url = new URL(text);
  [url.username, url.password] = [stranger, password];
  return url.href;
}

describe('another login of the server', () => {
  test('cannot connect to the migrated database or to a copy', async () => {
    for (const name of [TEMPLATE_DATABASE, new URL(database.url).pathname.slice(1)]) {
      const url = strangerUrl.replace(/[^/]+$/, name);
      await expect(runSql(url, 'SELECT 1')).rejects.toMatchObject(PERMISSION_DENIED);
    }
  });

  test('can neither write nor read money even with the right to connect', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await runSql(database.superuserUrl, `GRANT CONNECT ON DATABASE ${name} TO ${stranger}`);
    const post = `SELECT ledger_post('jrn_x', 'x', 'PAYMENT', 'mrc_x', 'live', 'ETB', 'transaction', 'x', now(),
      ARRAY['CHANNEL_CLEARING', 'AVAILABLE'], ARRAY['TELEBIRR', NULL], ARRAY[-100, 100]::bigint[])`;
    const hold = `SELECT ledger_lock_available('mrc_x', 'live', 'ETB')`;
    for (const sql of [post, hold, 'SELECT * FROM ledger_entry', 'SELECT * FROM merchant']) {
      await expect(runSql(strangerUrl, sql)).rejects.toMatchObject(PERMISSION_DENIED);
    }
  });

  test('can call no function of ours, present or future, and read or write no table', async () => {
    await runSql(database.ownerUrl, 'CREATE FUNCTION made_later() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$');
    expect(await rows(database.db, 'SELECT made_later() AS made', {})).toEqual([{ made: 1 }]);
    const open = await rows<{ name: string }>(
      database.db,
      `SELECT proname AS name FROM pg_proc
       WHERE pronamespace = 'public'::regnamespace AND has_function_privilege(:stranger, oid, 'EXECUTE')
       UNION ALL
       SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
         AND (CASE relkind WHEN 'S' THEN has_sequence_privilege(:stranger, oid, 'USAGE, SELECT, UPDATE')
              ELSE has_table_privilege(:stranger, oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE') END)`,
      { stranger },
    );
    expect(open).toEqual([]);
  });
});

test('functions with the owner’s rights resolve names in our schema first and in temporary tables last', async () => {
  const definers = await rows<{ name: string; settings: string[] | null }>(
    database.db,
    `SELECT proname AS name, proconfig AS settings FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND prosecdef ORDER BY proname`,
    {},
  );
  expect(definers.map(({ name }) => name)).toEqual(expect.arrayContaining(['ledger_lock_available', 'ledger_post']));
  for (const { settings } of definers) expect(settings).toEqual(['search_path=public, pg_temp']);
});

describe('the application', () => {
  test.each([
    'timeline',
    'payout_approval',
    'operator_audit',
    'merchant_audit',
    'webhook_event',
    'provider_callback',
    'kyc_document',
  ])('the application’s role can neither change nor delete rows of %s', async (table) => {
    await expect(rows(database.db, `DELETE FROM ${table}`)).rejects.toMatchObject(PERMISSION_DENIED);
    await expect(rows(database.db, `UPDATE ${table} SET created_at = now()`)).rejects.toMatchObject(PERMISSION_DENIED);
    await expect(rows(database.db, `TRUNCATE ${table}`)).rejects.toMatchObject(PERMISSION_DENIED);
  });

  test('the application’s role can delete rows of the tables that the code deletes from, and of no other', async () => {
    const removable = await rows<{ name: string }>(
      database.db,
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
         AND has_table_privilege('${APP_ROLE}', oid, 'DELETE, TRUNCATE')`,
    );
    const source = resolve(import.meta.dirname, '../../src');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const deleted = files.flatMap((name) =>
      [...readFileSync(join(source, name), 'utf8').matchAll(DELETES)].map(([, sql, batches]) => sql ?? batches),
    );
    // rate-limiter-flexible deletes old counts itself.
    expect(new Set(removable.map(({ name }) => name))).toEqual(new Set([...deleted, 'sign_in_count']));
  });

  test('the roles of the application and the owner are no superusers', async () => {
    const client = new pg.Client({ connectionString: database.ownerUrl });
    await client.connect();
    const { rows: found } = await client.query<{ rolsuper: boolean; rolbypassrls: boolean; rolcreaterole: boolean }>(
      'SELECT rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname IN (current_user, $1)',
      [APP_ROLE],
    );
    await client.end();
    const none = { rolsuper: false, rolbypassrls: false, rolcreaterole: false };
    expect(found).toEqual([none, none]);
  });
});
