import { changeOperator } from '../../src/access/operators.ts';
import { sha256 } from '../../src/lib/crypto.ts';
import { rows } from '../../src/lib/db.ts';
import { until } from '../support/until.ts';
import { addOperator, codeOf, enrol, secretOf, signInOperator, tokenOf } from './console.ts';
import { addPerson, openBrowser, PASSWORD, startPortalService, usePortalService } from './portal.ts';

const service = usePortalService();

const ME = '/api/ops/me';
const COOKIE = 'meskot_console';

test('an operator without an authenticator app is led to set one up, and no call works before', async () => {
  const { email, operatorId } = await addOperator(service.db, 'finance');
  const browser = openBrowser(service.consoleUrl);
  const page = await browser.signIn(email);
  expect([page.status, page.headers.getSetCookie()]).toEqual([200, []]);
  expect(page.text).toContain('data:image/svg+xml');
  expect((await browser.send('GET', ME)).status).toBe(401);
  const token = tokenOf(page);
  const wrong = await browser.post('/two-factor/set-up', { token, code: '000000' });
  expect([wrong.status, wrong.text.includes(secretOf(page)), wrong.headers.getSetCookie()]).toEqual([401, false, []]);
  const { done } = await enrol(browser, page);
  expect(done.status).toBe(201);
  expect(done.text.match(/\b[0-9a-f]{5}(?:-[0-9a-f]{5}){3}\b/g)).toHaveLength(10);
  expect(done.headers.getSetCookie()[0]).toMatch(/^meskot_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  const me = await browser.send('GET', ME);
  expect(me.body.data).toMatchObject({
    operatorId,
    role: 'finance',
    user: { email, language: 'en', calendar: 'gregorian' },
    permissions: expect.arrayContaining(['withdrawal.approve', 'operator-key.create']),
    denied: expect.arrayContaining([{ permission: 'operator.create', roles: ['admin'] }]),
    session: { stepUpUntil: expect.any(String) },
  });
  expect(me.body.data.permissions).not.toContain('operator.create');
  // The form cannot be sent again, to get other recovery codes.
  expect((await enrol(browser, page)).done.headers.get('location')).toMatch(/^\/sign-in/);
});

test('a sign-in needs a code after the password, and leads to the requested page', async () => {
  const { email, secret } = await signInOperator(service, 'support');
  const browser = openBrowser(service.consoleUrl);
  const page = await browser.signIn(email, PASSWORD, '/queue');
  expect([page.status, page.text.includes(secret), page.headers.getSetCookie()]).toEqual([200, false, []]);
  const enter = (code: string) => browser.post('/two-factor', { token: tokenOf(page), code, next: '/queue' });
  expect((await enter('000000')).status).toBe(401);
  const done = await enter(codeOf(secret, 1));
  expect([done.status, done.headers.get('location')]).toEqual([303, '/queue']);
  expect((await browser.send('GET', ME)).status).toBe(200);
});

test('a wrong password, an unknown address and a person who is no active operator get the same page', async () => {
  const { email } = await addOperator(service.db, 'viewer');
  const merchants = await addPerson(service.db, await service.newMerchant(), 'owner');
  const former = await addOperator(service.db, 'viewer');
  await rows(service.db, 'UPDATE operator SET active = false WHERE id = :operatorId', former);
  const tries = [
    [email, 'wrong password'],
    ['nobody@meskot.example', PASSWORD],
    [merchants, PASSWORD],
    [former.email, PASSWORD],
  ] as const;
  const pages = await Promise.all(
    tries.map(async ([who, password]) => {
      const { status, text } = await openBrowser(service.consoleUrl).signIn(who, password);
      return { status, text: text.replace(who, '') };
    }),
  );
  expect(pages).toEqual(tries.map(() => ({ status: 401, text: pages[0]?.text })));
});

test('wrong sign-ins are limited by account over all addresses, and wrong codes by person', async () => {
  const limited = await startPortalService({ RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '3', TRUSTED_PROXY_COUNT: '1' });
  const { email } = await addOperator(limited.db, 'admin');
  const tryFrom = (ip: string, password: string) =>
    openBrowser(limited.consoleUrl).post('/sign-in', { email, password }, { 'x-forwarded-for': ip });
  for (const ip of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) expect((await tryFrom(ip, 'no')).status).toBe(401);
  expect((await tryFrom('192.0.2.4', PASSWORD)).status).toBe(429);
  await limited.close();

  const operator = await signInOperator(service, 'admin');
  const browser = openBrowser(service.consoleUrl);
  const token = tokenOf(await browser.signIn(operator.email));
  for (let count = 0; count < 5; count += 1) {
    expect((await browser.post('/two-factor', { token, code: '000000' })).status).toBe(401);
  }
  expect((await browser.post('/two-factor', { token, code: codeOf(operator.secret, 1) })).status).toBe(429);
});

test('a sign-in begins a session with a new token and ends the previous one of the browser', async () => {
  const { email } = await addOperator(service.db, 'viewer');
  const browser = openBrowser(service.consoleUrl);
  browser.cookies.set(COOKIE, 'planted');
  const { secret } = await enrol(browser, await browser.signIn(email));
  const first = browser.cookies.get(COOKIE) ?? '';
  expect(first).not.toBe('planted');
  const token = tokenOf(await browser.signIn(email));
  await browser.post('/two-factor', { token, code: codeOf(secret, 1) });
  expect(browser.cookies.get(COOKIE)).not.toBe(first);
  browser.cookies.set(COOKIE, first);
  expect((await browser.send('GET', ME)).status).toBe(401);
});

test('over https the cookie has the prefix __Host- and Secure', async () => {
  const secure = await startPortalService({ CONSOLE_URL: 'https://console.meskot.example' });
  const { email } = await addOperator(secure.db, 'viewer');
  const browser = openBrowser(secure.consoleUrl);
  const { done } = await enrol(browser, await browser.signIn(email));
  expect(done.headers.getSetCookie()[0]).toMatch(
    /^__Host-meskot_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  await secure.close();
});

test('the token of one listener, under the cookie of the other, is valid at neither', async () => {
  const operator = await signInOperator(service, 'admin');
  const portal = await service.signedIn(await service.newMerchant(), 'owner');
  const [console, merchants] = [operator.cookies.get(COOKIE) ?? '', portal.cookies.get('meskot_portal') ?? ''];
  for (const name of [COOKIE, 'meskot_portal']) {
    const atPortal = openBrowser(service.url);
    atPortal.cookies.set(name, console);
    expect((await atPortal.send('GET', '/api/portal/me')).status).toBe(401);
    const atConsole = openBrowser(service.consoleUrl);
    atConsole.cookies.set(name, merchants);
    expect((await atConsole.send('GET', ME)).status).toBe(401);
  }
});

test('the token between the two steps of a sign-in is valid at its own listener only', async () => {
  const { email, secret } = await signInOperator(service, 'admin');
  const token = tokenOf(await openBrowser(service.url).signIn(email));
  expect(token).not.toBe('');
  const refused = await openBrowser(service.consoleUrl).post('/two-factor', { token, code: codeOf(secret, 1) });
  expect([refused.status, refused.headers.getSetCookie()]).toEqual([303, []]);
});

test('an idle session ends after 30 minutes, and any after 12 hours', async () => {
  const operator = await signInOperator(service, 'viewer');
  const hash = sha256(operator.cookies.get(COOKIE) ?? '');
  const [row] = await rows<Record<'idle' | 'life', number>>(
    service.db,
    `SELECT extract(epoch FROM idle_until - created_at)::int AS idle, extract(epoch FROM expires_at - created_at)::int AS life
     FROM user_session WHERE token_hash = :hash`,
    { hash },
  );
  expect(row).toEqual({ idle: 1_800, life: 12 * 3_600 });
  const change = (set: string) => rows(service.db, `UPDATE user_session SET ${set} WHERE token_hash = :hash`, { hash });
  await change(`last_used_at = now() - interval '2 minutes', idle_until = now() + interval '1 minute'`);
  expect((await operator.send('GET', ME)).status).toBe(200);
  const idle = (await operator.send('GET', ME)).body.data.session.idleUntil;
  expect(new Date(idle).getTime()).toBeGreaterThan(Date.now() + 25 * 60_000);
  await change(`idle_until = now() - interval '1 s'`);
  expect((await operator.send('GET', ME)).status).toBe(401);
  await change(`idle_until = now() + interval '1 h', expires_at = now() - interval '1 s'`);
  expect((await operator.send('GET', ME)).status).toBe(401);
});

test('a deactivated operator has no access from the next request on, and none by the old session after a reactivation', async () => {
  const operator = await signInOperator(service, 'support');
  await signInOperator(service, 'admin');
  const set = (active: boolean) =>
    service.db.transaction((trx) => changeOperator(trx, operator.operatorId, { active }));
  await set(false);
  expect((await operator.send('GET', ME)).status).toBe(401);
  await set(true);
  expect((await operator.send('GET', ME)).status).toBe(401);
});

test('a changed role counts from the next request on, and a person without two factors has no session', async () => {
  const operator = await signInOperator(service, 'finance');
  await rows(service.db, `UPDATE operator SET role = 'viewer' WHERE id = :operatorId`, operator);
  const approve = await operator.send('POST', '/api/ops/withdrawals/wdr_none/approve', { body: {} });
  expect(approve.body.error.code).toBe('INSUFFICIENT_SCOPE');
  expect((await operator.send('POST', '/api/portal/security/two-factor/off')).status).toBe(200);
  expect((await operator.send('GET', ME)).status).toBe(401);
});

test('an operator sees the own sessions, steps up, changes the language and signs out everywhere', async () => {
  const operator = await signInOperator(service, 'viewer');
  const sessions = await operator.send('GET', '/api/portal/sessions');
  expect(sessions.body.data).toMatchObject([{ current: true, audience: 'console' }]);
  await operator.send('PATCH', '/api/portal/profile', { body: { language: 'am', calendar: 'ethiopic' } });
  expect((await operator.send('GET', ME)).body.data.user).toMatchObject({ language: 'am', calendar: 'ethiopic' });
  const { email } = operator;
  await rows(
    service.db,
    `UPDATE user_session s SET step_up_at = NULL FROM user_account u WHERE u.id = s.user_id AND u.email = :email`,
    { email },
  );
  const create = () => operator.send('POST', '/api/ops/keys', { body: { name: 'Laptop' } });
  expect((await create()).body.error.code).toBe('STEP_UP_REQUIRED');
  const code = codeOf(operator.secret, 1);
  expect((await operator.send('POST', '/api/portal/security/step-up', { body: { code } })).status).toBe(200);
  expect((await create()).status).toBe(201);
  expect((await operator.send('POST', '/api/portal/sessions/end-all')).status).toBe(200);
  expect((await operator.send('GET', ME)).status).toBe(401);
});

describe('invitations', () => {
  const invite = async (email: string) => {
    const admin = await signInOperator(service, 'admin');
    const created = await admin.send('POST', '/api/ops/operators', {
      body: { name: 'Zenebework', email, role: 'finance' },
    });
    expect(created.status).toBe(201);
    return { admin, operatorId: created.body.data.operatorId };
  };
  const linkTo = async (email: string): Promise<string> => {
    const mails = await openBrowser(service.consoleUrl).send('GET', '/dev/mail');
    const of = mails.text.split('<article>').find((mail) => mail.includes(email)) ?? '';
    return /http[^\s<"]+/.exec(of)?.[0].slice(service.consoleUrl.length).replaceAll('&amp;', '&') ?? '';
  };

  test('an invited operator sets a password by the mailed link, once, and then an authenticator app', async () => {
    const email = 'selam@meskot.example';
    const { operatorId } = await invite(email);
    const link = await linkTo(email);
    const browser = openBrowser(service.consoleUrl);
    const form = await browser.send('GET', link);
    const token = tokenOf(form);
    expect((await browser.post('/invitation', { token, password: 'Zenebework1' })).status).toBe(400);
    const page = await browser.post('/invitation', { token, password: 'seven grey donkeys 41' });
    expect([page.status, page.headers.getSetCookie()]).toEqual([200, []]);
    expect((await enrol(browser, page)).done.status).toBe(201);
    expect((await browser.send('GET', ME)).body.data).toMatchObject({
      operatorId,
      role: 'finance',
      user: { name: 'Zenebework' },
    });
    expect((await browser.send('GET', link)).status).toBe(404);
  });

  test('a person of a merchant who becomes an operator signs in with the same account; the link is of the sign-in', async () => {
    const email = await addPerson(service.db, await service.newMerchant(), 'viewer');
    const { operatorId } = await invite(email);
    expect(await linkTo(email)).toBe('');
    const browser = openBrowser(service.consoleUrl);
    await enrol(browser, await browser.signIn(email));
    expect((await browser.send('GET', ME)).body.data.operatorId).toBe(operatorId);
  });

  test('a new invitation ends the earlier link, and the link of a deactivated operator does not work', async () => {
    const email = 'dawit@meskot.example';
    const { admin, operatorId } = await invite(email);
    const first = await linkTo(email);
    expect((await admin.send('POST', `/api/ops/operators/${operatorId}/invitations`, { body: {} })).status).toBe(201);
    const second = await linkTo(email);
    const browser = openBrowser(service.consoleUrl);
    expect([(await browser.send('GET', first)).status, (await browser.send('GET', second)).status]).toEqual([404, 200]);
    await admin.send('PATCH', `/api/ops/operators/${operatorId}`, { body: { active: false } });
    expect((await browser.send('GET', second)).status).toBe(404);
  });
});

test('a forgotten password is set anew by mail for operators only, and ends all sessions', async () => {
  const operator = await signInOperator(service, 'viewer');
  const member = await addPerson(service.db, await service.newMerchant(), 'owner');
  const browser = openBrowser(service.consoleUrl);
  for (const email of [operator.email, member]) expect((await browser.post('/forgot', { email })).status).toBe(200);
  const mails = async () => (await browser.send('GET', '/dev/mail')).text;
  const sent = async () => (await mails()).includes(operator.email);
  await until('the mail of the reset', sent);
  const text = await mails();
  expect(text).not.toContain(member);
  const token = new RegExp(`${service.consoleUrl}/reset[?]token=([\\w-]+)`).exec(text)?.[1] ?? '';
  const done = await browser.post('/reset', { token, password: 'seven grey donkeys 41' });
  expect(done.status).toBe(200);
  expect((await operator.send('GET', ME)).status).toBe(401);
});

test('there is no sign-up at the console, and its pages are in Amharic for browsers that prefer it', async () => {
  const browser = openBrowser(service.consoleUrl);
  const page = await browser.send('GET', '/sign-in', { headers: { 'accept-language': 'am' } });
  expect(page.text).toContain('የኦፕሬተሮች ኮንሶል');
  expect(page.text).not.toContain('/sign-up');
  const accept = { headers: { accept: 'text/html' } };
  expect((await browser.send('GET', '/sign-up', accept)).headers.get('location')).toMatch(/^\/sign-in/);
  expect((await browser.send('GET', '/queue', accept)).headers.get('location')).toBe('/sign-in?next=%2Fqueue');
});
