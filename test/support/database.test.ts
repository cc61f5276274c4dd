import { createTestDatabase, type TestDatabase } from './database.ts';

describe('a test database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  test('a test database has the whole schema', async () => {
    await expect(database.db.knex()('merchant')).resolves.toEqual([]);
  });

  test('the role of a test database cannot change its schema', async () => {
    await expect(database.db.knex().raw('CREATE TABLE extra (id text)')).rejects.toThrow('permission denied');
    await expect(database.db.knex()('schema_migration').delete()).rejects.toThrow('permission denied');
  });
});
