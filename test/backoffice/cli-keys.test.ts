import { readKey } from '../../src/access/key-format.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { runCommandLine } from '../support/command-line.ts';
import { runCli, startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let merchantId: string;

beforeAll(async () => {
  backOffice = await startBackOffice();
  ({ merchantId } = await json('merchants', 'create', '--name', 'Coffee'));
});
afterAll(() => backOffice.close());

const run = (...args: string[]) => runCli(backOffice, args);
async function json(...args: string[]) {
  return JSON.parse((await run(...args, '--json')).text);
}
/** Invites the merchant, who accepts. */
const create = async (...args: string[]) => accept(await json('keys', 'invite', merchantId, ...args));
async function accept({ token }: { token: string }) {
  return (await backOffice.server.send('POST', '/api/invitations/accept', { key: null, body: { token } })).body.data;
}
const list = (...args: string[]) => run('keys', 'list', '--merchant-id', merchantId, ...args);
const stored = async (keyId: string) => backOffice.database.db.knex()('apiKey').where({ id: keyId }).first();
const counted = async (table: string) => Number((await backOffice.database.db.knex()(table).count())[0]?.['count']);

test('merchants create makes an active merchant with every available channel in the sandbox, and none in live', async () => {
  const created = await json('merchants', 'create', '--name', 'ሐረር Coffee');
  expect(created).toMatchObject({ name: 'ሐረር Coffee', status: 'ACTIVE', kycStatus: 'NOT_STARTED' });
  const channels = await rows(
    backOffice.database.db,
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
  const connection = { url: backOffice.server.url, key: backOffice.people.admin.key };
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

test('keys invite prints a token, whose key the merchant alone sees; a list has what is known of it', async () => {
  const invited = await run('keys', 'invite', merchantId, '--name', 'shop');
  expect([invited.notes, invited.text]).toEqual(['Merchant invited\n', expect.stringMatching(/^token +invite_\S+$/m)]);
  const created = await accept({ token: /invite_\S+/.exec(invited.text)?.[0] ?? '' });
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
  await backOffice.database.db.knex()('api_key').where({ id: created[0].keyId }).update({ lastFour: null });
  expect((await list()).text).toContain(`${created[0].secret.slice(0, 12)}…`);
  const other = await json('merchants', 'create', '--name', 'Tea');
  const elsewhere = await accept(await json('keys', 'invite', other.merchantId));
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
])('keys invite %j exits 2 with the reason and invites nobody', async (args, reason) => {
  const before = await counted('userToken');
  const { exitCode, notes } = await run('keys', 'invite', merchantId, ...args);
  expect([exitCode, notes]).toEqual([2, expect.stringContaining(reason)]);
  expect(await counted('userToken')).toBe(before);
});

test('keys invite with scopes, addresses and days invites to a restricted key that expires', async () => {
  const created = await create('--scopes', 'checkout:read,webhooks:read', '--ip-ranges', '10.0.0.0/8', '--days', '7');
  const scopes = ['checkout:read', 'webhooks:read'];
  expect(await stored(created.keyId)).toMatchObject({ kind: 'restricted', scopes, ipRanges: ['10.0.0.0/8'] });
  expect(Math.abs(Date.parse(created.expiresAt) - Date.now() - 7 * 86_400_000)).toBeLessThan(60_000);
});

test('a merchant is created and invited to keys, which are rotated and revoked, as the operator of the key, who is audited', async () => {
  const { operatorId } = backOffice.people.admin;
  const coffee = (await json('merchants', 'create', '--name', 'Coffee')).merchantId;
  const first = await accept(await json('keys', 'invite', coffee));
  const rotate = ['keys', 'rotate', coffee, first.keyId];
  const next = await accept(await json(...rotate, '--overlap-hours', '0', '--yes'));
  expect(next.secret).toMatch(/^sk_test_/);
  const revoke = ['keys', 'revoke', coffee, first.keyId, '--reason', 'Rotated', '--yes'];
  expect((await run(...revoke)).text).toMatch(/revokedAt +20.* EAT\n/);
  await run(...revoke);
  expect((await run(...rotate, '--yes')).exitCode).toBe(1);
  expect([await stored(first.keyId), await stored(next.keyId)]).toMatchObject(
    Array.from({ length: 2 }, () => ({ createdBy: operatorId })),
  );
  const entries = await json('audit', 'list', '--merchant-id', coffee);
  expect(entries.toReversed().map(({ action }: { action: string }) => action)).toEqual([
    'merchant.create',
    'key.invite',
    'key.create',
    'key.invite',
    'key.rotate',
    'key.revoke',
  ]);
  expect(entries[0]).toMatchObject({ operatorId, resourceId: first.keyId, reason: 'Rotated' });
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
  expect((await run('keys', 'invite', newId('mrc'))).exitCode).toBe(4);
  expect((await run('keys', 'revoke', merchantId, 'key_none', '--reason', 'x', '--yes')).exitCode).toBe(4);
});

test('an operator without the role admin exits 3, and nothing is created or audited', async () => {
  const created = await create();
  const before = [await counted('merchant'), await counted('userToken'), await counted('operatorAudit')];
  for (const words of [
    ['merchants', 'create', '--name', 'Another'],
    ['keys', 'invite', merchantId],
    ['keys', 'rotate', merchantId, created.keyId, '--yes'],
    ['keys', 'revoke', merchantId, created.keyId, '--reason', 'x', '--yes'],
  ]) {
    const refused = await runCli(backOffice, words, backOffice.people.finance);
    expect([refused.exitCode, refused.notes]).toEqual([
      3,
      expect.stringContaining('needs an operator with the role admin'),
    ]);
  }
  expect([await counted('merchant'), await counted('userToken'), await counted('operatorAudit')]).toEqual(before);
  expect(await stored(created.keyId)).toMatchObject({ revokedAt: null, rotatedTo: null });
});

test('an API that does not answer exits 5 with the next step, and a write with the key to repeat it safely', async () => {
  const connection = { url: 'http://127.0.0.1:9999', key: 'ok_unused' };
  const { exitCode, notes } = await runCommandLine(connection, ['merchants', 'create', '--name', 'Nobody']);
  expect(exitCode).toBe(5);
  expect(notes).toMatch(
    /^The API at http:\/\/127\.0\.0\.1:9999 does not answer \(.*ECONNREFUSED.*\)\. To repeat it safely, add --idempotency-key \S+\.\nNext: start it with "npm start", run the command in the container of an API, or set MESKOT_URL/,
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

test('operators create passes --admin to the server, without a role', async () => {
  const created: unknown[] = [];
  const { exitCode } = await runCommandLine(
    { url: backOffice.server.url, key: 'ok_unused' },
    ['operators', 'create', '--admin', '--name', 'Sara', '--email', 'sara@meskot.example'],
    { createAdmin: async ({ name, email }) => void created.push({ name, email }) },
  );
  expect([exitCode, created]).toEqual([0, [{ name: 'Sara', email: 'sara@meskot.example' }]]);
});

test('operators are created with a role and an invitation, listed, invited again, and deactivated', async () => {
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
  const { operatorId, invitation } = await json(...create('abel@meskot.example', 'finance'));
  expect((await run(...create('ABEL@meskot.example', 'finance'))).exitCode).toBe(1);
  expect((await json('operators', 'list'))[0]).toMatchObject({ operatorId, name: 'Abel' });
  const again = await json('operators', 'invite', operatorId);
  expect(await accept(invitation)).toBeNull();
  const { secret } = await accept(again);
  const own = (...args: string[]) => runCli(backOffice, args, { key: secret });
  const key = JSON.parse((await own('own-keys', 'create', '--days', '7', '--json')).text);
  expect(key.secret).toMatch(/^ok_/);
  expect((await own('own-keys', 'create', '--days', '366')).exitCode).toBe(2);
  const next = JSON.parse((await own('own-keys', 'rotate', key.keyId, '--yes', '--json')).text);
  expect((await own('own-keys', 'list')).text).toContain(next.keyId);
  expect((await own('own-keys', 'revoke', next.keyId, '--reason', 'Lost', '--yes')).exitCode).toBe(0);
  expect((await run('operators', 'list-keys', operatorId)).text).toContain(next.keyId);
  const revoke = ['operators', 'revoke-key', operatorId, key.keyId, '--reason', 'Left', '--yes'];
  expect((await run(...revoke)).exitCode).toBe(0);
  expect(await json('operators', 'deactivate', operatorId)).toMatchObject({ active: false });
});

test('a settlement limit is proposed by one operator and confirmed by another', async () => {
  const path = `/api/ops/merchants/${merchantId}/settlement-limit`;
  const limit = JSON.stringify({ min: 100, max: 50_000, reason: 'Contract' });
  const { proposalId } = JSON.parse((await run('request', 'PUT', path, limit)).text);
  expect((await run('proposals', 'list', '--status', 'PENDING')).text).toContain(proposalId);
  expect((await run('proposals', 'confirm', proposalId, '--yes')).exitCode).toBe(1);
  const other = await backOffice.hire('admin');
  const confirmed = await runCli(backOffice, ['proposals', 'confirm', proposalId, '--yes', '--json'], other);
  expect([confirmed.exitCode, JSON.parse(confirmed.text)]).toMatchObject([
    0,
    { status: 'CONFIRMED', after: { max: 50_000 } },
  ]);
  expect((await runCli(backOffice, ['proposals', 'confirm', proposalId, '--yes'], other)).exitCode).toBe(1);
  expect(await json('proposals', 'get', proposalId)).toMatchObject({ status: 'CONFIRMED' });
});
