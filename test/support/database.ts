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
  /** Closes the pool and removes the database, also under other people's connections. */
  drop: () => Promise<void>;
};

/** A new migrated database for one test file; or a copy of `like`, whose pool is closed for it. Call `drop` in afterAll. */
export async function createTestDatabase(like?: TestDatabase): Promise<TestDatabase> {
  await like?.db.destroy();
  const template = like ? new URL(like.url).pathname.slice(1) : TEMPLATE_DATABASE;
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asOwner(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = withDatabase(testStack().appUrl, name);
  const db = openDatabase({ url, poolMax: 10, applicationName: 'test' });
  return {
    db,
    url,
    ownerUrl: withDatabase(testStack().ownerUrl, name),
    drop: async () => {
      await db.destroy();
      await asOwner(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function asOwner(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: testStack().ownerUrl });
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
