import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { createKey } from '../../src/access/api-keys.ts';
import { startApi } from '../../src/app/api.ts';
import { readConfig } from '../../src/config.ts';
import { addisDay } from '../../src/lib/dates.ts';
import { isDatabaseUnavailable } from '../../src/lib/db-errors.ts';
import { first, openDatabase, rows } from '../../src/lib/db.ts';
import { APP_ROLE } from '../../src/lib/grants.ts';
import { createLogger } from '../../src/lib/log.ts';
import { migrate } from '../../src/lib/migrate.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { buildFixture, buildMerchant, buildPendingPayment, PAID, stateOfSession } from '../support/build.ts';
import { createTestDatabase, runSql, type TestDatabase } from '../support/database.ts';
import { testStack } from '../support/stack-facts.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
/** What a database or role of another application may have. */
const HOSTILE = {
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kolkata',
  default_transaction_isolation: 'serializable',
  search_path: 'nowhere',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  bytea_output: 'escape',
  extra_float_digits: '0',
  client_encoding: 'LATIN1',
  statement_timeout: '10ms',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '1ms',
  idle_session_timeout: '2s',
  transaction_timeout: '1s',
};

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => database.drop());

/** For new connections of a role to this database. */
async function setForRole(url: string, role: string, settings: Record<string, string>): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const list = (value: string) => (value.includes(',') ? value : `'${value}'`);
  const sql = Object.entries(settings).map(
    ([setting, value]) => `ALTER ROLE ${role} IN DATABASE ${name} SET ${setting} = ${list(value)}`,
  );
  await runSql(testStack().superuserUrl, sql.join(';'));
}

test("a payment, its listing and the API's readiness do not depend on the settings of the database's role", async () => {
  await setForRole(database.url, APP_ROLE, HOSTILE);
  const db = openDatabase({ url: database.url, poolMax: 2, applicationName: 'test' });
  const sql =
    "SELECT current_setting('transaction_isolation') AS level, now() AS now, DATE '2026-02-03' AS day, NULL = ANY(:none) AS null";
  const before = Date.now();
  const read = await first<{ level: string; now: Date; day: string }>(db, sql, { none: [null] });
  expect(read).toMatchObject({ level: 'read committed', day: '2026-02-03', null: null });
  expect(Math.abs((read?.now.getTime() ?? 0) - before)).toBeLessThan(3_600_000);
  // Longer than the role's limits of statements and of idle sessions in a transaction.
  await rows(db, 'SELECT pg_sleep(0.05)');

  const fixture = buildFixture(db);
  const scope = await buildMerchant(db, 'ቡና & Söhne');
  const { sessionId, attemptId } = await buildPendingPayment(fixture, scope);
  fixture.provider.returns(PAID);
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  expect(await stateOfSession(db, sessionId)).toMatchObject({ session: 'COMPLETED', transaction: 'SUCCESS' });

  const config = readConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    API_PORT: String(await anyFreePort()),
    METRICS_PORT: String(await anyFreePort()),
    CONSOLE_PORT: String(await anyFreePort()),
  });
  const { secret: key } = await db.transaction((trx) =>
    createKey({ trx, pepper: config.API_KEY_PEPPER, clock: () => new Date() }, { ...scope, kind: 'secret' }),
  );
  const api = await startApi(config, { log: createLogger('silent', 'test'), project: PROJECT, version: 'test' });
  const today = addisDay(fixture.clock());
  const range = `startDate=${today}&endDate=${today}&status=ALL&currency=ETB`;
  const list = await fetch(`${api.url}/api/checkout/txns/get_all_txns?${range}`, { headers: { 'x-api-key': key } });
  expect(await list.json()).toMatchObject({ statusCode: 200, data: [{ status: 'SUCCESS' }] });
  expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
  await api.stop();
  await db.destroy();
});

test("migrations do not depend on the settings of the owner's role", async () => {
  const url = new URL(testStack().ownerUrl);
  const role = url.username;
  url.pathname = `/hostile_${randomBytes(4).toString('hex')}`;
  await runSql(testStack().superuserUrl, `CREATE DATABASE ${url.pathname.slice(1)} OWNER ${role}`);
  try {
    await setForRole(url.href, role, HOSTILE);
    const directory = join(PROJECT, 'migrations');
    const { applied } = await migrate({ url: url.href, directory });
    expect(applied.length).toBeGreaterThan((await readdir(directory)).length);
    await setForRole(url.href, role, { default_transaction_read_only: 'on' });
    await expect(migrate({ url: url.href, directory })).rejects.toThrow('default_transaction_read_only is on');
  } finally {
    await runSql(testStack().superuserUrl, `DROP DATABASE ${url.pathname.slice(1)} WITH (FORCE)`);
  }
});

test('a role whose transactions are read-only is reported as that, in place of failing at its first write', async () => {
  await setForRole(database.url, APP_ROLE, { default_transaction_read_only: 'on' });
  const db = openDatabase({ url: database.url, poolMax: 1, applicationName: 'test' });
  const error: unknown = await rows(db, 'SELECT 1').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'READ_ONLY', next: expect.stringContaining('set it to off') });
  expect(isDatabaseUnavailable(error)).toBe(true);
  await db.destroy();
});

test('whatever keeps a connection from opening is an unavailable database', async () => {
  const at = new URL(database.url);
  const changed = (change: Partial<URL>): string => Object.assign(new URL(at.href), change).href;
  const urls = {
    'a name that does not exist': changed({ hostname: 'no-such-host.invalid' }),
    'a network without a route': changed({ hostname: '[100::1]' }),
    'a closed port': changed({ port: '1' }),
    'a wrong password': changed({ password: 'wrong' }),
    'no such database': changed({ pathname: '/none' }),
    'a server without TLS': changed({ search: '?sslmode=require' }),
  };
  for (const [what, url] of Object.entries(urls)) {
    const db = openDatabase({ url, poolMax: 1, applicationName: 'test' });
    const results = await Promise.allSettled([
      rows(db, 'SELECT 1'),
      db.transaction(async (trx) => rows(trx, 'SELECT 1')),
      db.knex()('merchant').first(),
    ]);
    const reasons = results.map((result) => result.status === 'rejected' && isDatabaseUnavailable(result.reason));
    expect([what, ...reasons]).toEqual([what, true, true, true]);
    await db.destroy();
  }
});
