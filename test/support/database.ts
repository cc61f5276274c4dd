import { randomBytes } from 'node:crypto';

import pg from 'pg';

import { type Database, openDatabase } from '../../src/lib/db.ts';
import { CLOSE_DATABASE } from '../../src/lib/grants.ts';
import { TEMPLATE_DATABASE, testStack } from './stack-facts.ts';

export type TestDatabase = {
  /** A pool of the application's role, with the product's limits. */
  db: Database;
  /** The URL of the same database for another process, with the application's role. */
  url: string;
  /** The URL for the owner's role, which may do what the application may not. */
  ownerUrl: string;
  /** Runs statements with the owner's role: for faults that need its rights. */
  asOwner: (sql: string) => Promise<void>;
  /** The URL for the server's superuser, which may do what the owner may not. */
  superuserUrl: string;
  /** Closes the pool and removes the database, including open connections of others. */
  drop: () => Promise<void>;
};

/**
 * A new migrated database for one test file; `like` copies that database, whose pool is closed first. Call `drop` in
 * afterAll.
 */
export async function createTestDatabase(like?: TestDatabase): Promise<TestDatabase> {
  await like?.db.destroy();
  const template = like ? new URL(like.url).pathname.slice(1) : TEMPLATE_DATABASE;
  const name = `test_${randomBytes(6).toString('hex')}`;
  const { superuserUrl, ownerUrl } = testStack();
  const scope = new URL(ownerUrl).username;
  // FILE_COPY takes half of the default's time.
  await runSql(superuserUrl, `CREATE DATABASE ${name} TEMPLATE ${template} OWNER ${scope} STRATEGY FILE_COPY`);
  // Rights on a database are not copied: `migrate` gave the template the same.
  await runSql(withDatabase(superuserUrl, name), CLOSE_DATABASE);
  const url = withDatabase(testStack().appUrl, name);
  const db = openDatabase({ url, poolMax: 10, applicationName: 'test' });
  return {
    db,
    url,
    asOwner: async (sql) => runSql(withDatabase(ownerUrl, name), sql),
    ownerUrl: withDatabase(ownerUrl, name),
    superuserUrl: withDatabase(superuserUrl, name),
    drop: async () => {
      await db.destroy();
      await runSql(superuserUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** Runs statements with the role of the connection string: the application's own pool has fewer rights. */
export async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Adds versions of the platform's fees that refunds give back: those it begins with are kept. */
export const returnFeesOnRefund = async ({ asOwner }: TestDatabase): Promise<void> =>
  asOwner(`
    INSERT INTO fee_rule (id, channel, direction, basis_points, fixed_santim, min_santim, max_santim, tax_basis_points,
      returned_on_refund, valid_from, version)
    SELECT id || '_R', channel, direction, basis_points, fixed_santim, min_santim, max_santim, tax_basis_points,
      true, valid_from, version + 1
    FROM fee_rule WHERE merchant_id IS NULL AND direction = 'PAY_IN'`);

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
