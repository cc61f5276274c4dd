import { rows } from '../../src/lib/db.ts';
import { buildLive } from '../support/withdrawals.ts';
import { codeOf, tokenOf } from './console.ts';
import { openBrowser, PASSWORD, usePortalService, type Browser } from './portal.ts';

const portal = usePortalService();
let merchantId: string;

beforeAll(async () => {
  merchantId = await portal.newMerchant();
});

type Person = Browser & { email: string };

/** Turns two-factor on in a session. Codes of the next time step can be used after it. */
async function enrol(person: Person): Promise<{ secret: string; recoveryCodes: string[] }> {
  const begun = await person.send('POST', BEGIN, PROVED);
  expect(begun.body.data.uri).toContain(`otpauth://totp/Meskot:${encodeURIComponent(person.email)}?secret=`);
  const { secret } = begun.body.data;
  const confirmed = await person.send('POST', '/api/portal/security/two-factor/confirm', {
    body: { code: codeOf(secret) },
  });
  expect(confirmed.status).toBe(201);
  return { secret, recoveryCodes: confirmed.body.data.recoveryCodes };
}

const BEGIN = '/api/portal/security/two-factor';
const PROVED = { body: { currentPassword: PASSWORD } };
const OFF = '/api/portal/security/two-factor/off';
const STEP_UP = '/api/portal/security/step-up';

test('two-factor is on once a code of the app was entered, and the secret is stored encrypted', async () => {
  const person = await portal.signedIn(merchantId, 'owner');
  const wrong = { body: { code: '000000' } };
  const guess = await person.send('POST', BEGIN, { body: { currentPassword: 'Walls' } });
  expect(guess.body.error.details).toEqual([{ field: 'currentPassword', issue: 'is wrong', code: 'wrong_password' }]);
  await person.send('POST', BEGIN, PROVED);
  expect((await person.send('POST', '/api/portal/security/two-factor/confirm', wrong)).status).toBe(400);
  expect((await person.send('GET', '/api/portal/me')).body.data.twoFactor.enabled).toBe(false);
  const { secret, recoveryCodes } = await enrol(person);
  expect((await person.send('GET', '/api/portal/me')).body.data.twoFactor).toMatchObject({
    enabled: true,
    stepUpUntil: expect.any(String),
  });
  expect(recoveryCodes).toHaveLength(10);
  expect((await person.send('GET', '/api/portal/security')).body.data.recoveryCodesLeft).toBe(10);
  const stored = await rows<{ text: string }>(
    portal.db,
    `SELECT encode(totp_secret, 'escape') || (SELECT string_agg(encode(code_hash, 'escape'), '') FROM recovery_code) AS text
     FROM user_account WHERE email = :email`,
    { email: person.email },
  );
  for (const planted of [secret, ...recoveryCodes]) expect(stored[0]?.text).not.toContain(planted);
  expect((await person.send('POST', BEGIN, PROVED)).body.error.code).toBe('INVALID_STATE');
});

test('the sign-in asks for a code after the password; a code, a form and a recovery code are accepted once', async () => {
  const person = await portal.signedIn(merchantId, 'owner');
  const { secret, recoveryCodes } = await enrol(person);
  const browser = openBrowser(portal.url);
  const second = await browser.signIn(person.email, PASSWORD, '/live/balance');
  expect([second.status, second.headers.getSetCookie()]).toEqual([200, []]);
  const token = tokenOf(second);
  const enter = (code: string) => browser.post('/two-factor', { token, code, next: '/live/balance' });
  // The code with which the app was confirmed has been used.
  expect((await enter(codeOf(secret))).status).toBe(401);
  const next = codeOf(secret, 1);
  const done = await enter(next);
  expect([done.status, done.headers.get('location')]).toEqual([303, '/live/balance']);
  expect((await browser.send('GET', '/api/portal/me')).body.data.twoFactor.stepUpUntil).not.toBeNull();
  expect((await enter(recoveryCodes[0] ?? '')).headers.get('location')).toMatch(/^\/sign-in/);
  for (const [code, status] of [
    [next, 401],
    [recoveryCodes[1], 303],
    [recoveryCodes[1], 401],
  ] as const) {
    const again = openBrowser(portal.url);
    const page = await again.signIn(person.email);
    const response = await again.post('/two-factor', { token: tokenOf(page), code: code ?? '' });
    expect({ code, status: response.status }).toEqual({ code, status });
  }
});

test('after five wrong codes in a row none is checked for 15 minutes, in the sign-in and in sessions', async () => {
  const person = await portal.signedIn(merchantId, 'owner');
  const { recoveryCodes } = await enrol(person);
  const browser = openBrowser(portal.url);
  const token = tokenOf(await browser.signIn(person.email));
  for (let tries = 0; tries < 5; tries += 1) {
    expect((await browser.post('/two-factor', { token, code: '000000' })).status).toBe(401);
  }
  expect((await browser.post('/two-factor', { token, code: recoveryCodes[0] ?? '' })).status).toBe(429);
  const stepUp = await person.send('POST', STEP_UP, { body: { code: recoveryCodes[0] } });
  expect([stepUp.status, Number(stepUp.headers.get('retry-after')) > 800]).toEqual([429, true]);
});

test('turning two-factor off needs a code of the last 5 minutes; new recovery codes replace the old ones', async () => {
  const person = await portal.signedIn(merchantId, 'owner');
  expect((await person.send('POST', OFF)).body.error.code).toBe('TWO_FACTOR_REQUIRED');
  const { secret, recoveryCodes } = await enrol(person);
  const sql = `UPDATE user_session s SET step_up_at = now() - interval '301 s' FROM user_account u
               WHERE u.id = s.user_id AND u.email = :email`;
  await rows(portal.db, sql, { email: person.email });
  expect((await person.send('POST', OFF)).body.error.code).toBe('STEP_UP_REQUIRED');
  expect((await person.send('POST', STEP_UP, { body: { code: codeOf(secret, 1) } })).status).toBe(200);
  const renewed = await person.send('POST', '/api/portal/security/recovery-codes');
  expect(renewed.body.data.recoveryCodes).toHaveLength(10);
  expect((await person.send('POST', STEP_UP, { body: { code: recoveryCodes[0] } })).status).toBe(400);
  expect((await person.send('POST', STEP_UP, { body: { code: renewed.body.data.recoveryCodes[0] } })).status).toBe(200);
  expect((await person.send('POST', OFF)).status).toBe(200);
  expect((await person.send('GET', '/api/portal/security')).body.data.twoFactorSince).toBeNull();
  expect((await openBrowser(portal.url).send('GET', '/dev/mail')).text).toMatch(
    new RegExp(`${person.email}[^]*?Two-factor authentication was turned off`),
  );
});

describe('live of a verified merchant', () => {
  let verified: string;
  beforeAll(async () => {
    verified = await portal.newMerchant();
    await buildLive(portal.db, { merchantId: verified });
    await rows(
      portal.db,
      `INSERT INTO transaction (id, session_id, merchant_id, environment, checkout_order_no, amount_santim, currency, type,
         status, created_at)
       VALUES (:verified, :verified, :verified, 'sandbox', 'FIRST', 100, 'ETB', 'API', 'SUCCESS', now())`,
      { verified },
    );
  });

  /** The code of the response to a request of live; undefined: it was served. */
  const useLive = async (person: Person): Promise<string | undefined> => {
    const { status, body } = await person.send('GET', '/api/checkout/channels', { environment: 'live' });
    return status === 200 ? undefined : body.error.code;
  };

  test.each([
    ['owner', 'TWO_FACTOR_REQUIRED'],
    ['admin', 'TWO_FACTOR_REQUIRED'],
    ['finance', 'TWO_FACTOR_REQUIRED'],
    ['developer', undefined],
    ['viewer', undefined],
  ] as const)('is, without two factors, for a person with the role %s: %s', async (role, code) => {
    const person = await portal.signedIn(verified, role);
    const { body } = await person.send('GET', '/api/portal/me');
    expect([body.data.merchant.liveEnabled, body.data.twoFactor.requiredForLive]).toEqual([true, code !== undefined]);
    expect(await useLive(person)).toBe(code);
    if (code === undefined) return;
    await enrol(person);
    expect(await useLive(person)).toBeUndefined();
  });

  test('is closed to the sessions that began before two factors were turned on: they end', async () => {
    const person = await portal.signedIn(verified, 'finance');
    const other = openBrowser(portal.url);
    await other.signIn(person.email);
    await enrol(person);
    expect(await useLive(person)).toBeUndefined();
    expect((await other.send('GET', '/api/checkout/channels', { environment: 'live' })).status).toBe(401);
  });

  test('is closed to a session after 30 minutes without use, and the sandbox is not', async () => {
    const person = await portal.signedIn(verified, 'developer');
    const sql = `UPDATE user_session s SET live_until = now() - interval '1 s' FROM user_account u
                 WHERE u.id = s.user_id AND u.email = :email`;
    await rows(portal.db, sql, { email: person.email });
    expect(await useLive(person)).toBe('AUTHENTICATION_REQUIRED');
    expect((await person.send('GET', '/api/checkout/channels')).status).toBe(200);
    expect(await useLive(person)).toBe('AUTHENTICATION_REQUIRED');
  });
});

describe('sessions and passwords', () => {
  test('a person sees the own sessions, ends one of them, and no session of another person', async () => {
    const person = await portal.signedIn(merchantId, 'viewer');
    const other = openBrowser(portal.url);
    await other.signIn(person.email);
    const { data } = (await person.send('GET', '/api/portal/sessions')).body;
    expect(data.map(({ current }: { current: boolean }) => current)).toEqual([false, true]);
    expect(data[0]).toMatchObject({ address: '127.0.0.1', device: 'node' });
    const end = `/api/portal/sessions/${data[0].sessionId}/end`;
    const stranger = await portal.signedIn(merchantId, 'owner');
    expect((await stranger.send('POST', end)).status).toBe(404);
    expect((await other.send('GET', '/api/portal/me')).status).toBe(200);
    expect((await person.send('POST', end)).status).toBe(200);
    expect((await other.send('GET', '/api/portal/me')).status).toBe(401);
  });

  test('signing out everywhere ends every session', async () => {
    const person = await portal.signedIn(merchantId, 'viewer');
    const other = openBrowser(portal.url);
    await other.signIn(person.email);
    expect((await other.send('POST', '/api/portal/sessions/end-all')).status).toBe(200);
    for (const browser of [person, other]) expect((await browser.send('GET', '/api/portal/me')).status).toBe(401);
  });

  test('changing the password needs the current one and ends all other sessions', async () => {
    const person = await portal.signedIn(merchantId, 'viewer');
    const other = openBrowser(portal.url);
    await other.signIn(person.email);
    const change = (currentPassword: string, newPassword: string) =>
      person.send('POST', '/api/portal/security/password', { body: { currentPassword, newPassword } });
    const newPassword = 'seven grey donkeys 41';
    expect((await change('wrong', newPassword)).status).toBe(400);
    expect((await change(PASSWORD, newPassword)).status).toBe(200);
    expect([
      (await person.send('GET', '/api/portal/me')).status,
      (await other.send('GET', '/api/portal/me')).status,
    ]).toEqual([200, 401]);
    expect((await openBrowser(portal.url).signIn(person.email)).status).toBe(401);
    expect((await openBrowser(portal.url).signIn(person.email, newPassword)).status).toBe(303);
  });

  test.each([
    'short',
    'Password123!',
    'P@ssw0rd2026',
    'aaaaaaaaaaaa',
    '1234567890123',
    'qwertyuiop1',
    'viewer-viewer',
    'Zenebework1',
  ])('a password that is easily guessed is rejected: %s', async (newPassword) => {
    const person = await portal.signedIn(merchantId, 'viewer');
    await person.send('PATCH', '/api/portal/profile', { body: { name: 'Hana Zenebework' } });
    const body = { currentPassword: PASSWORD, newPassword };
    const refused = await person.send('POST', '/api/portal/security/password', { body });
    expect([refused.status, refused.body.error.details[0].field]).toEqual([400, 'newPassword']);
  });

  test('a person changes name, language and calendar', async () => {
    const person = await portal.signedIn(merchantId, 'viewer');
    const body = { name: 'Selam Tesfaye', language: 'am', calendar: 'both' };
    expect((await person.send('PATCH', '/api/portal/profile', { body })).body.data.user).toMatchObject(body);
  });
});
