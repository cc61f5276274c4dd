import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';

import { createKeyAuthenticator } from '../../src/access/authenticate.ts';
import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { reencryptTable } from '../../src/lib/reencrypt.ts';
import { listCredentials } from '../../src/providers/credentials/queries.ts';
import { openCredentials, SEALED_CREDENTIALS } from '../../src/providers/credentials/values.ts';
import { PEPPER, runCli, type BackOffice, type Person } from '../backoffice/back-office.ts';
import { buildMerchant } from '../support/build.ts';
import { startTestServer, testServerDeps, type TestServer } from '../support/http.ts';
import { KEY_RING } from '../support/key-ring.ts';
import { SANDBOX_CBE_BIRR, SANDBOX_TELEBIRR } from '../support/sandbox-accounts.ts';
import { aTill, startCredentialOffice, type CredentialOffice, type Values } from './credential-office.ts';

const TILL = aTill('620001');

let office: CredentialOffice;
let backOffice: BackOffice;
let TELEBIRR: Values;
/** The operators' routes with a log that is kept. */
let server: TestServer;
let other: Person;
const logged: string[] = [];
let merchantId: string;

beforeAll(async () => {
  office = await startCredentialOffice();
  ({ backOffice, telebirr: TELEBIRR } = office);
  for (const till of ['620001', '620002']) office.gateway.keys.set(till, ['planted-hash-key']);
  other = await backOffice.hire('admin');
  const { database, routes, clock } = backOffice;
  const lines = new Writable({
    write: (line: Buffer, _encoding, done) => {
      logged.push(line.toString());
      done();
    },
  });
  const log = createLogger('debug', 'test', { destination: lines });
  const { authenticateKey } = createKeyAuthenticator({ db: database.db, peppers: [PEPPER], clock, log });
  server = await startTestServer(testServerDeps(database.db, { routes, authenticateKey, log, keyRing: KEY_RING }));
});
afterAll(async () => {
  await server.close();
  await office.close();
});
beforeEach(async () => {
  ({ merchantId } = await buildMerchant(backOffice.database.db));
});

const pathOf = (channel: string, rest = '', of = merchantId) =>
  `/api/ops/merchants/${of}/channels/${channel}/credentials${rest}`;
const as = (person: Person, headers?: Record<string, string>) => ({ key: person.key, ...(headers && { headers }) });
const post = (path: string, body: object, person = backOffice.people.admin) =>
  server.send('POST', path, { ...as(person), body });

/** Enters credentials, which the provider accepts; returns their id. */
async function add(channel: string, credentials: object): Promise<string> {
  const { status, body, text } = await post(pathOf(channel), { credentials });
  if (status !== 201) throw new Error(text);
  const id: string = body.data.credentialId;
  expect((await check(channel, id)).body.data.checkOutcome).toBe('OK');
  return id;
}
const check = (channel: string, id: string) => post(pathOf(channel, `/${id}/check`), {});
const activate = (
  channel: string,
  id: string,
  { person = other, ...body }: { person?: Person; overlapHours?: number } = {},
) => post(pathOf(channel, `/${id}/activate`), body, person);
const list = async (channel: string) => (await server.send('GET', pathOf(channel), as(other))).body.data;
const states = async (channel: string): Promise<string[]> =>
  (await list(channel)).map((set: { account: string; state: string }) => `${set.account} ${set.state}`);

test('credentials are entered by one operator and activated by another', async () => {
  const { people } = backOffice;
  const added = await post(pathOf('TELEBIRR'), { credentials: TELEBIRR, expiresAt: '2099-01-01T00:00:00Z' });
  expect(added.status).toBe(201);
  expect(added.body.message).toContain('check them; another operator has to activate them');
  expect(added.body.data).toMatchObject({
    state: 'PENDING',
    account: '800001',
    payoutAccount: null,
    identifiers: {
      credentials: {
        merchantCode: '800001',
        appId: '…0001',
        appKey: `…${TELEBIRR['appKey']?.slice(-4)}`,
        publicKey: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    },
    checkOutcome: null,
    createdBy: people.admin.operatorId,
    confirmedBy: null,
    expiresAt: '2099-01-01T00:00:00.000Z',
  });
  const id: string = added.body.data.credentialId;

  const alone = await activate('TELEBIRR', id, { person: people.admin });
  expect(alone.body).toMatchObject({
    error: { code: 'INVALID_STATE' },
    message: expect.stringContaining('entered by you: you cannot activate it, another operator has to activate it'),
  });
  expect((await activate('TELEBIRR', id)).body.message).toMatch(/^These credentials were never checked\. Check them/);
  expect(await states('TELEBIRR')).toEqual(['800001 PENDING']);
  await check('TELEBIRR', id);
  const activated = await activate('TELEBIRR', id);
  expect(activated.body.data).toMatchObject({ state: 'ACTIVE', confirmedBy: other.operatorId, retiresAt: null });
  expect(await backOffice.audited(id)).toEqual([
    'channel.add-credentials',
    'channel.check-credentials',
    'channel.activate-credentials',
  ]);
  expect((await activate('TELEBIRR', id)).body.message).toContain('only PENDING ones');
});

test('only admins may enter, list, activate or revoke them', async () => {
  const id = await add('CBE_BIRR', TILL);
  for (const role of ['viewer', 'support', 'finance'] as const) {
    const person = backOffice.people[role];
    expect((await server.send('GET', pathOf('CBE_BIRR'), as(person))).status).toBe(403);
    expect((await post(pathOf('CBE_BIRR'), { credentials: TILL }, person)).status).toBe(403);
    expect((await post(pathOf('CBE_BIRR', `/${id}/check`), {}, person)).status).toBe(403);
    expect((await activate('CBE_BIRR', id, { person })).status).toBe(403);
    expect((await post(pathOf('CBE_BIRR', `/${id}/revoke`), { reason: 'No' }, person)).status).toBe(403);
  }
});

test('a set waits for the second operator in the work queue, and one that ends within 30 days for its successor', async () => {
  const id = await add('TELEBIRR', TELEBIRR);
  const listed = async (kind: string) => {
    const { body } = await server.send('GET', `/api/ops/queue?environment=live&kind=${kind}`, as(other));
    return body.data.items.filter((item: { merchantId: string }) => item.merchantId === merchantId);
  };
  expect(await listed('CREDENTIALS_PENDING')).toMatchObject([
    { id, what: 'Credentials of telebirr to activate', links: { activate: pathOf('TELEBIRR', `/${id}/activate`) } },
  ]);
  await activate('TELEBIRR', id);
  expect([await listed('CREDENTIALS_PENDING'), await listed('CREDENTIALS_ENDING')]).toEqual([[], []]);
  const sql = "UPDATE provider_credential SET expires_at = now() + interval '29 days' WHERE id = :id RETURNING 1";
  await rows(backOffice.database.db, sql, { id });
  expect(await listed('CREDENTIALS_ENDING')).toMatchObject([{ id }]);
});

test('values are stored encrypted, and are in no response, replay, audit row, table or log', async () => {
  const path = pathOf('CBE_BIRR');
  const request = { ...as(backOffice.people.admin, { 'idempotency-key': 'once' }), body: { credentials: TILL } };
  const texts = [await server.send('POST', path, request), await server.send('POST', path, request)];
  expect(texts[1]?.body.data).toEqual(texts[0]?.body.data);
  texts.push(await post(pathOf('TELEBIRR'), { credentials: TELEBIRR, payoutCredentials: { ...TELEBIRR, appId: '' } }));
  expect(texts.at(-1)?.status).toBe(400);
  const id: string = texts[0]?.body.data.credentialId;
  texts.push(await post(path, { credentials: { ...TILL, tillCode: 1 } }));
  texts.push(await check('CBE_BIRR', id), await activate('CBE_BIRR', id), await server.send('GET', path, as(other)));
  texts.push(await server.send('GET', '/api/ops/audit', as(other)));
  await add('TELEBIRR', TELEBIRR);
  texts.push(await post(path.replace(id, 'pcr_none'), { credentials: TELEBIRR }));

  const everything = [...texts.map(({ text }) => text), ...logged, ...(await everyRow())].join('\n');
  expect(everything).toContain(id);
  const { appKey = '', appSecret = '', merchantPrivateKey = '' } = TELEBIRR;
  const planted = [
    appKey,
    appSecret,
    merchantPrivateKey.split('\n')[3] ?? '',
    TILL['token'] ?? '',
    TILL['hashKey'] ?? '',
  ];
  const hidden = [...planted, ...planted.map((value) => Buffer.from(value).toString('hex'))];
  expect(hidden.filter((value) => everything.includes(value))).toEqual([]);
  const [set] = await listCredentials(backOffice.database.db, { merchantId, channel: 'CBE_BIRR' });
  expect(set && openCredentials(KEY_RING, set)).toEqual({ payIn: TILL, payOut: null });
});

/** Every row of every table as text; bytes are in hexadecimal. */
async function everyRow(): Promise<string[]> {
  const { db } = backOffice.database;
  const named = await rows<{ name: string }>(
    db,
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const all = await Promise.all(
    named.map(({ name }) => rows<{ row: string }>(db, `SELECT t::text AS row FROM "${name}" t`)),
  );
  return all.flat().map(({ row }) => row);
}

test.each([
  [{ ...TILL, hashKey: '' }, 'credentials.hashKey must be a text that is not empty'],
  [{ ...TILL, token: 918_273 }, 'credentials.token must be a text that is not empty'],
  [{ tillCode: '1' }, 'credentials.companyName must be a text'],
  [{ ...TILL, appSecret: 'planted' }, 'only the fields of CBE_BIRR: companyName, tillCode, token, hashKey'],
])('wrong credentials are rejected by their field, without a value', async (credentials, message) => {
  const { status, body, text } = await post(pathOf('CBE_BIRR'), { credentials });
  expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(body.message).toContain(message);
  expect(text).not.toMatch(/planted|918273/);
});

test('a private key must be one, the channel one with live providers, and the end in the future', async () => {
  const wrong = { ...TELEBIRR, merchantPrivateKey: 'planted' };
  const { body, text } = await post(pathOf('TELEBIRR'), { credentials: wrong });
  expect(body.message).toContain('credentials.merchantPrivateKey must be a private key in PEM');
  expect(text).not.toContain('planted');
  expect((await post(pathOf('MPESA'), { credentials: TILL })).status).toBe(400);
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const elliptic = await post(pathOf('TELEBIRR'), { credentials: { ...TELEBIRR, merchantPrivateKey: curve } });
  expect(elliptic.body.message).toContain('credentials.merchantPrivateKey must be an RSA key');
  const ended = await post(pathOf('CBE_BIRR'), { credentials: TILL, expiresAt: '2020-01-01T00:00:00Z' });
  expect(ended.body.message).toBe('expiresAt must be in the future');
});

test("the sandbox's credentials, which are published, are rejected", async () => {
  const { merchantPrivateKey } = SANDBOX_TELEBIRR;
  const telebirr = await post(pathOf('TELEBIRR'), { credentials: { ...TELEBIRR, merchantPrivateKey } });
  expect([telebirr.status, telebirr.body.message]).toEqual([
    400,
    expect.stringContaining("credentials.merchantPrivateKey must not be the sandbox's, which is published"),
  ]);
  const payoutCredentials = { ...TILL, token: SANDBOX_CBE_BIRR.token };
  const till = await post(pathOf('CBE_BIRR'), { credentials: TILL, payoutCredentials });
  expect(till.body.message).toContain("payoutCredentials.token must not be the sandbox's");
});

test('a replaced set stays usable for its overlap, which no later set prolongs, and there is one pending set at a time', async () => {
  const first = await add('CBE_BIRR', TILL);
  await activate('CBE_BIRR', first);
  const second = await add('CBE_BIRR', aTill('620002'));
  const third = await post(pathOf('CBE_BIRR'), { credentials: TILL });
  expect(third.body).toMatchObject({ error: { code: 'INVALID_STATE' }, message: expect.stringContaining(second) });
  await activate('CBE_BIRR', second, { overlapHours: 2 });
  expect(await states('CBE_BIRR')).toEqual(['620002 ACTIVE', '620001 RETIRING']);
  const [newer, older] = await list('CBE_BIRR');
  expect(Date.parse(older.retiresAt) - Date.parse(newer.activeFrom)).toBe(2 * 3_600_000);
  await activate('CBE_BIRR', await add('CBE_BIRR', TILL), { overlapHours: 300 });
  expect((await list('CBE_BIRR'))[2]).toMatchObject({ credentialId: first, retiresAt: older.retiresAt });
  const sql = "UPDATE provider_credential SET retires_at = now() - interval '1 s' WHERE id = :first RETURNING 1";
  await rows(backOffice.database.db, sql, { first });
  expect(await states('CBE_BIRR')).toEqual(['620001 ACTIVE', '620002 RETIRING', '620001 RETIRED']);
});

test('a set is revoked with a reason, once, also before it was activated', async () => {
  const id = await add('CBE_BIRR', TILL);
  const revoke = () => post(pathOf('CBE_BIRR', `/${id}/revoke`), { reason: 'The key was in an e-mail' }, other);
  expect((await revoke()).body.data).toMatchObject({ state: 'REVOKED', revokedBy: other.operatorId });
  expect((await revoke()).status).toBe(200);
  expect(await backOffice.audited(id)).toEqual([
    'channel.add-credentials',
    'channel.check-credentials',
    'channel.revoke-credentials',
  ]);
  expect((await activate('CBE_BIRR', id)).body.message).toContain('These credentials are REVOKED');
  await add('CBE_BIRR', TILL);
});

test('the credentials of a merchant are not those of another merchant or channel', async () => {
  const id = await add('CBE_BIRR', TILL);
  const stranger = (await buildMerchant(backOffice.database.db)).merchantId;
  for (const path of [pathOf('CBE_BIRR', `/${id}`, stranger), pathOf('AWASH', `/${id}`)]) {
    expect((await post(`${path}/activate`, {}, other)).status).toBe(404);
    expect((await post(`${path}/revoke`, { reason: 'No' }, other)).status).toBe(404);
  }
  const { body } = await server.send('GET', pathOf('CBE_BIRR', '', stranger), as(other));
  expect(body.data).toEqual([]);
  expect(await states('CBE_BIRR')).toEqual(['620001 PENDING']);
});

test('meskot channels add-credentials reads them from a file, so that they are not on the command line', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'meskot-credentials-')), 'till.json');
  const run = () => runCli(backOffice, ['channels', 'add-credentials', merchantId, 'CBE_BIRR', file, '--json']);
  writeFileSync(file, 'planted');
  const wrong = await run();
  expect([wrong.exitCode, wrong.notes]).toEqual([2, `The file must be a JSON object: ${file}.\n`]);
  writeFileSync(file, JSON.stringify({ credentials: TILL }));
  const added = await run();
  expect(JSON.parse(added.text)).toMatchObject({ state: 'PENDING', account: '620001' });
  const { credentialId } = JSON.parse(added.text) as { credentialId: string };
  const checked = await runCli(backOffice, ['channels', 'check-credentials', merchantId, 'CBE_BIRR', credentialId]);
  expect(checked.notes).toMatch(/^CBE Birr answers a signed query .* \(NOT_FOUND\)\./);
  const decision = ['channels', 'activate-credentials', merchantId, 'CBE_BIRR', credentialId, '--yes'];
  expect((await runCli(backOffice, decision, { key: other.key })).exitCode).toBe(0);
  const listed = await runCli(backOffice, ['channels', 'list-credentials', merchantId, 'CBE_BIRR']);
  expect(listed.text).toContain('ACTIVE');
});

test('meskot keys reencrypt brings them under the current key', async () => {
  await add('CBE_BIRR', TILL);
  const { db } = backOffice.database;
  const keyRing = { currentId: 'next', keys: new Map([...KEY_RING.keys, ['next', Buffer.alloc(32, 9)]]) };
  const { seen, reencrypted, failed } = await reencryptTable({ db, keyRing }, SEALED_CREDENTIALS, () => {});
  expect([reencrypted, failed]).toEqual([seen, []]);
  const [set] = await listCredentials(db, { merchantId, channel: 'CBE_BIRR' });
  expect(set && openCredentials(keyRing, set).payIn).toEqual(TILL);
});
