import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

import { closeFrozenConnections } from '../../src/lib/db-liveness.ts';
import { type Database, openDatabase } from '../../src/lib/db.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.url, poolMax: 1, applicationName: 'test' });
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

/** In place of the database: accepts connections and sends nothing. */
async function silentServer(): Promise<{ server: Server; url: string }> {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, url: `postgres://test@127.0.0.1:${port}/test` };
}

test('a statement that is merely slow is left alone by the watch over silent databases', async () => {
  closeFrozenConnections(db, database.url);
  // Longer than the interval and the timeout of the check. That a silent one is noticed: test/chaos/database-away.
  await db.knex().raw('SELECT pg_sleep(2)');
});

test('a reply that arrived during a busy event loop is read before its connection is judged', async () => {
  const { server, url } = await silentServer();
  try {
    closeFrozenConnections(db, url);
    const beBusy = async (): Promise<void> => {
      await once(server, 'connection');
      // Longer than the answer takes, and than the watch waits for a reply to its question.
      const untilMs = performance.now() + 1_000;
      while (performance.now() < untilMs);
    };
    await Promise.all([db.knex().raw('SELECT pg_sleep(1.2)'), beBusy()]);
  } finally {
    server.close();
  }
});
