import { createToken } from '../../src/access/users/tokens.ts';
import { findUserByEmail } from '../../src/access/users/users.ts';
import type { MemberRole } from '../../src/http/people.ts';
import { rows } from '../../src/lib/db.ts';
import { signInOperator } from './console.ts';
import { openBrowser, PASSWORD, usePortalService, type PortalService } from './portal.ts';

const portal = usePortalService();
let merchantId: string;

beforeAll(async () => {
  merchantId = await portal.newMerchant('Abyssinia Coffee');
});

const NEW_PASSWORD = 'seven grey donkeys 41';

type Person = Awaited<ReturnType<PortalService['confirmed']>>;
const confirmed = (role: MemberRole, of = merchantId): Promise<Person> => portal.confirmed(of, role);

/** The newest mail to an address. */
async function mailTo(email: string): Promise<string> {
  const mails = (await openBrowser(portal.url).send('GET', '/dev/mail')).text.split('<article>');
  return mails.find((text) => text.includes(`>${email.replaceAll("'", '&#39;')} ·`)) ?? '';
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
const team = async (person: Person) => (await person.send('GET', '/api/portal/team')).body.data;

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
  const fields = { token: tokenOf(link), name: 'Hana Zenebework', password: NEW_PASSWORD };
  for (const password of ['password123', 'Zenebework1']) {
    const refused = await browser.post('/invitation', { ...fields, password });
    expect([refused.status, /name="name".*value="([^"]*)"/s.exec(refused.text)?.[1]]).toEqual([400, 'Hana Zenebework']);
  }
  expect((await browser.post('/invitation', fields)).status).toBe(303);
  expect((await browser.send('GET', '/api/portal/me')).body.data).toMatchObject({ role: 'finance', user: { email } });
  expect((await openBrowser(portal.url).post('/invitation', fields)).status).toBe(404);
  const { data: changes } = (await owner.send('GET', '/api/portal/audit?action=member.join')).body;
  expect(changes).toMatchObject([
    { actorName: 'Hana Zenebework', environment: null, after: { email, role: 'finance' } },
  ]);
  const { members, invitations } = await team(owner);
  expect(invitations).toEqual([]);
  expect(members).toContainEqual(expect.objectContaining({ email, role: 'finance', name: 'Hana Zenebework' }));
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
  const [entry] = (await operator.send('GET', '/api/ops/audit?action=merchant.invite-owner')).body.data;
  expect(entry).toMatchObject({ reason: body.reason, after: { email: body.email } });
});

test('two operators invite an owner of a merchant that has one or is verified, and its owners get a mail', async () => {
  const [first, second] = [await signInOperator(portal, 'admin'), await signInOperator(portal, 'admin')];
  const invite = async (of: string, email: string) => {
    const body = { email, reason: 'Their phone is lost' };
    return first.send('POST', `/api/ops/merchants/${of}/owner-invitations`, { body });
  };
  const confirm = async ({ send }: typeof first, { body: { data } }: Awaited<ReturnType<typeof invite>>) =>
    send('POST', `/api/ops/proposals/${data.proposalId}/confirm`);
  const owned = await portal.newMerchant('Jimma Coffee');
  const owner = await portal.signedIn(owned, 'owner');
  await portal.signedIn(owned, 'admin');
  const proposed = await invite(owned, 'new@jimma.example');
  expect([proposed.status, proposed.body.data.after]).toEqual([202, { email: 'new@jimma.example' }]);
  expect(await mailTo('new@jimma.example')).toBe('');
  expect((await confirm(first, proposed)).body.error.code).toBe('INVALID_STATE');
  expect((await confirm(second, proposed)).status).toBe(200);
  const fields = { token: tokenOf(await linkTo('new@jimma.example')), name: 'Tola Bekele', password: NEW_PASSWORD };
  expect(await mailTo('new@jimma.example')).toContain('The admin invites you to Jimma Coffee on Meskot, as owner.');
  const notices = await rows(portal.db, `SELECT recipient FROM mail WHERE notice ->> 'email' = 'new@jimma.example'`);
  expect(notices).toEqual([{ recipient: owner.email }]);
  expect(await mailTo(owner.email)).toContain('have invited new@jimma.example to Jimma Coffee as an owner');
  expect((await openBrowser(portal.url).post('/invitation', fields)).status).toBe(303);
  const [joined] = await rows(
    portal.db,
    `SELECT invited_by FROM membership WHERE merchant_id = :owned AND invited_by <> ''`,
    { owned },
  );
  expect(joined).toEqual({ invitedBy: first.operatorId });
  const [entry] = (await second.send('GET', `/api/ops/audit?merchantId=${owned}`)).body.data;
  const of = { operatorId: second.operatorId, proposedBy: first.operatorId };
  expect(entry).toMatchObject({ action: 'merchant.invite-owner', ...of, after: { email: 'new@jimma.example' } });

  const verified = await portal.newMerchant();
  await rows(portal.db, `UPDATE merchant SET kyc_status = 'APPROVED' WHERE id = :verified`, { verified });
  expect((await invite(verified, 'first@verified.example')).status).toBe(202);
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
    else
      await rows(portal.db, `UPDATE user_token SET expires_at = now() - interval '1 second' WHERE id = :invitationId`, {
        invitationId,
      });
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
  const idOf = async (person: Person) => (await person.send('GET', '/api/portal/me')).body.data.user.userId;
  const [ownerId, adminId, viewerId] = [await idOf(owner), await idOf(admin), await idOf(viewer)];
  const change = (by: Person, userId: string, role: string) =>
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
  await person.send('PATCH', '/api/portal/profile', { body: { name: 'Hana Zenebework' } });
  const known = await openBrowser(portal.url).post('/forgot', { email: person.email });
  const unknown = await openBrowser(portal.url).post('/forgot', { email: 'nobody@people.example' });
  expect([unknown.status, unknown.text]).toEqual([known.status, known.text]);
  const earlier = await createResetToken(person.email);
  let link = '';
  for (let tries = 0; link === '' && tries < 100; tries += 1) link = await linkTo(person.email);
  expect((await openBrowser(portal.url).send('GET', link)).status).toBe(200);
  const fields = { token: tokenOf(link), password: NEW_PASSWORD };
  for (const password of ['short', 'Zenebework1']) {
    expect((await openBrowser(portal.url).post('/reset', { ...fields, password })).status).toBe(400);
  }
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
  const form = { email: 'abebe@people.example', name: 'Abebe Zenebework', businessName: 'Abebe <Shop>' };
  const browser = openBrowser(portal.url);
  const wrong = await browser.post('/sign-up', { ...form, email: 'no address' });
  expect(wrong.status).toBe(400);
  for (const kept of ['no address', 'Abebe Zenebework', 'Abebe &#60;Shop&#62;']) {
    expect(wrong.text).toContain(`value="${kept}"`);
  }
  expect((await browser.post('/sign-up', form)).status).toBe(200);
  const link = await linkTo(form.email);
  const create = (password: string) => browser.post('/sign-up/confirm', { token: tokenOf(link), password });
  expect((await create('Zenebework1')).status).toBe(400);
  const confirmedAccount = await create(NEW_PASSWORD);
  const [key = ''] = /sk_test_\w+/.exec(confirmedAccount.text) ?? [];
  expect(confirmedAccount.text).toContain('href="/test/get-started"');
  expect(confirmedAccount.text).toContain('Abebe &#60;Shop&#62;');
  const listed = await fetch(`${portal.apiUrl}/api/checkout/channels`, { headers: { 'x-api-key': key } });
  expect(listed.status).toBe(200);
  const me = await browser.send('GET', '/api/portal/me');
  expect(me.body.data).toMatchObject({ role: 'owner', merchant: { name: 'Abebe <Shop>', liveEnabled: false } });
  const { data: changes } = (await browser.send('GET', '/api/portal/audit')).body;
  expect(changes).toMatchObject([{ action: 'key.create', actorName: 'Abebe Zenebework', environment: 'sandbox' }]);
  const known = await openBrowser(portal.url).post('/sign-up', form);
  expect(known.status).toBe(200);
  expect(await linkTo(form.email)).toBe('/sign-in');
});
