import pg from 'pg';

import { rows } from '../../src/lib/db.ts';
import { buildFixture } from '../support/build.ts';
import { linkAccount } from '../support/settlements.ts';
import { fund } from '../support/withdrawals.ts';
import { addPerson, confirmTwoFactor, openBrowser, usePortalService, type Browser } from './portal.ts';

const service = usePortalService();
let merchantId: string;
let owner: Browser & { email: string };
let developer: Browser;
/** Of the developer. */
let key: { keyId: string; secret: string };

beforeAll(async () => {
  merchantId = await service.newMerchant('Abyssinia Coffee');
  owner = await service.signedIn(merchantId, 'owner');
  await confirmTwoFactor(service.db, owner.email);
  developer = await service.signedIn(merchantId, 'developer');
  key = (await developer.send('POST', '/api/portal/keys', { body: { name: 'Shop server' } })).body.data;
}, 60_000);

const listed = async (browser: Browser, query = '', environment: 'sandbox' | 'live' = 'sandbox') =>
  (await browser.send('GET', `/api/portal/audit?${query}`, { environment })).body.data;
const byKey = async (endpoint: string, body: object, headers: Record<string, string> = {}) => {
  const [method = '', path = ''] = endpoint.split(' ');
  return fetch(service.apiUrl + path, {
    method,
    headers: { 'x-api-key': key.secret, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
};
const count = async (): Promise<number> =>
  (await rows(service.db, 'SELECT 1 FROM merchant_audit WHERE merchant_id = :merchantId', { merchantId })).length;

test('a change by a person is recorded with actor, fields, address and request id, and without the secret', async () => {
  const created = await developer.send('POST', '/api/portal/keys', {
    body: { name: 'Till', scopes: ['channels:read'] },
  });
  const { keyId, secret } = created.body.data;
  const [row] = await listed(owner, `resourceId=${keyId}`);
  expect(row).toMatchObject({
    environment: 'sandbox',
    actor: expect.stringMatching(/^usr_/),
    actorName: 'The developer',
    action: 'key.create',
    before: null,
    after: { name: 'Till', kind: 'restricted', scopes: ['channels:read'] },
    address: expect.stringContaining('127.0.0.1'),
    requestId: created.headers.get('x-request-id'),
  });
  await developer.send('POST', `/api/portal/keys/${keyId}/revoke`);
  await developer.send('POST', `/api/portal/keys/${keyId}/revoke`);
  expect((await listed(owner, `resourceId=${keyId}`)).map(({ action }: { action: string }) => action)).toEqual([
    'key.revoke',
    'key.create',
  ]);
  const [stored] = await rows<{ text: string }>(
    service.db,
    `SELECT string_agg(CAST(a AS text), '') AS text FROM merchant_audit a`,
  );
  expect(stored?.text).not.toContain(secret);
});

test('a change by a key is recorded with what differs, once for a repeated request, and not where it is refused', async () => {
  const path = '/api/checkout/webhooks/subscriptions';
  const wanted = { url: 'https://shop.example.com/hooks', eventTypes: ['*'] };
  const first = await byKey(`POST ${path}`, wanted, { 'idempotency-key': 'once' });
  const { subscriptionId } = ((await first.json()) as { data: { subscriptionId: string } }).data;
  await byKey(`POST ${path}`, wanted, { 'idempotency-key': 'once' });
  await byKey(`PATCH ${path}/${subscriptionId}`, { active: false, description: '' });
  await byKey(`PATCH ${path}/${subscriptionId}`, { active: false });
  await byKey(`PATCH ${path}/${subscriptionId}`, { url: 'nonsense' });
  await byKey(`DELETE ${path}/${subscriptionId}`, {});
  const changes = await listed(owner, `resourceId=${subscriptionId}&actor=${key.keyId}`);
  expect(changes).toMatchObject([
    { action: 'webhook.delete', before: { url: wanted.url, active: false }, after: null },
    { action: 'webhook.change', before: { active: true }, after: { active: false } },
    { action: 'webhook.create', before: null, after: wanted, actorName: 'Shop server' },
  ]);
  expect(changes[1].after).toEqual({ active: false });
});

test('a withdrawal and a settlement are recorded when a person requests and when one cancels them', async () => {
  const scope = { merchantId, environment: 'sandbox' } as const;
  const fixture = buildFixture(service.db, { clock: () => new Date() });
  await fund(fixture, scope, 1_000_00n);
  await linkAccount(fixture, scope);
  const destination = { phone: '0911000001', accountName: 'Abebe Bikila' };
  const wanted = {
    withdrawal: { requestId: 'AUDIT-2', amount: 100, channel: 'TELEBIRR', destination },
    settlement: { requestId: 'AUDIT-3', amount: 150 },
  };
  for (const [kind, body] of Object.entries(wanted)) {
    const path = `/api/checkout/${kind}`;
    const { data } = (await owner.send('POST', path, { body })).body;
    const id: string = data.withdrawalRequestId ?? data.settlementId;
    for (const _ of ['once', 'again']) await owner.send('POST', `${path}/${id}/cancel`);
    expect(await listed(owner, `resourceId=${id}`)).toMatchObject([
      { action: `${kind}.cancel`, actorName: 'The owner', after: { status: 'CANCELLED' } },
      { action: `${kind}.create`, actorName: 'The owner', after: { requestId: body.requestId } },
    ]);
  }
});

test('a payment adds no row', async () => {
  const before = await count();
  const { status } = await byKey('POST /api/checkout/sessions', {
    checkoutOrderNo: 'AUDIT-1',
    amount: 10,
    currency: 'ETB',
  });
  expect([status, await count()]).toEqual([201, before]);
});

test('changes of the team are of both environments, and those of a key of its own', async () => {
  const email = `somebody-${Date.now()}@people.example`;
  await owner.send('POST', '/api/portal/team/invitations', { body: { email, role: 'viewer' } });
  const [inLive] = await listed(owner, 'action=member.invite', 'live');
  expect(inLive).toMatchObject({ environment: null, after: { email, role: 'viewer' } });
  expect(await listed(owner, 'action=key.create', 'live')).toEqual([]);
  expect(await listed(owner, 'action=member.invite')).toHaveLength(1);
});

test('developers and support see only what they have done themselves; viewers see all, with masked phones', async () => {
  const { body } = await developer.send('GET', '/api/portal/me');
  const { userId } = body.data.user;
  const own = await listed(developer, 'limit=100');
  expect(new Set(own.map(({ actor }: { actor: string }) => actor))).toEqual(new Set([userId]));
  expect(await listed(developer, `actor=${key.keyId}`)).toEqual([]);
  const support = await service.signedIn(merchantId, 'support');
  expect(await listed(support)).toEqual([]);
  const viewer = await service.signedIn(merchantId, 'viewer');
  expect((await listed(viewer, 'limit=100')).length).toBe(await count());
  const created = { url: 'https://shop.example.com/two', eventTypes: ['*'], description: 'Call 251911223344' };
  await byKey('POST /api/checkout/webhooks/subscriptions', created);
  for (const path of ['/api/portal/audit?action=webhook.create', '/api/portal/audit/export?action=webhook.create']) {
    expect((await owner.send('GET', path)).text).toContain('251911223344');
    expect((await viewer.send('GET', path)).text).toMatch(/Call \*+3344/);
  }
});

test('another merchant sees none of it', async () => {
  const stranger = await service.signedIn(await service.newMerchant(), 'owner');
  expect(await listed(stranger)).toEqual([]);
});

test('the file has the rows of the list', async () => {
  const query = 'action=webhook.change';
  const file = await owner.send('GET', `/api/portal/audit/export?${query}`);
  expect(file.headers.get('content-disposition')).toMatch(/filename="audit-sandbox-[\d-]+-to-[\d-]+\.csv"/);
  const lines = file.text.trim().split('\r\n');
  expect(lines).toHaveLength(1 + (await listed(owner, query)).length);
  expect(lines[0]).toContain('"Action","Resource ID","Before","After"');
  expect(lines[1]).toContain('"{""active"":true}","{""active"":false}"');
  const own = await developer.send('GET', `/api/portal/audit/export?${query}`);
  expect(own.text.trim().split('\r\n')).toHaveLength(1);
});

test('a person who joins, and who turns two-factor on or changes the password, is recorded', async () => {
  const email = await addPerson(service.db, merchantId, 'admin');
  const admin = openBrowser(service.url);
  await admin.signIn(email);
  const passwords = { currentPassword: 'correct horse battery staple', newPassword: 'another horse battery staple' };
  await admin.send('POST', '/api/portal/security/password', { body: { ...passwords, currentPassword: 'wrong' } });
  await admin.send('POST', '/api/portal/security/password', { body: passwords });
  const changes = await listed(owner, 'action=password.change');
  expect(changes).toMatchObject([{ actorName: 'The admin', environment: null, before: null, after: null }]);
  await confirmTwoFactor(service.db, email);
  await admin.send('POST', '/api/portal/security/recovery-codes');
  await admin.send('POST', '/api/portal/security/two-factor/off');
  expect(await listed(owner, `actor=${changes[0].actor}`)).toMatchObject([
    { action: 'two-factor.turn-off' },
    { action: 'two-factor.renew-codes' },
    { action: 'password.change' },
  ]);
});

test('a recorded change cannot be changed or removed, not even by the owner of the database', async () => {
  const superuser = new pg.Client({ connectionString: service.database.superuserUrl });
  await superuser.connect();
  try {
    for (const change of [
      'UPDATE merchant_audit SET actor = NULL',
      'DELETE FROM merchant_audit',
      'TRUNCATE merchant_audit',
    ])
      await expect(superuser.query(change)).rejects.toThrow('merchant_audit is append-only');
  } finally {
    await superuser.end();
  }
});
