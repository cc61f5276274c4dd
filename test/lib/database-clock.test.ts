import { setTimeout as sleep } from 'node:timers/promises';

import { createDatabaseClock } from '../../src/lib/database-clock.ts';
import { openDatabase, rows } from '../../src/lib/db.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const HOUR_MS = 3_600_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function databaseTime(): Promise<number> {
  const [row] = await rows<{ at: Date }>(database.db, 'SELECT clock_timestamp() AS at');
  return row?.at.getTime() ?? NaN;
}

describe("the database's clock", () => {
  test.each([
    ['an hour ahead', HOUR_MS],
    ['an hour behind', -HOUR_MS],
  ])('shows the same time in a process whose clock is %s, measures the skew and warns once', async (_how, ms) => {
    const warned: unknown[] = [];
    const clock = createDatabaseClock(database.db, {
      log: { warn: (details: unknown) => void warned.push(details) },
      processClock: () => new Date(Date.now() + ms),
    });
    expect(clock.skewSeconds()).toBeNull();
    expect(Math.abs(clock.now().getTime() - (Date.now() + ms))).toBeLessThan(1_000);

    await clock.known;
    await sleep(50);
    const [before, enqueued, after] = [await databaseTime(), clock.now().getTime(), await databaseTime()];
    expect(enqueued).toBeGreaterThan(before - 250);
    expect(enqueued).toBeLessThan(after + 250);
    expect(clock.skewSeconds()).toBeCloseTo(ms / 1_000, 0);
    expect(warned).toHaveLength(1);
    clock.stop();
  });

  test('logs no warning when both clocks agree', async () => {
    const warned: unknown[] = [];
    const clock = createDatabaseClock(database.db, { log: { warn: (details: unknown) => void warned.push(details) } });
    await clock.known;
    expect(Math.abs(clock.skewSeconds() ?? NaN)).toBeLessThan(1);
    expect(warned).toEqual([]);
    clock.stop();
  });

  test('is unknown while the database is unavailable, and stopping does not wait for it', async () => {
    const db = openDatabase({ url: 'postgresql://nobody@127.0.0.1:1/none', poolMax: 1, applicationName: 'test' });
    const clock = createDatabaseClock(db, { log: { warn: () => {} } });
    await expect(Promise.race([clock.known, sleep(100, 'unknown')])).resolves.toBe('unknown');
    clock.stop();
    await expect(Promise.race([clock.known, sleep(1_000, 'unknown')])).resolves.toBeUndefined();
    expect(clock.skewSeconds()).toBeNull();
    await db.destroy();
  });
});
