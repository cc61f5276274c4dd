import { createKeyAuthenticator } from '../../src/access/authenticate.ts';
import { invitationRoute } from '../../src/access/key-routes.ts';
import { createLimits } from '../../src/http/limits.ts';
import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { startBackOffice, PEPPER, type BackOffice } from '../backoffice/back-office.ts';
import { buildMerchant } from '../support/build.ts';
import { NO_LIMITS, startTestServer, testServerDeps } from '../support/http.ts';

let backOffice: BackOffice;
let merchantId: string;
let hired = 0;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  merchantId = (await buildMerchant(backOffice.database.db)).merchantId;
});
afterAll(() => backOffice.close());

const accept = (token: string) => backOffice.send('POST', '/api/invitations/accept', { key: null, body: { token } });
const post = async (path: string, body: object = {}) =>
  (await backOffice.send('POST', `/api/ops/${path}`, { body })).body.data;
const inviteMerchant = (body: object = {}) =>
  post(`merchants/${merchantId}/key-invitations`, { environment: 'sandbox', ...body });
async function createOperator() {
  hired += 1;
  return post('operators', { name: 'Bob', email: `bob-${hired}@meskot.example`, role: 'finance' });
}
const count = async (table: string) => Number((await backOffice.database.db.knex()(table).count())[0]?.['count']);

/** The one answer to every token that does not work. */
async function expectRejected(token: string): Promise<void> {
  const keys = await count('apiKey');
  const answer = await accept(token);
  expect([answer.status, answer.body.error.code, answer.body.message]).toEqual([
    401,
    'AUTHENTICATION_REQUIRED',
    'This invitation does not exist, was used, or has expired: request another one from whoever sent it.',
  ]);
  expect(await count('apiKey')).toBe(keys);
}

test('a new operator accepts the invitation of their creation, gets a key, and creates and rotates more alone', async () => {
  const { operatorId, invitation } = await createOperator();
  expect(Date.parse(invitation.expiresAt) - Date.now()).toBeGreaterThan(2.9 * 86_400_000);
  const accepted = await accept(invitation.token);
  expect(accepted.status).toBe(201);
  const { secret: key, keyId, ...rest } = accepted.body.data;
  expect(rest).toMatchObject({ operatorId, merchantId: null, environment: null });
  const more = await backOffice.send('POST', '/api/ops/keys', { key, body: { name: 'Phone' } });
  expect(more.body.data).toMatchObject({ operatorId, name: 'Phone' });
  expect(await backOffice.audited(operatorId)).toEqual(['operator.create']);
  const { body } = await backOffice.send('GET', `/api/ops/audit?resourceId=${keyId}`);
  expect(body.data).toMatchObject([
    { action: 'operator-key.create', operatorId, after: { invitationId: invitation.invitationId } },
  ]);
});

test("a merchant's invitation makes the key that was offered, and its inviter is kept as the creator", async () => {
  const wanted = { environment: 'live', name: 'Payroll', scopes: ['balance:read'], ipRanges: ['10.0.0.0/8'], days: 30 };
  const { body } = await accept((await inviteMerchant(wanted)).token);
  const { keyId, secret } = body.data;
  expect(secret).toMatch(/^rk_live_/);
  expect(body.data).toMatchObject({ merchantId, operatorId: null, environment: 'live' });
  const listed = (await backOffice.send('GET', `/api/ops/merchants/${merchantId}/keys`)).body.data;
  const { operatorId: createdBy } = backOffice.people.admin;
  const { days, ...kept } = wanted;
  expect(listed).toMatchObject([{ ...kept, keyId, kind: 'restricted', createdBy }]);
  expect(Math.abs(Date.parse(listed[0].expiresAt) - Date.now() - days * 86_400_000)).toBeLessThan(60_000);
  expect(await backOffice.audited(keyId)).toEqual(['key.create']);
});

test('an invitation to rotate gives the merchant the successor, and the old key its overlap', async () => {
  const old = await backOffice.invitedKey(merchantId, { name: 'Shop' });
  const path = `merchants/${merchantId}/keys/${old.keyId}/rotate`;
  for (const overlapHours of [-1, 169, 1.5]) {
    expect((await backOffice.send('POST', `/api/ops/${path}`, { body: { overlapHours } })).status).toBe(400);
  }
  const { token } = await post(path, { overlapHours: 1 });
  const next = (await accept(token)).body.data;
  const listed = (await backOffice.send('GET', `/api/ops/merchants/${merchantId}/keys`)).body.data;
  expect(listed).toMatchObject([
    { keyId: next.keyId, name: 'Shop' },
    { keyId: old.keyId, rotatedTo: next.keyId },
  ]);
  expect(await backOffice.audited(old.keyId)).toEqual(['key.create', 'key.rotate']);
  const again = await backOffice.send('POST', `/api/ops/${path}`, { body: {} });
  expect([again.status, again.body.error.code]).toEqual([409, 'INVALID_STATE']);
  const other = await buildMerchant(backOffice.database.db);
  const elsewhere = `/api/ops/merchants/${other.merchantId}/keys/${next.keyId}/rotate`;
  expect((await backOffice.send('POST', elsewhere, { body: {} })).status).toBe(404);
});

test.each([
  [{ scopes: ['nothing'] }, /scopes/],
  [{ name: 'a\u001b[31m' }, /name/],
  [{ ipRanges: ['here'] }, /ipRanges must be addresses in CIDR notation/],
])('an invitation to an unusable key is rejected at once: %j', async (body, message) => {
  const before = await count('userToken');
  const path = `/api/ops/merchants/${merchantId}/key-invitations`;
  const answer = await backOffice.send('POST', path, { body: { environment: 'sandbox', ...body } });
  expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(answer.body.message).toMatch(message);
  expect(await count('userToken')).toBe(before);
});

describe('a token', () => {
  test('works once', async () => {
    const { token } = await inviteMerchant();
    expect((await accept(token)).status).toBe(201);
    await expectRejected(token);
  });

  test('that twenty accept at once makes one key', async () => {
    const { token } = await inviteMerchant();
    const before = await count('apiKey');
    const answers = await Promise.all(Array.from({ length: 20 }, () => accept(token)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19);
    expect(await count('apiKey')).toBe(before + 1);
  });

  test('that is wrong, another one with a changed character, or has expired does not work', async () => {
    const { token, invitationId } = await inviteMerchant();
    await expectRejected('invite_of-nobody');
    await expectRejected(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`);
    await expectRejected(invitationId);
    await rows(
      backOffice.database.db,
      `UPDATE user_token SET expires_at = now() - interval '1 second' WHERE id = :invitationId`,
      {
        invitationId,
      },
    );
    await expectRejected(token);
  });

  test('of an operator ends with the next invitation, and with the operator', async () => {
    const { operatorId, invitation } = await createOperator();
    const next = await post(`operators/${operatorId}/invitations`);
    await expectRejected(invitation.token);
    await backOffice.send('PATCH', `/api/ops/operators/${operatorId}`, { body: { active: false } });
    await expectRejected(next.token);
    await backOffice.send('PATCH', `/api/ops/operators/${operatorId}`, { body: { active: true } });
    expect((await accept(next.token)).status).toBe(201);
    expect(await backOffice.audited(operatorId)).toEqual([
      'operator.create',
      'operator.invite',
      'operator.change',
      'operator.change',
    ]);
  });

  test('of a revoked invitation does not work, and an accepted invitation cannot be revoked', async () => {
    const revoke = (invitationId: string) =>
      backOffice.send('POST', `/api/ops/invitations/${invitationId}/revoke`, { body: { reason: 'Wrong address' } });
    const { token, invitationId } = await inviteMerchant();
    expect([(await revoke(invitationId)).status, (await revoke(invitationId)).status]).toEqual([200, 200]);
    await expectRejected(token);
    expect(await backOffice.audited(invitationId)).toEqual(['key.invite', 'invitation.revoke']);
    const used = await inviteMerchant();
    await accept(used.token);
    const refused = await revoke(used.invitationId);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect((await revoke('inv_none')).status).toBe(404);
  });

  test('is found in clear in no table and no log, nor is the key that it gave', async () => {
    const { token } = await inviteMerchant();
    const path = `/api/ops/merchants/${merchantId}/key-invitations`;
    const headers = { 'idempotency-key': 'invite-once' };
    const { key } = backOffice.people.admin;
    const request = { key, headers, body: { environment: 'sandbox' } };
    const stored = (await backOffice.server.send('POST', path, request)).body.data.token;
    expect((await backOffice.server.send('POST', path, request)).body.data.token).toBe(stored);
    const secrets = [token, stored, (await accept(token)).body.data.secret];
    for (const table of ['user_token', 'operator_audit', 'api_key', 'idempotency_key', 'proposal']) {
      const found = await rows<{ row: string }>(backOffice.database.db, `SELECT t::text AS row FROM ${table} t`);
      const bytes = secrets.map((secret) => Buffer.from(secret).toString('hex'));
      for (const secret of [...secrets, ...bytes]) {
        expect([table, found.some(({ row }) => row.includes(secret))]).toEqual([table, false]);
      }
    }
  });

  test('that is wrong counts as a failed authentication: an address has a few guesses a minute, and is not logged', async () => {
    const { db } = backOffice.database;
    const lines: string[] = [];
    const log = createLogger('debug', 'test', { destination: { write: (line) => void lines.push(line) } });
    const keys = createKeyAuthenticator({ db, peppers: [PEPPER], clock: backOffice.clock, log });
    const routes = [invitationRoute(PEPPER, ['merchant'])];
    const limits = createLimits({ ...NO_LIMITS, failedAuthPerMinute: 3 });
    const server = await startTestServer(testServerDeps(db, { routes, limits, log, ...keys }));
    try {
      const { token } = await inviteMerchant();
      const guess = async (guessed: string) =>
        (await server.send('POST', '/api/invitations/accept', { key: null, body: { token: guessed } })).status;
      const wrong = 'invite_a-wrong-guess';
      expect([await guess(wrong), await guess(wrong), await guess(wrong)]).toEqual([401, 401, 401]);
      expect(await guess(token)).toBe(429);
      expect((await accept(token)).status).toBe(201);
      expect(lines.join('')).toContain('/api/invitations/accept');
      expect(lines.join('')).not.toContain(wrong);
      expect(lines.join('')).not.toContain(token);
    } finally {
      await server.close();
    }
  });
});

describe('the list of invitations', () => {
  const list = async (query: string) => (await backOffice.send('GET', `/api/ops/invitations?${query}`)).body.data;
  const revoke = (id: string) =>
    backOffice.send('POST', `/api/ops/invitations/${id}/revoke`, { body: { reason: 'Wrong address' } });

  test('has those of a merchant that can be accepted, with names and without tokens', async () => {
    const old = await backOffice.invitedKey(merchantId);
    const rotation = await post(`merchants/${merchantId}/keys/${old.keyId}/rotate`);
    const key = await inviteMerchant({ environment: 'live' });
    const email = 'hana@shop.example.et';
    const owner = await post(`merchants/${merchantId}/owner-invitations`, { email, reason: 'Asked by phone' });
    await revoke((await inviteMerchant()).invitationId);
    const found = await list(`merchantId=${merchantId}`);
    const { operatorId: createdBy } = backOffice.people.admin;
    const by = { merchantId, merchantName: expect.any(String), createdBy, createdByName: expect.any(String) };
    expect(found).toMatchObject([
      { ...by, invitationId: owner.invitationId, purpose: 'owner', email, environment: null },
      { ...by, invitationId: key.invitationId, purpose: 'key', environment: 'live', keyId: null },
      { ...by, invitationId: rotation.invitationId, purpose: 'rotation', environment: 'sandbox', keyId: old.keyId },
    ]);
    for (const { token } of [key, rotation]) expect(JSON.stringify(found)).not.toContain(token);
  });

  test("an owner's is revoked once, and one that a merchant's own person sent is not found", async () => {
    const { db } = backOffice.database;
    const body = { email: 'sara@shop.example.et', reason: 'Asked by phone' };
    const { invitationId } = await post(`merchants/${merchantId}/owner-invitations`, body);
    expect([(await revoke(invitationId)).status, (await revoke(invitationId)).status]).toEqual([200, 200]);
    expect(await list(`merchantId=${merchantId}`)).toEqual([]);
    expect(await backOffice.audited(invitationId)).toEqual(['invitation.revoke']);
    const again = await post(`merchants/${merchantId}/owner-invitations`, body);
    await rows(db, `UPDATE user_token SET created_by = 'usr_1' WHERE id = :invitationId`, again);
    expect(await list(`merchantId=${merchantId}`)).toEqual([]);
    expect((await revoke(again.invitationId)).status).toBe(404);
    await rows(db, `UPDATE user_token SET created_by = 'opr_1', used_at = now() WHERE id = :invitationId`, again);
    expect((await revoke(again.invitationId)).status).toBe(409);
  });

  test("an operator's ends with the link that was mailed", async () => {
    const { db } = backOffice.database;
    const { operatorId, email, invitation } = await createOperator();
    expect(await list(`operatorId=${operatorId}`)).toMatchObject([
      { invitationId: invitation.invitationId, purpose: 'operator-key', operatorId, operatorName: 'Bob' },
    ]);
    await revoke(invitation.invitationId);
    expect(await list(`operatorId=${operatorId}`)).toEqual([]);
    const links = () => rows(db, 'SELECT revoked_at FROM user_token WHERE email = :email ORDER BY id', { email });
    const ended = { revokedAt: expect.any(Date) };
    expect(await links()).toEqual([ended]);
    // A later invitation has a link of its own, which does not end with the earlier one again.
    await post(`operators/${operatorId}/invitations`);
    expect((await revoke(invitation.invitationId)).status).toBe(200);
    expect(await links()).toEqual([ended, { revokedAt: null }]);
  });
});

test('after a rotation of the pepper an invitation still works', async () => {
  const { token } = await inviteMerchant();
  const routes = [invitationRoute('another pepper of sixteen', ['merchant'])];
  const server = await startTestServer(testServerDeps(backOffice.database.db, { routes }));
  try {
    const answer = await server.send('POST', '/api/invitations/accept', { key: null, body: { token } });
    expect(answer.status).toBe(201);
  } finally {
    await server.close();
  }
});
