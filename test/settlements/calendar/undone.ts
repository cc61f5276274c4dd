import { createTransactionRunner, type UnitOfWork, type RunInTransaction } from '../../../src/outbox/record.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

/** A database for the tests of a file, and a change for each of them that is undone after it. */
export function useUndoneChange(): { tx: () => UnitOfWork; runInTransaction: RunInTransaction } {
  let database: TestDatabase;
  let tx: UnitOfWork;
  let undo: () => Promise<void>;
  const runInTransaction: RunInTransaction = (work) => createTransactionRunner(database.db, () => {})(work);

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await new Promise<void>((begun) => {
      const undone = runInTransaction(
        (own) =>
          new Promise<never>((_, reject) => {
            tx = own;
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

  return { tx: () => tx, runInTransaction };
}
