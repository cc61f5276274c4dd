import { randomBytes } from 'node:crypto';

import pg from 'pg';

import { openDatabase, type Knex } from '../../src/lib/db.ts';
import { TEMPLATE_DATABASE, testStack } from './stack-facts.ts';

export type TestDatabase = {
  /** A pool of the application's role, with the house's limits. */
  db: Knex;
  /** The same database for a process of its own, as the application's role. */
  url: string;
  /** As the owner: for what the application may not do. */
  ownerUrl: string;
  /** Runs statements as the owner: faults that only an owner can make. */
  asOwner: (sql: string) => Promise<void>;
  /** Closes the pool and removes the database, also under other people's connections. */
  drop: () => Promise<void>;
};

/** A new migrated database for one test file; or a copy of `like`, whose pool is closed for it. Call `drop` in afterAll. */
export async function createTestDatabase(like?: TestDatabase): Promise<TestDatabase> {
  await like?.db.destroy();
  const template = like ? new URL(like.url).pathname.slice(1) : TEMPLATE_DATABASE;
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runSql(testStack().ownerUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = withDatabase(testStack().appUrl, name);
  const ownerUrl = withDatabase(testStack().ownerUrl, name);
  const db = openDatabase({ url, poolMax: 10, applicationName: 'test' });
  return {
    db,
    url,
    ownerUrl,
    asOwner: async (sql) => runSql(ownerUrl, sql),
    drop: async () => {
      await db.destroy();
      await runSql(testStack().ownerUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** Runs statements on a connection of their own. */
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
