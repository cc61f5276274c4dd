import { randomBytes } from 'node:crypto';

import pg from 'pg';

import { type Database, openDatabase } from '../../src/lib/db.ts';
import { CLOSE_DATABASE } from '../../src/lib/grants.ts';
import { TEMPLATE_DATABASE, testStack } from './stack-facts.ts';

export type TestDatabase = {
  /** A pool of the application's role, with the house's limits. */
  db: Database;
  /** The same database for a process of its own, as the application's role. */
  url: string;
  /** As the owner: for what the application may not do. */
  ownerUrl: string;
  /** Runs statements as the owner: faults that only an owner can make. */
  asOwner: (sql: string) => Promise<void>;
  /** As the server's own user: for what not even the owner may do. */
  superuserUrl: string;
  /** Closes the pool and removes the database, also under other people's connections. */
  drop: () => Promise<void>;
};

/** A new migrated database for one test file; or a copy of `like`, whose pool is closed for it. Call `drop` in afterAll. */
export async function createTestDatabase(like?: TestDatabase): Promise<TestDatabase> {
  await like?.db.destroy();
  const template = like ? new URL(like.url).pathname.slice(1) : TEMPLATE_DATABASE;
  const name = `test_${randomBytes(6).toString('hex')}`;
  const { superuserUrl, ownerUrl } = testStack();
  const scope = new URL(ownerUrl).username;
  await runSql(superuserUrl, `CREATE DATABASE ${name} TEMPLATE ${template} OWNER ${scope}`);
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

/** Runs statements as whoever the connection string names: the application's own pool may do less. */
export async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
