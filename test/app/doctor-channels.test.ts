import { generateKeyPairSync } from 'node:crypto';

import { addisDay, DAY_MS } from '../../src/lib/dates.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { createAuthority, createCertificate, type TestCertificate } from '../support/certificates.ts';
import { buildStage, keyPair, type Report, type Stage } from './doctor-stage.ts';

let stage: Stage;
let authority: TestCertificate;
beforeAll(async () => {
  [stage, authority] = await Promise.all([buildStage(), createAuthority()]);
}, 60_000);
afterAll(() => stage.close(), 30_000);

/** The report on one channel. */
const examine = (channel: string, changes: Record<string, string>, aheadMs = 0): Promise<Report> =>
  stage.examine(changes, { channel: [channel], aheadMs });

describe('the settings of a channel', () => {
  test('that has none are ok, and wrong if the channel is named', async () => {
    const none = Object.fromEntries(
      Object.keys(stage.settings).flatMap((name) => (name.startsWith('AWASH_') ? [[name, undefined]] : [])),
    );
    const all = await stage.examine(none);
    expect(all.exitCode).toBe(0);
    expect(all.findings.filter(({ name }) => name.startsWith('AWASH'))).toEqual([
      { name: 'AWASH settings', status: 'ok', found: 'Not configured: the channel takes no real money.', next: null },
    ]);
    const named = await stage.examine(none, { channel: ['AWASH'] });
    expect([named.exitCode, named.wrong]).toEqual([
      1,
      { 'AWASH settings': expect.stringContaining('Set AWASH_BASE_URL, AWASH_COMPANY_NAME, AWASH_TILL_CODE,') },
    ]);
  }, 30_000);

  test('of which some are missing name those, and an account that is missing as a whole is a warning', async () => {
    const some = await stage.examine({ TELEBIRR_APP_SECRET: undefined, TELEBIRR_APP_ID: undefined });
    expect([some.exitCode, some.wrong]).toEqual([
      1,
      { 'TELEBIRR settings': expect.stringMatching(/^TELEBIRR_APP_SECRET, TELEBIRR_APP_ID are not set\. Until/) },
    ]);
    const till = ['COMPANY_NAME', 'TILL_CODE', 'TOKEN', 'HASH_KEY'].map((name) => [`AWASH_${name}`, undefined]);
    const endpointOnly = await stage.examine(Object.fromEntries(till));
    expect([endpointOnly.exitCode, endpointOnly.warnings]).toEqual([
      0,
      {
        'AWASH own accounts': expect.stringMatching(
          /^The platform has no account, and 0 of 0 merchants .* Set AWASH_COMPANY/,
        ),
      },
    ]);
  }, 30_000);
});

describe('the keys', () => {
  test('that are mixed up are wrong', async () => {
    const { privateKey, publicKey } = keyPair();
    const own = { TELEBIRR_MERCHANT_PRIVATE_KEY: privateKey, TELEBIRR_PROVIDER_PUBLIC_KEY: publicKey };
    const { exitCode, wrong } = await examine('TELEBIRR', own);
    expect(exitCode).toBe(1);
    expect(wrong['TELEBIRR provider key']).toBe(
      'TELEBIRR_PROVIDER_PUBLIC_KEY is the public half of our own private key, so no callback of telebirr would be ' +
        'verified. Set it to the public key that Ethio telecom has issued; ours is what they register.',
    );
  }, 30_000);

  test('that are short or not of RSA are wrong', async () => {
    const short = keyPair(1_024);
    const of1024 = await examine('TELEBIRR', {
      TELEBIRR_MERCHANT_PRIVATE_KEY: short.privateKey,
      TELEBIRR_PROVIDER_PUBLIC_KEY: keyPair(1_024).publicKey,
    });
    expect(of1024.wrong).toEqual({
      'TELEBIRR key': expect.stringMatching(/^TELEBIRR_MERCHANT_PRIVATE_KEY has 1024 bits, fewer than 2048\./),
      'TELEBIRR provider key': expect.stringMatching(/^TELEBIRR_PROVIDER_PUBLIC_KEY has 1024 bits, fewer than 2048\./),
    });
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const elliptic = await examine('TELEBIRR', { TELEBIRR_MERCHANT_PRIVATE_KEY: privateKey });
    expect(elliptic.wrong['TELEBIRR key']).toContain('must be an RSA key, but is ec');
  }, 30_000);

  test('in certificates warn 30 days before the end, and are wrong after it unless there is a new one', async () => {
    const [ended, ending, valid] = await Promise.all(
      [-2, 10, 300].map(async (days) => (await createCertificate(authority, { days })).cert),
    );
    const withKey = (pem = '') => examine('TELEBIRR', { TELEBIRR_PROVIDER_PUBLIC_KEY: pem });
    const after = await withKey(ended);
    expect([after.exitCode, after.wrong]).toEqual([
      1,
      { 'TELEBIRR provider key': expect.stringMatching(/has expired on \d{4}-\d\d-\d\d\. Ask Ethio telecom/) },
    ]);
    const before = await withKey(ending);
    expect([before.exitCode, before.warnings['TELEBIRR provider key']]).toEqual([
      0,
      expect.stringContaining('The certificate in TELEBIRR_PROVIDER_PUBLIC_KEY ends in 9 days'),
    ]);
    const both = await withKey(`${ended}\n${valid}`);
    expect([both.exitCode, both.warnings['TELEBIRR provider key']]).toEqual([
      0,
      expect.stringContaining('Remove it from TELEBIRR_PROVIDER_PUBLIC_KEY'),
    ]);
  }, 30_000);
});

describe('wrong credentials', () => {
  test('of telebirr are distinguished: the app secret by the token, the private key by a signed query', async () => {
    const secret = await examine('TELEBIRR', { TELEBIRR_APP_SECRET: 'planted-secret' });
    expect([secret.exitCode, secret.wrong]).toEqual([
      1,
      {
        'TELEBIRR query':
          'telebirr rejects TELEBIRR_APP_KEY or TELEBIRR_APP_SECRET (status 401). Compare both with what telebirr has issued.',
      },
    ]);
    const key = await examine('TELEBIRR', { TELEBIRR_MERCHANT_PRIVATE_KEY: keyPair().privateKey });
    expect(key.wrong).toEqual({
      'TELEBIRR query': expect.stringMatching(
        /^telebirr rejects a signed query \(INVALID_SIGN\)\. Have Ethio telecom compare the registered public key/,
      ),
    });
  }, 30_000);

  test('of payouts are checked on their own', async () => {
    const { wrong } = await examine('TELEBIRR', { TELEBIRR_PAYOUT_APP_SECRET: 'planted-payout-secret' });
    expect(wrong).toEqual({ 'TELEBIRR payout query': expect.stringContaining('rejects TELEBIRR_PAYOUT_APP_KEY or') });
    const till = await examine('CBE_BIRR', { CBE_BIRR_PAYOUT_HASH_KEY: 'planted-payout-hash' });
    expect(till.wrong).toEqual({ 'CBE_BIRR payout query': expect.stringContaining('Compare CBE_BIRR_PAYOUT_TOKEN') });
  }, 30_000);

  test.each([
    ['CBE_BIRR', 'CBE_BIRR_HASH_KEY'],
    ['AWASH', 'AWASH_TOKEN'],
  ])('of %s are found by a signed query: %s', async (channel, name) => {
    const { exitCode, wrong } = await examine(channel, { [name]: 'planted-credential' });
    expect(exitCode).toBe(1);
    expect(wrong).toEqual({ [`${channel} query`]: expect.stringMatching(/\(INVALID_SIGNATURE\)\. Compare /) });
  });

  test('beside a wrong clock the clock is named first, and a provider that quotes a secret is not', async () => {
    const late = await stage.standIn(stage.simulator.url, { aheadMs: -120_000 });
    const { wrong } = await examine('CBE_BIRR', {
      CBE_BIRR_BASE_URL: `${late.url}/cbebirr`,
      CBE_BIRR_TOKEN: 'planted-credential',
    });
    expect(wrong).toEqual({
      'CBE_BIRR clock': expect.stringMatching(
        /^The clock of this machine is 1\d\d s ahead of CBE Birr's\. Set the clock/,
      ),
      'CBE_BIRR query': expect.stringContaining('Set the clock first: see "CBE_BIRR clock". Compare'),
    });
    const quoting = await stage.serve((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ state: 'REJECTED', resultCode: 'no such token: planted-credential' }));
    });
    const quoted = await examine('AWASH', { AWASH_BASE_URL: quoting.url, AWASH_TOKEN: 'planted-credential' });
    expect(quoted.wrong['AWASH query']).toContain('(no such token …)');
  }, 30_000);
});

describe('the clock', () => {
  test("is compared with the database's and the provider's: 5 s are a warning, a minute is wrong", async () => {
    const names = ['database clock', 'CBE_BIRR clock'];
    const twenty = await examine('CBE_BIRR', {}, -20_000);
    expect([twenty.exitCode, Object.keys(twenty.warnings)]).toEqual([0, names]);
    expect(twenty.warnings['database clock']).toMatch(/^The clock of this machine is 20 s behind the database's\./);
    const ninety = await examine('CBE_BIRR', {}, 90_000);
    expect([ninety.exitCode, Object.keys(ninety.wrong)]).toEqual([1, names]);
    expect(ninety.wrong['database clock']).toContain('90 s ahead of');
  }, 30_000);
});

describe('a provider', () => {
  test('that is away, hangs, fails, limits calls or is something else is distinguished', async () => {
    const at = async (url: string) =>
      (await examine('CBE_BIRR', { CBE_BIRR_BASE_URL: url, CBE_BIRR_TIMEOUT_MS: '500' })).wrong;
    const away = await at(`http://127.0.0.1:${await anyFreePort()}`);
    expect(away).toEqual({
      'CBE_BIRR service': expect.stringContaining(
        'refuses connections. Check CBE_BIRR_BASE_URL, that the service runs',
      ),
      'CBE_BIRR query': expect.stringContaining('does not answer (ECONNREFUSED). See "CBE_BIRR service"'),
    });
    const answering = async (status: number) => {
      const server = await stage.serve((_, response) => void response.writeHead(status).end('{}'));
      return (await at(server.url))['CBE_BIRR query'];
    };
    await expect(answering(503)).resolves.toMatch(/^CBE Birr answers without a result \(status 503\)\. Ask CBE Birr/);
    await expect(answering(429)).resolves.toMatch(
      /^CBE Birr limits our calls .* Set CBE_BIRR_CALLS_PER_SECOND to .* divided by/,
    );
    await expect(answering(200)).resolves.toMatch(/documented form\. Check the path and the host of CBE_BIRR_BASE_URL/);
    const hanging = await stage.serve(() => {});
    expect((await at(hanging.url))['CBE_BIRR query']).toContain('CBE Birr does not answer (no response in time)');
  }, 60_000);

  test('of telebirr that is away or hangs is not taken for wrong credentials', async () => {
    const away = `http://127.0.0.1:${await anyFreePort()}`;
    const { wrong } = await examine('TELEBIRR', { TELEBIRR_BASE_URL: away });
    expect(wrong['TELEBIRR query']).toContain('does not answer (ECONNREFUSED)');
    const hanging = await stage.serve(() => {});
    const silent = await examine('TELEBIRR', { TELEBIRR_BASE_URL: hanging.url, TELEBIRR_TIMEOUT_MS: '500' });
    expect(silent.wrong['TELEBIRR query']).toContain('telebirr does not answer (no ');
  }, 30_000);

  test('whose certificate has expired, or is of no known authority, gets no credentials', async () => {
    const [expired, selfSigned] = [await createCertificate(null, { days: -2 }), await createCertificate(null)];
    const before = await stage.simulator.requests('TELEBIRR token');
    const reached = async (certificate: TestCertificate) => {
      const { url } = await stage.standIn(stage.simulator.url, { certificate });
      return (await examine('TELEBIRR', { TELEBIRR_BASE_URL: `${url}/telebirr` })).wrong;
    };
    const wrong = await reached(expired);
    expect(wrong['TELEBIRR service']).toMatch(/^The TLS certificate of localhost:\d+ has expired on .* must renew/);
    expect(wrong['TELEBIRR query']).toContain('does not answer (CERT_HAS_EXPIRED)');
    const unknown = await reached(selfSigned);
    expect(unknown['TELEBIRR service']).toMatch(
      /is not accepted: the certificate is self-signed\. .*NODE_EXTRA_CA_CERTS/,
    );
    const plain = await stage.standIn(stage.simulator.url);
    const noTls = await examine('TELEBIRR', { TELEBIRR_BASE_URL: plain.url.replace('http:', 'https:') });
    expect(noTls.wrong['TELEBIRR service']).toMatch(/does not speak TLS/);
    await expect(stage.simulator.requests('TELEBIRR token')).resolves.toBe(before);
  }, 30_000);
});

test('no secret is printed by any of these reports', () => {
  const { settings, printed } = stage;
  const secrets = Object.entries(settings).flatMap(([name, value]) =>
    /SECRET|TOKEN|HASH_KEY|PRIVATE_KEY|PEPPER|ENCRYPTION|APP_KEY/.test(name) ? [value] : [],
  );
  secrets.push(new URL(settings['DATABASE_URL'] ?? '').password, 'BEGIN PRIVATE KEY');
  expect(secrets).toHaveLength(11);
  expect(printed().length).toBeGreaterThan(10_000);
  for (const secret of [...secrets, 'planted']) expect(printed()).not.toContain(secret);
});

describe('credentials that end', () => {
  const dayIn = (days: number): string => addisDay(new Date(Date.now() + days * DAY_MS));

  test("of the platform's account are a warning in the last 30 days, and wrong after them", async () => {
    const at = async (day: string) => examine('AWASH', { AWASH_CREDENTIALS_EXPIRE_ON: day });
    expect((await at(dayIn(90))).warnings).toEqual({});
    const soon = await at(dayIn(10));
    expect([soon.exitCode, soon.warnings['AWASH credentials end']]).toEqual([
      0,
      expect.stringMatching(/^What the provider has issued \(AWASH_CREDENTIALS_EXPIRE_ON\) ends in \d+ days, on /),
    ]);
    expect(soon.warnings['AWASH credentials end']).toContain(`on ${dayIn(10)}.`);
    const over = await at(dayIn(-5));
    expect([over.exitCode, over.wrong['AWASH credentials end']]).toEqual([1, expect.stringContaining('has expired')]);
  }, 60_000);
});
