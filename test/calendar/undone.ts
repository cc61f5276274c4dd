import { createRunChange, type Change, type RunChange } from '../../src/lib/outbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** A database for the tests of a file, and a change for each of them that is undone after it. */
export function useUndoneChange(): { change: () => Change; runChange: RunChange } {
  let database: TestDatabase;
  let change: Change;
  let undo: () => Promise<void>;
  const runChange: RunChange = (work) => createRunChange(database.db, () => {})(work);

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await new Promise<void>((begun) => {
      const undone = runChange(
        (own) =>
          new Promise<never>((_, reject) => {
            change = own;
            undo = async () => {
              reject(new Error('undone'));
              await undone;
            };
            begun();
          }),
      ).catch(() => {});
    });
  });
  afterEach(() => undo());

  return { change: () => change, runChange };
}
