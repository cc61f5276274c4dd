import { createKey } from '../../src/access/api-keys.ts';
import { createToken } from '../../src/access/users/tokens.ts';
import { findUserByEmail } from '../../src/access/users/users.ts';
import { rows } from '../../src/lib/db.ts';
import { signInOperator } from './console.ts';
import { confirmTwoFactor, openBrowser, PASSWORD, usePortalService, type PortalService } from './portal.ts';

const portal = usePortalService();
let merchantId: string;

beforeAll(async () => {
  merchantId = await portal.newMerchant('Abyssinia Coffee');
});

const NEW_PASSWORD = 'seven grey donkeys 41';

/** A person who has just entered a code. */
async function confirmed(role: Parameters<PortalService['signedIn']>[1], of = merchantId) {
  const person = await portal.signedIn(of, role);
  await confirmTwoFactor(portal.db, person.email);
  return person;
}

/** The newest mail to an address. */
async function mailTo(email: string): Promise<string> {
  const mails = (await openBrowser(portal.url).send('GET', '/dev/mail')).text.split('<article>');
  return mails.find((text) => text.includes(email.replaceAll("'", '&#39;'))) ?? '';
}

/** The path of the link in the newest mail to an address. */
async function linkTo(email: string): Promise<string> {
  const mail = await mailTo(email);
  return /http:\/\/localhost:\d+(\/[^\s<"]+)/.exec(mail.replaceAll('&#38;', '&'))?.[1] ?? '';
}

/** The token of a reset link that was sent before. */
async function createResetToken(email: string): Promise<string> {
  const user = await findUserByEmail(portal.db, email);
  const of = { purpose: 'reset', userId: user?.id ?? null } as const;
  return (await portal.db.transaction((trx) => createToken(trx, of, new Date()))).token;
}

const tokenOf = (path: string): string => new URL(path, portal.url).searchParams.get('token') ?? '';
const team = async (person: Awaited<ReturnType<typeof confirmed>>) =>
  (await person.send('GET', '/api/portal/team')).body.data;

test('an invited person creates an account with the link of the mail, once, and is a member with the role', async () => {
  const owner = await confirmed('owner');
  const email = 'hana@people.example';
  const invited = await owner.send('POST', '/api/portal/team/invitations', { body: { email, role: 'finance' } });
  expect([invited.status, invited.body.data.role]).toEqual([201, 'finance']);
  expect((await team(owner)).invitations).toMatchObject([{ email, role: 'finance' }]);
  const link = await linkTo(email);
  expect(JSON.stringify(invited.body)).not.toContain(tokenOf(link));
  const browser = openBrowser(portal.url);
  expect((await browser.send('GET', link)).text).toContain('Abyssinia Coffee');
  const fields = { token: tokenOf(link), name: 'Hana Girma', password: NEW_PASSWORD };
  const refused = await browser.post('/invitation', { ...fields, password: 'password123' });
  expect([refused.status, /name="name".*value="([^"]*)"/s.exec(refused.text)?.[1]]).toEqual([400, 'Hana Girma']);
  expect((await browser.post('/invitation', fields)).status).toBe(303);
  expect((await browser.send('GET', '/api/portal/me')).body.data).toMatchObject({ role: 'finance', user: { email } });
  expect((await openBrowser(portal.url).post('/invitation', fields)).status).toBe(404);
  const { data: changes } = (await owner.send('GET', '/api/portal/audit?action=member.join')).body;
  expect(changes).toMatchObject([{ actorName: 'Hana Girma', environment: null, after: { email, role: 'finance' } }]);
  const { members, invitations } = await team(owner);
  expect(invitations).toEqual([]);
  expect(members).toContainEqual(expect.objectContaining({ email, role: 'finance', name: 'Hana Girma' }));
  const again = await owner.send('POST', '/api/portal/team/invitations', { body: { email, role: 'viewer' } });
  expect(again.body.error.code).toBe('DUPLICATE_REFERENCE');
});

test('a merchant that an operator created gets its first owner, who joins with the link of the mail', async () => {
  const operator = await signInOperator(portal, 'admin');
  const created = await operator.send('POST', '/api/ops/merchants', { body: { name: 'Harar Honey' } });
  const path = `/api/ops/merchants/${created.body.data.merchantId}/owner-invitations`;
  const body = { email: 'owner@harar.example', reason: 'Named in the contract' };
  const support = await signInOperator(portal, 'support');
  expect((await support.send('POST', path, { body })).status).toBe(403);
  const invited = await operator.send('POST', path, { body });
  expect([invited.status, invited.body.data]).toMatchObject([
    201,
    { email: body.email, role: 'owner', createdBy: operator.operatorId },
  ]);
  const browser = openBrowser(portal.url);
  const fields = { token: tokenOf(await linkTo(body.email)), name: 'Amina Yusuf', password: NEW_PASSWORD };
  expect((await browser.post('/invitation', fields)).status).toBe(303);
  expect((await browser.send('GET', '/api/portal/me')).body.data).toMatchObject({
    role: 'owner',
    merchant: { name: 'Harar Honey' },
  });
  expect((await operator.send('POST', path, { body })).body.error.code).toBe('DUPLICATE_REFERENCE');
  await rows(portal.db, `UPDATE merchant SET kyc_status = 'APPROVED' WHERE name = 'Harar Honey'`);
  const another = { body: { ...body, email: 'another@harar.example' } };
  expect((await operator.send('POST', path, another)).body.error.code).toBe('INVALID_STATE');
  const [entry] = (await operator.send('GET', '/api/ops/audit?action=merchant.invite-owner')).body.data;
  expect(entry).toMatchObject({ reason: body.reason, after: { email: body.email } });
});

test('a person with an account accepts an invitation only when signed in with that account', async () => {
  const owner = await confirmed('owner');
  const other = await portal.signedIn(await portal.newMerchant('Second'), 'viewer');
  await owner.send('POST', '/api/portal/team/invitations', { body: { email: other.email, role: 'viewer' } });
  const link = await linkTo(other.email);
  const fields = { token: tokenOf(link), name: 'Thief', password: NEW_PASSWORD };
  const thief = openBrowser(portal.url);
  expect((await thief.post('/invitation', fields)).text).toContain('/sign-in?next=%2Finvitation');
  expect((await thief.signIn(other.email, NEW_PASSWORD)).status).toBe(401);
  expect((await other.post('/invitation', fields)).status).toBe(303);
  expect((await other.send('GET', '/api/portal/me')).body.data.merchant.merchantId).toBe(merchantId);
});

test('an expired or revoked invitation cannot be accepted', async () => {
  const owner = await confirmed('owner');
  for (const end of ['revoke', 'expire'] as const) {
    const email = `${end}@people.example`;
    const { body } = await owner.send('POST', '/api/portal/team/invitations', { body: { email, role: 'viewer' } });
    const link = await linkTo(email);
    const { invitationId } = body.data;
    if (end === 'revoke') await owner.send('POST', `/api/portal/team/invitations/${invitationId}/revoke`);
    else await rows(portal.db, `UPDATE user_token SET expires_at = now() WHERE id = :invitationId`, { invitationId });
    expect((await openBrowser(portal.url).send('GET', link)).status).toBe(404);
    const fields = { token: tokenOf(link), name: 'Late', password: NEW_PASSWORD };
    expect((await openBrowser(portal.url).post('/invitation', fields)).status).toBe(404);
  }
});

test('an admin has no power over owners, the last owner stays, and a removed member loses access at once', async () => {
  const own = await portal.newMerchant();
  const [owner, admin, viewer] = [
    await confirmed('owner', own),
    await confirmed('admin', own),
    await confirmed('viewer', own),
  ];
  const idOf = async (person: typeof owner) => (await person.send('GET', '/api/portal/me')).body.data.user.userId;
  const [ownerId, adminId, viewerId] = [await idOf(owner), await idOf(admin), await idOf(viewer)];
  const change = (by: typeof owner, userId: string, role: string) =>
    by.send('PATCH', `/api/portal/team/${userId}`, { body: { role } });
  const invite = { body: { email: 'x@people.example', role: 'owner' } };
  expect((await change(admin, ownerId, 'viewer')).body.error.code).toBe('INSUFFICIENT_SCOPE');
  expect((await change(admin, adminId, 'owner')).body.error.code).toBe('INSUFFICIENT_SCOPE');
  expect((await admin.send('POST', '/api/portal/team/invitations', invite)).body.error.code).toBe('INSUFFICIENT_SCOPE');
  expect((await admin.send('DELETE', `/api/portal/team/${ownerId}`)).body.error.code).toBe('INSUFFICIENT_SCOPE');
  expect((await change(owner, ownerId, 'viewer')).body.error.code).toBe('INVALID_STATE');
  expect((await owner.send('DELETE', `/api/portal/team/${ownerId}`)).body.error.code).toBe('INVALID_STATE');
  expect((await change(viewer, viewerId, 'owner')).body.error.code).toBe('INSUFFICIENT_SCOPE');
  expect((await change(admin, viewerId, 'support')).body.data.role).toBe('support');
  expect((await viewer.send('GET', '/api/checkout/balance')).status).toBe(403);
  expect((await admin.send('DELETE', `/api/portal/team/${viewerId}`)).status).toBe(200);
  expect((await viewer.send('GET', '/api/checkout/webhooks/events')).status).toBe(403);
  const stranger = await confirmed('owner');
  expect((await change(stranger, adminId, 'viewer')).status).toBe(404);
});

test('changing the team needs a code of the last 5 minutes', async () => {
  const owner = await portal.signedIn(merchantId, 'owner');
  const body = { email: 'y@people.example', role: 'viewer' };
  const refused = await owner.send('POST', '/api/portal/team/invitations', { body });
  expect(refused.body.error.code).toBe('TWO_FACTOR_REQUIRED');
});

test('the invitations of a removed member end', async () => {
  const owner = await confirmed('owner');
  const admin = await confirmed('admin');
  const { userId } = (await admin.send('GET', '/api/portal/me')).body.data.user;
  const body = { email: 'friend@people.example', role: 'developer' };
  await admin.send('POST', '/api/portal/team/invitations', { body });
  const link = await linkTo(body.email);
  expect((await openBrowser(portal.url).send('GET', link)).status).toBe(200);
  expect((await owner.send('DELETE', `/api/portal/team/${userId}`)).status).toBe(200);
  expect((await openBrowser(portal.url).send('GET', link)).status).toBe(404);
});

test('a forgotten password is replaced by a link of a mail, once, which ends all sessions and other links; unknown addresses get the same page', async () => {
  const person = await portal.signedIn(merchantId, 'viewer');
  const known = await openBrowser(portal.url).post('/forgot', { email: person.email });
  const unknown = await openBrowser(portal.url).post('/forgot', { email: 'nobody@people.example' });
  expect([unknown.status, unknown.text]).toEqual([known.status, known.text]);
  const earlier = await createResetToken(person.email);
  let link = '';
  for (let tries = 0; link === '' && tries < 100; tries += 1) link = await linkTo(person.email);
  expect((await openBrowser(portal.url).send('GET', link)).status).toBe(200);
  const fields = { token: tokenOf(link), password: NEW_PASSWORD };
  expect((await openBrowser(portal.url).post('/reset', { ...fields, password: 'short' })).status).toBe(400);
  expect((await openBrowser(portal.url).post('/reset', fields)).status).toBe(200);
  for (const token of [fields.token, earlier]) {
    expect((await openBrowser(portal.url).post('/reset', { ...fields, token })).status).toBe(404);
  }
  expect(await mailTo(person.email)).toContain('Your password was changed');
  expect((await person.send('GET', '/api/portal/me')).status).toBe(401);
  expect((await openBrowser(portal.url).signIn(person.email, PASSWORD)).status).toBe(401);
  expect((await openBrowser(portal.url).signIn(person.email, NEW_PASSWORD)).status).toBe(303);
});

test('a business signs up with a confirmed address and gets its first sandbox key, shown once', async () => {
  const form = { email: 'abebe@people.example', name: 'Abebe Kebede', businessName: 'Abebe <Shop>' };
  const browser = openBrowser(portal.url);
  const wrong = await browser.post('/sign-up', { ...form, email: 'no address' });
  expect(wrong.status).toBe(400);
  for (const kept of ['no address', 'Abebe Kebede', 'Abebe &#60;Shop&#62;']) {
    expect(wrong.text).toContain(`value="${kept}"`);
  }
  expect((await browser.post('/sign-up', form)).status).toBe(200);
  const link = await linkTo(form.email);
  const confirmedAccount = await browser.post('/sign-up/confirm', { token: tokenOf(link), password: NEW_PASSWORD });
  const [key = ''] = /sk_test_\w+/.exec(confirmedAccount.text) ?? [];
  expect(confirmedAccount.text).toContain('href="/test/get-started"');
  expect(confirmedAccount.text).toContain('Abebe &#60;Shop&#62;');
  const listed = await fetch(`${portal.apiUrl}/api/checkout/channels`, { headers: { 'x-api-key': key } });
  expect(listed.status).toBe(200);
  const me = await browser.send('GET', '/api/portal/me');
  expect(me.body.data).toMatchObject({ role: 'owner', merchant: { name: 'Abebe <Shop>', liveEnabled: false } });
  const { data: changes } = (await browser.send('GET', '/api/portal/audit')).body;
  expect(changes).toMatchObject([{ action: 'key.create', actorName: 'Abebe Kebede', environment: 'sandbox' }]);
  const known = await openBrowser(portal.url).post('/sign-up', form);
  expect(known.status).toBe(200);
  expect(await linkTo(form.email)).toBe('/sign-in');
});

describe('keys', () => {
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
    const change = async (role: Parameters<typeof confirmed>[0], verb: 'rotate' | 'revoke') => {
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
});
