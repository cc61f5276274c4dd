import { runMerchants } from '../../src/app/commands/merchants-and-keys.ts';
import { rows } from '../../src/lib/db.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function run(...args: string[]) {
  let text = '';
  const write = (part: string | Uint8Array): void => void (text += part.toString());
  const parts = { db: database.db, config: { API_KEY_PEPPER: 'a pepper of sixteen characters' }, write };
  return { exitCode: await runMerchants(args, parts), text };
}

test('merchants create creates an active merchant with every available channel in the sandbox, and none in live', async () => {
  const { exitCode, text } = await run('create', 'ሐረር Coffee', '--json');
  expect(exitCode).toBe(0);
  const made = JSON.parse(text) as { id: string };
  expect(made).toMatchObject({ name: 'ሐረር Coffee', status: 'ACTIVE', kycStatus: 'NOT_STARTED' });
  const channels = await rows(
    database.db,
    `SELECT environment, channel FROM merchant_channel WHERE merchant_id = :id AND enabled ORDER BY channel`,
    { id: made.id },
  );
  const granted = ['AWASH', 'CBE_BIRR', 'TELEBIRR'].map((channel) => ({ environment: 'sandbox', channel }));
  expect(channels).toEqual(granted);
});

test('merchants list prints all merchants, newest first, as columns or JSON', async () => {
  await run('create', 'First');
  const second = await run('create', 'Second');
  expect(second.text).toMatch(/^id +mrc_\S+\nname +Second\nstatus +ACTIVE\n/);

  const table = (await run('list')).text.split('\n');
  expect(table[0]).toMatch(/^id +name +status +kycStatus +createdAt$/);
  expect(table[1]).toMatch(/^mrc_\S+ +Second +ACTIVE +NOT_STARTED +\S+Z$/);
  const listed = JSON.parse((await run('list', '--json')).text) as { name: string }[];
  expect(listed.slice(0, 2).map(({ name }) => name)).toEqual(['Second', 'First']);
});

test('invalid arguments exit with 2 and the usage, and create nothing', async () => {
  const before = (await run('list', '--json')).text;
  const tooLong = 'x'.repeat(101);
  const wrong = [[], ['create'], ['create', ' '], ['create', 'Two', 'words'], ['create', tooLong], ['create', 'a\nb']];
  for (const args of [...wrong, ['list', 'all'], ['remove', 'mrc_1'], ['create', 'A', '--colour', 'red']]) {
    const { exitCode, text } = await run(...args);
    expect(exitCode).toBe(2);
    expect(text).toContain('meskot merchants ');
  }
  expect((await run('list', '--json')).text).toBe(before);
  expect((await run('--help')).exitCode).toBe(0);
});
