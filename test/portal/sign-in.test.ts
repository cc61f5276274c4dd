import { createToken } from '../../src/access/users/tokens.ts';
import { setMembership } from '../../src/access/users/users.ts';
import { sha256 } from '../../src/lib/crypto.ts';
import { rows } from '../../src/lib/db.ts';
import { addPerson, openBrowser, PASSWORD, startPortalService, usePortalService } from './portal.ts';

const portal = usePortalService();
let merchantId: string;
let email: string;

beforeAll(async () => {
  merchantId = await portal.newMerchant('Abyssinia');
  email = await addPerson(portal.db, merchantId, 'owner');
});

const COOKIE = 'meskot_portal';

test('a person signs in with e-mail address and password, in any case of letters, and is led to the requested page', async () => {
  const browser = openBrowser(portal.url);
  const signedIn = await browser.signIn(email.toUpperCase(), PASSWORD, '/test/transactions?status=FAILED');
  expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/test/transactions?status=FAILED']);
  const [cookie = ''] = signedIn.headers.getSetCookie();
  expect(cookie).toMatch(/^meskot_portal=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  const me = await browser.send('GET', '/api/portal/me');
  expect(me.body.data).toMatchObject({
    user: { email, language: 'en', calendar: 'gregorian' },
    merchant: { merchantId, name: 'Abyssinia', kycStatus: 'NOT_STARTED', liveEnabled: false },
    memberships: [{ merchantId, role: 'owner' }],
    role: 'owner',
    denied: [],
    twoFactor: { enabled: false, requiredForLive: true, stepUpUntil: null },
  });
});

test('the pages name a font for Ethiopic letters, which is served without a session', async () => {
  const style = await (await fetch(`${portal.url}/sign-in.css`)).text();
  const [, path = ''] = /url\("([^"]+)"\)/.exec(style) ?? [];
  const font = await fetch(`${portal.url}${path}`);
  expect([font.status, font.headers.get('content-type')]).toEqual([200, 'font/woff2']);
  expect(font.headers.get('cache-control')).toContain('immutable');
  expect(Buffer.from(await font.arrayBuffer()).toString('latin1', 0, 4)).toBe('wOF2');
});

test('over https the cookie has the prefix __Host- and Secure', async () => {
  const secure = await startPortalService({ PORTAL_URL: 'https://portal.example.et' });
  const address = await addPerson(secure.db, await secure.newMerchant(), 'viewer');
  const signedIn = await openBrowser(secure.url).signIn(address);
  expect(signedIn.headers.getSetCookie()[0]).toMatch(
    /^__Host-meskot_portal=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  await secure.close();
});

test('the table has a hash of the token, and not the token', async () => {
  const browser = openBrowser(portal.url);
  await browser.signIn(email);
  const token = browser.cookies.get(COOKIE) ?? '';
  const found = await rows(portal.db, 'SELECT 1 FROM user_session WHERE token_hash = :hash', { hash: sha256(token) });
  expect(found).toHaveLength(1);
  const all = await rows<{ row: string }>(portal.db, 'SELECT s::text AS row FROM user_session s');
  expect(all.filter(({ row }) => row.includes(token))).toEqual([]);
});

test('a wrong password and an unknown address get the same page', async () => {
  const wrong = await openBrowser(portal.url).signIn(email, 'wrong password');
  const unknown = await openBrowser(portal.url).signIn('nobody@people.example', 'wrong password');
  expect([wrong.status, unknown.status]).toEqual([401, 401]);
  expect(unknown.text.replace('nobody@people.example', email)).toBe(wrong.text);
  expect(wrong.headers.getSetCookie()).toEqual([]);
});

test('a sign-in begins a session with a new token and ends the previous one of the browser', async () => {
  const browser = openBrowser(portal.url);
  browser.cookies.set(COOKIE, 'planted');
  await browser.signIn(email);
  const first = browser.cookies.get(COOKIE) ?? '';
  expect(first).not.toBe('planted');
  await browser.signIn(email);
  expect(browser.cookies.get(COOKIE)).not.toBe(first);
  browser.cookies.set(COOKIE, first);
  expect((await browser.send('GET', '/api/portal/me')).status).toBe(401);
});

test.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example',
  'javascript:alert(1)',
  '/.//evil.example',
  '/%0d%0aLocation:%20https://evil.example',
])('the sign-in leads to no other site: next=%s', async (next) => {
  const { headers } = await openBrowser(portal.url).signIn(email, PASSWORD, next);
  const target = new URL(headers.get('location') ?? '', portal.url);
  expect([target.origin, headers.get('location')?.startsWith('//')]).toEqual([portal.url, false]);
});

test('a form of another site is rejected, with a page that says so', async () => {
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': '', origin: 'https://evil.example' },
  ] as Record<string, string>[]) {
    const refused = await openBrowser(portal.url).post('/sign-in', { email, password: PASSWORD }, headers);
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
    expect(refused.text).toContain('another site');
  }
});

test('signing out ends the session at once', async () => {
  const browser = openBrowser(portal.url);
  await browser.signIn(email);
  expect((await browser.send('POST', '/api/portal/sign-out')).status).toBe(200);
  expect((await browser.send('GET', '/api/portal/me')).body.error.code).toBe('AUTHENTICATION_REQUIRED');
});

test('a page that refreshes itself while nobody uses it does not prolong the session', async () => {
  const browser = openBrowser(portal.url);
  await browser.signIn(email);
  const hash = sha256(browser.cookies.get(COOKIE) ?? '');
  const sql = `UPDATE user_session SET last_used_at = now() - interval '31 minutes' WHERE token_hash = :hash RETURNING *`;
  const [before] = await rows(portal.db, sql, { hash });
  const headers = { 'x-meskot-unattended': 'true' };
  expect((await browser.send('GET', '/api/portal/me', { headers })).status).toBe(200);
  const stored = () =>
    rows<{ idleUntil: Date }>(portal.db, 'SELECT * FROM user_session WHERE token_hash = :hash', { hash });
  expect(await stored()).toEqual([before]);
  await browser.send('GET', '/api/portal/me');
  expect(await stored()).not.toEqual([before]);
});

test('an idle session ends after 12 hours, reads no live data after 30 minutes, and is used for 7 days at most', async () => {
  const browser = openBrowser(portal.url);
  await browser.signIn(email);
  const me = () => browser.send('GET', '/api/portal/me').then(({ status }) => status);
  const of = `WHERE token_hash = :hash`;
  const change = (set: string) =>
    rows(portal.db, `UPDATE user_session SET ${set} ${of}`, { hash: sha256(browser.cookies.get(COOKIE) ?? '') });
  const [row] = await rows<Record<'idle' | 'live' | 'life', number>>(
    portal.db,
    `SELECT extract(epoch FROM idle_until - created_at)::int AS idle, extract(epoch FROM live_until - created_at)::int AS live,
            extract(epoch FROM expires_at - created_at)::int AS life FROM user_session ${of}`,
    { hash: sha256(browser.cookies.get(COOKIE) ?? '') },
  );
  expect(row).toEqual({ idle: 12 * 3_600, live: 1_800, life: 7 * 86_400 });
  await change(`live_until = now() - interval '1 s', last_used_at = now() - interval '31 minutes'`);
  expect(await me()).toBe(200);
  const [after] = await rows<{ ended: boolean }>(
    portal.db,
    `SELECT live_until < now() AS ended FROM user_session ${of}`,
    { hash: sha256(browser.cookies.get(COOKIE) ?? '') },
  );
  expect(after).toEqual({ ended: true });
  await change(`idle_until = now() - interval '1 s'`);
  expect(await me()).toBe(401);
  await change(`idle_until = now() + interval '1 h', expires_at = now() - interval '1 s'`);
  expect(await me()).toBe(401);
});

describe('pages', () => {
  test('a page without a session leads to the sign-in and back; a file that a page loads does not', async () => {
    const browser = openBrowser(portal.url);
    const page = await browser.send('GET', '/test/balance?from=2026-01-01', { headers: { accept: 'text/html' } });
    expect(page.status).toBe(303);
    expect(page.headers.get('location')).toBe('/sign-in?next=%2Ftest%2Fbalance%3Ffrom%3D2026-01-01');
    const file = await browser.send('GET', '/assets/main.js', { headers: { accept: '*/*' } });
    expect(file.status).toBe(404);
  });

  test('an unknown path gets 404, as a page or as an error of the API, and a wrong method the right ones', async () => {
    const browser = openBrowser(portal.url);
    await browser.signIn(email);
    const page = await browser.send('GET', '/nothing-here');
    expect([page.status, page.text]).toEqual([404, expect.stringContaining('There is no such page')]);
    const unknown = await browser.send('GET', '/api/nothing-here');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'NOT_FOUND']);
    const wrong = await browser.send('GET', '/api/portal/sign-out');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('every page has the policy that forbids framing, foreign resources and inline code', async () => {
    const browser = openBrowser(portal.url);
    await browser.signIn(email);
    for (const path of ['/sign-in', '/']) {
      const { headers } = await browser.send('GET', path, { headers: { accept: 'text/html' } });
      const policy = headers.get('content-security-policy') ?? '';
      for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'self'"]) {
        expect(policy).toContain(part);
      }
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-frame-options')).toBe('DENY');
    }
  });

  test('what was typed is shown as text', async () => {
    const refused = await openBrowser(portal.url).signIn('"><script>alert(1)</script>', 'no');
    expect(refused.text).not.toContain('<script>');
  });

  test('after a rejected form the link to the other language leads to the same page', async () => {
    const linkOf = (page: string): string =>
      (/<a href="([?][^"]+)" lang="am"/.exec(page)?.[1] ?? '').replaceAll(/&(?:amp|#38);/g, '&');
    const browser = openBrowser(portal.url);
    const signIn = await browser.signIn(email, 'wrong', '/test/keys');
    expect((await browser.send('GET', `/sign-in${linkOf(signIn.text)}`)).text).toContain('value="/test/keys"');
    const [{ id: userId } = { id: '' }] = await rows<{ id: string }>(
      portal.db,
      'SELECT id FROM user_account WHERE email = :email',
      { email },
    );
    const { token } = await portal.db.transaction((trx) => createToken(trx, { purpose: 'reset', userId }, new Date()));
    await browser.send('GET', '/sign-in?lang=en');
    const reset = await browser.post('/reset', { token, password: 'short' });
    expect([reset.status, (await browser.send('GET', `/reset${linkOf(reset.text)}`)).text]).toEqual([
      400,
      expect.stringContaining(`value="${token}"`),
    ]);
  });

  test('the page is in Amharic for browsers that prefer it, and the choice is remembered', async () => {
    const browser = openBrowser(portal.url);
    const accept = { 'accept-language': 'am' };
    expect((await browser.send('GET', '/sign-in', { headers: accept })).text).toContain('<html lang="am">');
    await browser.send('GET', '/sign-in?lang=en', { headers: accept });
    expect((await browser.send('GET', '/sign-in', { headers: accept })).text).toContain('<html lang="en">');
  });
});

test('a person of several merchants works in one at a time and switches to another, but to no foreign or former one; the next sign-in continues there', async () => {
  const other = await portal.newMerchant('Second shop');
  const person = await portal.signedIn(merchantId, 'owner');
  const { userId } = (await person.send('GET', '/api/portal/me')).body.data.user;
  await portal.db.transaction((trx) => setMembership(trx, { userId, merchantId: other, role: 'viewer' }));
  const switched = await person.send('POST', '/api/portal/switch', { body: { merchantId: other } });
  expect(switched.body.data).toMatchObject({
    merchant: { merchantId: other, name: 'Second shop' },
    memberships: [{ merchantId }, { merchantId: other, role: 'viewer' }],
    role: 'viewer',
    denied: expect.arrayContaining([{ permission: 'owners:write', roles: ['owner'] }]),
  });
  expect((await person.send('GET', '/api/checkout/balance')).status).toBe(200);
  const ofFirst = await person.send('GET', '/api/checkout/balance', { headers: { 'x-meskot-merchant': merchantId } });
  expect(ofFirst.body.error.details).toMatchObject([{ field: 'X-Meskot-Merchant' }]);
  const ofOther = await person.send('GET', '/api/checkout/balance', { headers: { 'x-meskot-merchant': other } });
  expect(ofOther.status).toBe(200);
  expect((await person.send('PATCH', '/api/checkout/channels/TELEBIRR', { body: { enabled: false } })).status).toBe(
    403,
  );
  const foreign = { body: { merchantId: await portal.newMerchant() } };
  expect((await person.send('POST', '/api/portal/switch', foreign)).status).toBe(404);
  const again = openBrowser(portal.url);
  await again.signIn(person.email);
  expect((await again.send('GET', '/api/portal/me')).body.data.merchant.merchantId).toBe(other);
  await rows(
    portal.db,
    'UPDATE membership SET removed_at = now() WHERE user_id = :userId AND merchant_id = :merchantId',
    {
      userId,
      merchantId,
    },
  );
  expect((await again.send('POST', '/api/portal/switch', { body: { merchantId } })).status).toBe(404);
});
