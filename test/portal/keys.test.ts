import { createKey } from '../../src/access/api-keys.ts';
import type { MemberRole } from '../../src/http/people.ts';
import { usePortalService } from './portal.ts';

const portal = usePortalService();
let merchantId: string;

beforeAll(async () => {
  merchantId = await portal.newMerchant();
});

const confirmed = (role: MemberRole, of = merchantId) => portal.confirmed(of, role);

test('a developer creates, rotates and revokes sandbox keys; other merchants have no access to them', async () => {
  const developer = await portal.signedIn(merchantId, 'developer');
  const body = { name: 'Shop', scopes: ['transactions:read'], ipRanges: ['127.0.0.0/8'], days: 30 };
  const created = await developer.send('POST', '/api/portal/keys', { body });
  expect(created.body.data).toMatchObject({ name: 'Shop', kind: 'restricted', environment: 'sandbox' });
  const { keyId, secret } = created.body.data;
  const use = (key: string, path: string) => fetch(`${portal.apiUrl}${path}`, { headers: { 'x-api-key': key } });
  expect((await use(secret, '/api/checkout/calendar')).status).toBe(200);
  expect((await use(secret, '/api/checkout/channels')).status).toBe(403);
  const rotated = await developer.send('POST', `/api/portal/keys/${keyId}/rotate`, { body: { overlapHours: 0 } });
  expect(rotated.status).toBe(201);
  const listed = await developer.send('GET', '/api/portal/keys');
  expect(listed.text).not.toContain(secret);
  expect(listed.body.data.map((one: { keyId: string }) => one.keyId)).toEqual([rotated.body.data.keyId, keyId]);
  const stranger = await portal.signedIn(await portal.newMerchant(), 'owner');
  for (const verb of ['rotate', 'revoke']) {
    const theirs = await stranger.send('POST', `/api/portal/keys/${keyId}/${verb}`, { body: {} });
    expect(theirs.status).toBe(404);
  }
  expect((await developer.send('POST', `/api/portal/keys/${rotated.body.data.keyId}/revoke`)).status).toBe(200);
  expect((await stranger.send('GET', '/api/portal/keys')).body.data).toEqual([]);
});

test('a live key is refused until the merchant is verified, and to roles without the scopes of the key', async () => {
  const live = { environment: 'live', body: {} } as const;
  const owner = await confirmed('owner');
  const refused = await owner.send('POST', '/api/portal/keys', live);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'KYC_REQUIRED']);
  const admin = await confirmed('admin');
  const secret = await admin.send('POST', '/api/portal/keys', live);
  expect([secret.body.error.code, secret.body.message]).toEqual([
    'INSUFFICIENT_SCOPE',
    expect.stringContaining('withdrawals:write'),
  ]);
  const developer = await confirmed('developer');
  expect((await developer.send('POST', '/api/portal/keys', live)).body.error.code).toBe('INSUFFICIENT_SCOPE');
  expect((await developer.send('GET', '/api/portal/keys', { environment: 'live' })).status).toBe(200);
  const support = await confirmed('support');
  expect((await support.send('GET', '/api/portal/keys')).status).toBe(403);
});

test('a live key is rotated and revoked by roles that may hold it only', async () => {
  const own = await portal.newMerchant();
  const wanted = { merchantId: own, environment: 'live', kind: 'secret' } as const;
  const clock = () => new Date();
  const { key } = await portal.db.transaction((trx) =>
    createKey({ trx, pepper: 'pepper of the tests', clock }, wanted),
  );
  const change = async (role: MemberRole, verb: 'rotate' | 'revoke') => {
    const person = await confirmed(role, own);
    const path = `/api/portal/keys/${key.id}/${verb}`;
    const { status, body } = await person.send('POST', path, { environment: 'live', body: {} });
    return body.error?.code ?? status;
  };
  expect(await change('developer', 'rotate')).toBe('INSUFFICIENT_SCOPE');
  expect(await change('developer', 'revoke')).toBe('INSUFFICIENT_SCOPE');
  expect(await change('admin', 'rotate')).toBe('INSUFFICIENT_SCOPE');
  expect(await change('owner', 'rotate')).toBe('KYC_REQUIRED');
  expect(await change('admin', 'revoke')).toBe(200);
});
