import { readKey } from '../../src/access/key-format.ts';
import { createAdmin } from '../../src/app/commands/create-admin.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { runCommandLine } from '../support/command-line.ts';
import { createTestDatabase } from '../support/database.ts';
import { PEPPER, runCli, startDesk, type Desk } from './desk.ts';

let desk: Desk;
let merchantId: string;

beforeAll(async () => {
  desk = await startDesk();
  ({ merchantId } = await json('merchants', 'create', '--name', 'Coffee'));
});
afterAll(() => desk.close());

const run = (...args: string[]) => runCli(desk, args);
async function json(...args: string[]) {
  return JSON.parse((await run(...args, '--json')).text);
}
const create = (...args: string[]) => json('keys', 'create', merchantId, ...args);
const list = (...args: string[]) => run('keys', 'list', '--merchant-id', merchantId, ...args);
const stored = async (keyId: string) => desk.database.db('apiKey').where({ id: keyId }).first();
const counted = async (table: string) => Number((await desk.database.db(table).count())[0]?.['count']);

test('merchants create makes an active merchant with every available channel in the sandbox, and none in live', async () => {
  const created = await json('merchants', 'create', '--name', 'ሐረር Coffee');
  expect(created).toMatchObject({ name: 'ሐረር Coffee', status: 'ACTIVE', kycStatus: 'NOT_STARTED' });
  const channels = await rows(
    desk.database.db,
    `SELECT environment, channel FROM merchant_channel WHERE merchant_id = :merchantId AND enabled ORDER BY channel`,
    { merchantId: created.merchantId },
  );
  const granted = ['AWASH', 'CBE_BIRR', 'TELEBIRR'].map((channel) => ({ environment: 'sandbox', channel }));
  expect(channels).toEqual(granted);
});

test('merchants list shows the newest first, in columns or as JSON, page by page', async () => {
  await run('merchants', 'create', '--name', 'First');
  const second = await run('merchants', 'create', '--name', 'Second');
  expect(second.notes).toBe('Merchant created\n');
  expect(second.text).toMatch(/^merchantId +mrc_\S+\nname +Second\nstatus +ACTIVE\n/);

  const table = (await run('merchants', 'list')).text.split('\n');
  expect(table[0]).toMatch(/^createdAt \(EAT\) +merchantId +status +kycStatus +name$/);
  expect(table[1]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d +mrc_\S+ +ACTIVE +NOT_STARTED +Second$/);
  const page = await run('merchants', 'list', '--limit', '1', '--json');
  expect(JSON.parse(page.text)).toMatchObject([{ name: 'Second' }]);
  expect(page.notes).toMatch(/^Page 1 of \d+, \d+ in all: add --page\.\n$/);
  expect(await json('merchants', 'list', '--limit', '1', '--page', '2')).toMatchObject([{ name: 'First' }]);
});

test('a terminal that is too narrow cuts the last column', async () => {
  await run('merchants', 'create', '--name', 'A name that is longer than what is left of the line');
  const connection = { url: desk.server.url, key: desk.people.admin.key };
  const { text } = await runCommandLine(connection, ['merchants', 'list', '--limit', '1'], { columns: 100 });
  expect(text).toMatch(/ A name that .*…\n$/);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBe(100);
});

test.each([
  [[]],
  [['--name', ' ']],
  [['--name', 'x'.repeat(101)]],
  [['--name', 'a\nb']],
  [['--name', 'A', '--colour']],
])('merchants create %j exits 2 and creates nothing', async (args) => {
  const before = await counted('merchant');
  expect((await run('merchants', 'create', ...args)).exitCode).toBe(2);
  expect(await counted('merchant')).toBe(before);
});

test('keys create prints the new key once; a list has what is known of it, never the key', async () => {
  const created = await create('--name', 'shop');
  expect(readKey(created.secret)).toMatchObject({ environment: 'sandbox', kind: 'secret' });
  const listed = await list();
  expect(listed.exitCode).toBe(0);
  expect(listed.text).toContain(created.keyId);
  expect(listed.text).toContain('shop');
  expect(listed.text).not.toContain(created.secret);
});

test('keys list distinguishes keys by their last four characters, and lists those of all merchants', async () => {
  const created = [await create(), await create()];
  const { text } = await list();
  const masked = created.map(({ secret }) => `sk_test_…${secret.slice(-4)}`);
  expect(new Set(masked).size).toBe(2);
  for (const one of masked) expect(text).toContain(one);
  await desk.database.db('api_key').where({ id: created[0].keyId }).update({ lastFour: null });
  expect((await list()).text).toContain(`${created[0].secret.slice(0, 12)}…`);
  const other = await json('merchants', 'create', '--name', 'Tea');
  const elsewhere = await json('keys', 'create', other.merchantId);
  const all = await json('keys', 'list');
  expect(all[0]).toMatchObject({ merchantId: other.merchantId, keyId: elsewhere.keyId });
  expect(all).toContainEqual(expect.objectContaining({ merchantId, keyId: created[1].keyId }));
});

test.each([
  [['--days', '999999'], 'days must be'],
  [['--days', '0'], 'days must be'],
  [['--days', 'ten'], 'It must be a whole number.'],
  [['--name', 'a\u001b[31m'], 'name must'],
  [['--name', 'a'.repeat(101)], 'name must'],
  [['--scopes', 'nothing'], 'scopes.0 must be one of'],
  [['--colour', 'red'], "unknown option '--colour'"],
])('keys create %j exits 2 with the reason and creates no key', async (args, reason) => {
  const before = await counted('apiKey');
  const { exitCode, notes } = await run('keys', 'create', merchantId, ...args);
  expect([exitCode, notes]).toEqual([2, expect.stringContaining(reason)]);
  expect(await counted('apiKey')).toBe(before);
});

test('keys create with scopes, addresses and days makes a restricted key that expires', async () => {
  const created = await create('--scopes', 'checkout:read,webhooks:read', '--ip-ranges', '10.0.0.0/8', '--days', '7');
  const scopes = ['checkout:read', 'webhooks:read'];
  expect(created).toMatchObject({ kind: 'restricted', scopes, ipRanges: ['10.0.0.0/8'] });
  expect(Math.abs(Date.parse(created.expiresAt) - Date.now() - 7 * 86_400_000)).toBeLessThan(60_000);
});

test('a merchant and its keys are created, rotated and revoked as the operator of the key, who is audited and a secret holder', async () => {
  const { operatorId } = desk.people.admin;
  const coffee = (await json('merchants', 'create', '--name', 'Coffee')).merchantId;
  const first = await json('keys', 'create', coffee);
  const next = await json('keys', 'rotate', coffee, first.keyId, '--overlap-hours', '0', '--yes');
  expect(next.secret).toMatch(/^sk_test_/);
  const revoke = ['keys', 'revoke', coffee, first.keyId, '--reason', 'Rotated', '--yes'];
  expect((await run(...revoke)).text).toMatch(/revokedAt +20.* EAT\n/);
  await run(...revoke);
  expect((await run('keys', 'rotate', coffee, first.keyId, '--yes')).exitCode).toBe(1);
  const holders = { createdBy: operatorId, secretHolders: [operatorId] };
  expect([await stored(first.keyId), await stored(next.keyId)]).toMatchObject([holders, holders]);
  const entries = await json('audit', 'list', '--merchant-id', coffee);
  expect(entries.toReversed()).toMatchObject([
    { action: 'merchant.create', operatorId, resourceId: coffee, after: { name: 'Coffee' } },
    { action: 'key.create', operatorId, resourceId: first.keyId, environment: 'sandbox', after: { kind: 'secret' } },
    { action: 'key.rotate', operatorId, resourceId: first.keyId, after: { rotatedTo: next.keyId } },
    { action: 'key.revoke', operatorId, resourceId: first.keyId, reason: 'Rotated' },
  ]);
  expect(entries).toHaveLength(4);
});

test('secret holders of a rotated key are its rotator and those of the key before', async () => {
  const other = await desk.hire('admin');
  const first = JSON.parse((await runCli(desk, ['keys', 'create', merchantId, '--json'], other)).text);
  const next = await json('keys', 'rotate', merchantId, first.keyId, '--yes');
  expect(await stored(next.keyId)).toMatchObject({
    createdBy: desk.people.admin.operatorId,
    secretHolders: [desk.people.admin.operatorId, other.operatorId],
  });
});

test('a live key is rotated and revoked only with --environment live, a key of another merchant not at all', async () => {
  const created = await create('--environment', 'live');
  expect(created.secret).toMatch(/^sk_live_/);
  const revoke = ['keys', 'revoke', merchantId, created.keyId, '--reason', 'Lost', '--yes'];
  expect((await run(...revoke)).exitCode).toBe(2);
  expect((await run('keys', 'rotate', merchantId, created.keyId, '--yes')).exitCode).toBe(2);
  const { merchantId: stranger } = await json('merchants', 'create', '--name', 'Stranger');
  expect((await run('keys', 'rotate', stranger, created.keyId, '--yes', '--environment', 'live')).exitCode).toBe(4);
  expect(await stored(created.keyId)).toMatchObject({ revokedAt: null, rotatedTo: null });
  expect((await run(...revoke, '--environment', 'live')).exitCode).toBe(0);
  expect((await run('keys', 'create', newId('mrc'))).exitCode).toBe(4);
  expect((await run('keys', 'revoke', merchantId, 'key_none', '--reason', 'x', '--yes')).exitCode).toBe(4);
});

test('an operator without the role admin exits 3, and nothing is created or audited', async () => {
  const created = await create();
  const before = [await counted('merchant'), await counted('apiKey'), await counted('operatorAudit')];
  for (const words of [
    ['merchants', 'create', '--name', 'Another'],
    ['keys', 'create', merchantId],
    ['keys', 'rotate', merchantId, created.keyId, '--yes'],
    ['keys', 'revoke', merchantId, created.keyId, '--reason', 'x', '--yes'],
  ]) {
    const refused = await runCli(desk, words, desk.people.finance);
    expect([refused.exitCode, refused.notes]).toEqual([
      3,
      expect.stringContaining('needs an operator with the role admin'),
    ]);
  }
  expect([await counted('merchant'), await counted('apiKey'), await counted('operatorAudit')]).toEqual(before);
  expect(await stored(created.keyId)).toMatchObject({ revokedAt: null, rotatedTo: null });
});

test('an API that does not answer exits 5 with the next step, and a write with the key to repeat it safely', async () => {
  const connection = { url: 'http://127.0.0.1:9999', key: 'ok_unused' };
  const { exitCode, notes } = await runCommandLine(connection, ['merchants', 'create', '--name', 'Nobody']);
  expect(exitCode).toBe(5);
  expect(notes).toMatch(
    /^The API at http:\/\/127\.0\.0\.1:9999 does not answer \(.*ECONNREFUSED.*\)\. To repeat it safely, add --idempotency-key \S+\.\nNext: start it with "npm start", or set MESKOT_URL/,
  );
  const read = await runCommandLine(connection, ['merchants', 'list']);
  expect(read.notes).not.toContain('--idempotency-key');
});

test('a write repeated under its idempotency key is made once', async () => {
  const words = ['merchants', 'create', '--name', 'Once', '--idempotency-key', newId('req'), '--json'];
  const [first, again] = [await run(...words), await run(...words)];
  expect(JSON.parse(again.text)).toEqual(JSON.parse(first.text));
  expect(await json('merchants', 'list', '--search', 'Once')).toHaveLength(1);
});

test('operators create --admin makes admins whose keys no other operator knows, who then create operators and keys', async () => {
  const empty = await createTestDatabase();
  try {
    const { db } = empty;
    const sara = await createAdmin({ db, pepper: PEPPER }, { name: 'Sara', email: 'sara@meskot.example' });
    expect(sara).toMatchObject({ role: 'admin', active: true, secret: expect.stringMatching(/^ok_/) });
    const again = createAdmin({ db, pepper: PEPPER }, { name: 'Sara', email: 'SARA@meskot.example' });
    await expect(again).rejects.toMatchObject({ code: 'DUPLICATE_REFERENCE' });
    const audited = await rows(
      db,
      'SELECT action, reason FROM operator_audit WHERE operator_id = :id ORDER BY length(action)',
      {
        id: sara.operatorId,
      },
    );
    const reason = "From the server's shell";
    expect(audited).toEqual([
      { action: 'operator.create', reason },
      { action: 'operator-key.create', reason },
    ]);
    const [holders] = await rows(db, 'SELECT secret_holders FROM operator_key WHERE id = :id', { id: sara.keyId });
    expect(holders).toEqual({ secretHolders: [sara.operatorId] });
  } finally {
    await empty.drop();
  }
});

test('operators create passes --admin to the server, without a role', async () => {
  const created: unknown[] = [];
  const { exitCode } = await runCommandLine(
    { url: desk.server.url, key: 'ok_unused' },
    ['operators', 'create', '--admin', '--name', 'Sara', '--email', 'sara@meskot.example'],
    { createAdmin: async ({ name, email }) => void created.push({ name, email }) },
  );
  expect([exitCode, created]).toEqual([0, [{ name: 'Sara', email: 'sara@meskot.example' }]]);
});

test('operators are created with a role, listed, given keys, and deactivated', async () => {
  const create = (email: string, role: string) => [
    'operators',
    'create',
    '--name',
    'Abel',
    '--email',
    email,
    '--role',
    role,
  ];
  expect((await run(...create('abel@meskot.example', 'owner'))).notes).toContain('Allowed choices are viewer, support');
  const { operatorId } = await json(...create('abel@meskot.example', 'finance'));
  expect((await run(...create('ABEL@meskot.example', 'finance'))).exitCode).toBe(1);
  const key = await json('operators', 'create-key', operatorId, '--days', '7');
  expect(key).toMatchObject({
    secret: expect.stringMatching(/^ok_/),
    secretHolders: expect.arrayContaining([operatorId]),
  });
  expect((await run('operators', 'create-key', operatorId, '--days', '366')).exitCode).toBe(2);
  expect((await json('operators', 'list'))[0]).toMatchObject({ operatorId, name: 'Abel' });
  const next = await json('operators', 'rotate-key', operatorId, key.keyId, '--yes');
  expect((await run('operators', 'list-keys', operatorId)).text).toContain(next.keyId);
  expect(await json('operators', 'deactivate', operatorId)).toMatchObject({ active: false });
});
