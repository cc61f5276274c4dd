import { readKey } from '../../src/access/key-format.ts';
import { runKeys } from '../../src/app/commands/merchants-and-keys.ts';
import { createMerchant } from '../../src/merchants/operations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { KEY_RING } from '../support/key-ring.ts';

let database: TestDatabase;
let merchantId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  merchantId = (await database.db.transaction((trx) => createMerchant(trx, { name: 'Coffee' }))).id;
});
afterAll(() => database.drop());

async function run(...args: string[]) {
  let text = '';
  const config = { API_KEY_PEPPER: 'a pepper of sixteen characters', keyRing: KEY_RING, KYC_DOCUMENTS_DIR: 'unused' };
  const exitCode = await runKeys(args, { db: database.db, config, write: (part) => void (text += part) });
  return { exitCode, text };
}
const create = async (...args: string[]) =>
  JSON.parse((await run('create', '--merchant', merchantId, '--json', ...args)).text) as Record<string, string>;

test('create shows the new key once; list shows what is known of it, never the key', async () => {
  const made = await create('--name', 'shop');
  expect(readKey(made['secret'] ?? '')).toMatchObject({ environment: 'sandbox', kind: 'secret' });
  const listed = await run('list', '--merchant', merchantId);
  expect(listed.exitCode).toBe(0);
  expect(listed.text).toContain(made['id']);
  expect(listed.text).toContain('shop');
  expect(listed.text).not.toContain(made['secret']);
});

test('a list tells keys apart by their last four characters', async () => {
  const made = [await create(), await create()];
  const { text } = await run('list', '--merchant', merchantId);
  const shown = made.map((one) => `sk_test_…${one['secret']?.slice(-4)}`);
  expect(new Set(shown).size).toBe(2);
  for (const one of shown) expect(text).toContain(one);
  await database.db('api_key').where({ id: made[0]?.['id'] }).update({ lastFour: null });
  expect((await run('list', '--merchant', merchantId)).text).toContain(`${made[0]?.['secret']?.slice(0, 12)}…`);
});

test.each([
  [['--days', '999999'], '--days must be a whole number from 1 to 3650, got "999999"'],
  [['--days', '0'], '--days must be a whole number from 1 to 3650, got "0"'],
  [['--name', 'a\u001b[31m'], 'name must have at most 100 characters, none of them for control'],
  [['--name', 'a\nb'], 'name must have at most 100 characters, none of them for control'],
  [['--name', 'a'.repeat(101)], 'name must have at most 100 characters'],
])('create %j is refused, and makes no key', async (args, says) => {
  const before = (await run('list')).text;
  const { exitCode, text } = await run('create', '--merchant', merchantId, ...args);
  expect([exitCode, text]).toEqual([2, expect.stringContaining(says)]);
  expect((await run('list')).text).toBe(before);
});

test('scopes, addresses and days make a restricted key with an end', async () => {
  const made = await create('--scopes', 'checkout:read,webhooks:read', '--ip', '10.0.0.0/8', '--days', '7');
  expect(made).toMatchObject({ kind: 'restricted', scopes: 'checkout:read,webhooks:read', ipRanges: '10.0.0.0/8' });
  expect(Math.abs(Date.parse(made['expiresAt'] ?? '') - Date.now() - 7 * 86_400_000)).toBeLessThan(60_000);
});

test('rotate shows the successor, revoke ends a key', async () => {
  const made = await create();
  const rotated = await run('rotate', made['id'] ?? '', '--overlap-hours', '0');
  expect(rotated.exitCode).toBe(0);
  expect(rotated.text).toMatch(/secret +sk_test_/);
  const revoked = await run('revoke', made['id'] ?? '');
  expect(revoked.text).toMatch(/revokedAt +20/);
  expect((await run('rotate', made['id'] ?? '')).exitCode).toBe(1);
});

test('a live key is touched only with --live', async () => {
  const made = await create('--live');
  expect(made['secret']).toMatch(/^sk_live_/);
  expect((await run('revoke', made['id'] ?? '')).exitCode).toBe(2);
  expect((await run('revoke', made['id'] ?? '', '--live')).exitCode).toBe(0);
});

test('wrong usage is 2 with the usage, what is not there is 4', async () => {
  for (const args of [[], ['make'], ['create'], ['create', '--colour', 'red'], ['rotate'], ['list', 'a', 'b']]) {
    const { exitCode, text } = await run(...args);
    expect(exitCode).toBe(2);
    expect(text).toContain('meskot keys ');
  }
  expect((await run('create', '--merchant', merchantId, '--scopes', 'nothing')).exitCode).toBe(2);
  expect((await run('create', '--merchant', 'mrc_none')).exitCode).toBe(4);
  expect((await run('revoke', 'key_none')).exitCode).toBe(4);
  expect((await run('--help')).exitCode).toBe(0);
});
