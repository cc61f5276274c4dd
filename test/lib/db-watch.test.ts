import { watchDatabase } from '../../src/lib/db-watch.ts';
import { openDatabase } from '../../src/lib/db.ts';
import { createTestDatabase } from '../support/database.ts';

test('a statement that is merely slow is left alone by the watch over silent databases', async () => {
  const database = await createTestDatabase();
  const db = openDatabase({ url: database.url, poolMax: 1, applicationName: 'test' });
  watchDatabase(db, database.url);
  try {
    // Longer than the watch waits and asks. That a silent one is noticed: test/faults/database-away.
    await db.raw('SELECT pg_sleep(2)');
  } finally {
    await db.destroy();
    await database.drop();
  }
});
