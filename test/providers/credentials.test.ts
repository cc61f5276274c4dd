import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';

import { createKeyAuthenticator } from '../../src/access/authenticate.ts';
import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { reencryptTable } from '../../src/lib/reencrypt.ts';
import { SANDBOX_TELEBIRR } from '../../src/lib/sandbox-providers.ts';
import { createCredentialStore } from '../../src/providers/credentials/store.ts';
import { SEALED_CREDENTIALS } from '../../src/providers/credentials/values.ts';
import { PEPPER, runCli, startBackOffice, type BackOffice, type Person } from '../backoffice/back-office.ts';
import { buildMerchant } from '../support/build.ts';
import { startTestServer, testServerDeps, type TestServer } from '../support/http.ts';
import { KEY_RING } from '../support/key-ring.ts';

const SECRETS = { appKey: 'planted-app-key', appSecret: 'planted-app-secret' };
const { appId, merchantPrivateKey } = SANDBOX_TELEBIRR;
const TELEBIRR = { ...SECRETS, appId, merchantCode: '510001', merchantPrivateKey };
/** A line of the private key. */
const KEY_LINE = merchantPrivateKey.split('\n')[3] ?? '';
const TILL = { companyName: 'Coffee', tillCode: '620001', token: 'planted-token', hashKey: 'planted-hash-key' };
const PLANTED = [...Object.values(SECRETS), TILL.token, TILL.hashKey, KEY_LINE];

let backOffice: BackOffice;
/** The operators' routes with a log that is kept. */
let server: TestServer;
let other: Person;
const logged: string[] = [];
let merchantId: string;

beforeAll(async () => {
  backOffice = await startBackOffice();
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
  await backOffice.close();
});
beforeEach(async () => {
  ({ merchantId } = await buildMerchant(backOffice.database.db));
});

const pathOf = (channel: string, rest = '', of = merchantId) =>
  `/api/ops/merchants/${of}/channels/${channel}/credentials${rest}`;
const as = (person: Person, headers?: Record<string, string>) => ({ key: person.key, ...(headers && { headers }) });
const post = (path: string, body: object, person = backOffice.people.admin) =>
  server.send('POST', path, { ...as(person), body });

async function add(channel: string, credentials: object): Promise<string> {
  const { status, body, text } = await post(pathOf(channel), { credentials });
  if (status !== 201) throw new Error(text);
  return body.data.credentialId;
}
const activate = (
  channel: string,
  id: string,
  { person = other, ...body }: { person?: Person; overlapHours?: number } = {},
) => post(pathOf(channel, `/${id}/activate`), body, person);
const states = async (channel: string): Promise<string[]> => {
  const { body } = await server.send('GET', pathOf(channel), as(other));
  return body.data.map((set: { account: string; state: string }) => `${set.account} ${set.state}`);
};

test('credentials are entered by one operator and activated by another', async () => {
  const { people } = backOffice;
  const added = await post(pathOf('TELEBIRR'), { credentials: TELEBIRR, expiresAt: '2099-01-01T00:00:00Z' });
  expect(added.status).toBe(201);
  expect(added.body.message).toContain('another operator has to activate them');
  expect(added.body.data).toMatchObject({
    state: 'PENDING',
    account: '510001',
    payoutAccount: null,
    fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
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
  expect(await states('TELEBIRR')).toEqual(['510001 PENDING']);
  const activated = await activate('TELEBIRR', id);
  expect(activated.body.data).toMatchObject({ state: 'ACTIVE', confirmedBy: other.operatorId, retiresAt: null });
  expect(await backOffice.audited(id)).toEqual(['channel.add-credentials', 'channel.activate-credentials']);
  expect((await activate('TELEBIRR', id)).body.message).toContain('only PENDING ones');
});

test('only admins may enter, list, activate or revoke them', async () => {
  const id = await add('CBE_BIRR', TILL);
  for (const role of ['viewer', 'support', 'finance'] as const) {
    const person = backOffice.people[role];
    expect((await server.send('GET', pathOf('CBE_BIRR'), as(person))).status).toBe(403);
    expect((await post(pathOf('CBE_BIRR'), { credentials: TILL }, person)).status).toBe(403);
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
  texts.push(await activate('CBE_BIRR', id), await server.send('GET', path, as(other)));
  texts.push(await server.send('GET', '/api/ops/audit', as(other)));
  await add('TELEBIRR', TELEBIRR);
  texts.push(await post(path.replace(id, 'pcr_none'), { credentials: TELEBIRR }));

  const everything = [...texts.map(({ text }) => text), ...logged, ...(await everyRow())].join('\n');
  expect(everything).toContain(id);
  const hidden = [...PLANTED, ...PLANTED.map((value) => Buffer.from(value).toString('hex'))];
  expect(hidden.filter((value) => everything.includes(value))).toEqual([]);
  const store = createCredentialStore({ db: backOffice.database.db, keyRing: KEY_RING, clock: backOffice.clock });
  const [set] = await store.setsOf({ merchantId, channel: 'CBE_BIRR' });
  expect(set && store.open(set)).toEqual({ payIn: TILL, payOut: null });
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
  expect(text).not.toMatch(/planted|918/);
});

test('a private key must be one, the channel one with live providers, and the end in the future', async () => {
  const wrong = { ...TELEBIRR, merchantPrivateKey: 'planted' };
  const { body, text } = await post(pathOf('TELEBIRR'), { credentials: wrong });
  expect(body.message).toContain('credentials.merchantPrivateKey must be a private key in PEM');
  expect(text).not.toContain('planted');
  expect((await post(pathOf('MPESA'), { credentials: TILL })).status).toBe(400);
  const ended = await post(pathOf('CBE_BIRR'), { credentials: TILL, expiresAt: '2020-01-01T00:00:00Z' });
  expect(ended.body.message).toBe('expiresAt must be in the future');
});

test('a replaced set stays usable for its overlap, and there is one pending set at a time', async () => {
  const first = await add('CBE_BIRR', TILL);
  await activate('CBE_BIRR', first);
  const second = await add('CBE_BIRR', { ...TILL, tillCode: '620002' });
  const third = await post(pathOf('CBE_BIRR'), { credentials: TILL });
  expect(third.body).toMatchObject({ error: { code: 'INVALID_STATE' }, message: expect.stringContaining(second) });
  await activate('CBE_BIRR', second, { overlapHours: 2 });
  expect(await states('CBE_BIRR')).toEqual(['620002 ACTIVE', '620001 RETIRING']);
  const { body } = await server.send('GET', pathOf('CBE_BIRR'), as(other));
  const [newer, older] = body.data;
  expect(Date.parse(older.retiresAt) - Date.parse(newer.activeFrom)).toBe(2 * 3_600_000);
  const sql = "UPDATE provider_credential SET retires_at = now() - interval '1 s' WHERE id = :first RETURNING 1";
  await rows(backOffice.database.db, sql, { first });
  expect(await states('CBE_BIRR')).toEqual(['620002 ACTIVE', '620001 RETIRED']);
});

test('a set is revoked with a reason, once, also before it was activated', async () => {
  const id = await add('AWASH', TILL);
  const revoke = () => post(pathOf('AWASH', `/${id}/revoke`), { reason: 'The key was in an e-mail' }, other);
  expect((await revoke()).body.data).toMatchObject({ state: 'REVOKED', revokedBy: other.operatorId });
  expect((await revoke()).status).toBe(200);
  expect(await backOffice.audited(id)).toEqual(['channel.add-credentials', 'channel.revoke-credentials']);
  expect((await activate('AWASH', id)).body.message).toContain('These credentials are REVOKED');
  await add('AWASH', TILL);
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
  const store = createCredentialStore({ db, keyRing, clock: backOffice.clock });
  const [set] = await store.setsOf({ merchantId, channel: 'CBE_BIRR' });
  expect(set && store.open(set).payIn).toEqual(TILL);
});
