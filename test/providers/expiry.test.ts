import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readExpiries } from '../../src/app/open-process.ts';
import { readConfig, type Variables } from '../../src/config.ts';
import { Registry } from '../../src/http/metrics.ts';
import { DAY_MS } from '../../src/lib/dates.ts';
import { openDatabase, rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/log.ts';
import { measureExpiries, warnOfExpiries } from '../../src/providers/expiry.ts';
import { buildMerchant } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { TEMPORAL_AUTHORITY, TEMPORAL_CERTIFICATE } from '../support/temporal-certificate.ts';

/** Ends on 28 December 2027. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBhDCCASugAwIBAgIUZ1o5QQvSiB+X1asZU8h7PErD52gwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNdGVsZWJpcnIudGVzdDAeFw0yNjExMjMwNzQ4NThaFw0yNzEy
MjgwNzQ4NThaMBgxFjAUBgNVBAMMDXRlbGViaXJyLnRlc3QwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAASZI7ASYlMcF3G+rsmYCRX478GGZQjVcrIiCnK/thp5nFLg
WTYTwnMoW2xnzmDeri6tmQexsQpyggKZ089vXd8to1MwUTAdBgNVHQ4EFgQU99je
FHz6bOR1Xd/EIstiIXh3zgAwHwYDVR0jBBgwFoAU99jeFHz6bOR1Xd/EIstiIXh3
zgAwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiBSDa/A6r8IAXRa
GErmLEAox8p9LGkVqdlsQzshnIY/twIgah65gP95PZ7swhf/E3JaqgOC1SPPpkYR
VfcWCy+MiI4=
-----END CERTIFICATE-----
`;
const ENDS = new Date('2027-12-28T07:48:58Z');
const KEY = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const TELEBIRR = {
  TELEBIRR_BASE_URL: 'http://127.0.0.1:4100/telebirr',
  TELEBIRR_PAY_PAGE_URL: 'http://127.0.0.1:4100/pay',
  TELEBIRR_PROVIDER_PUBLIC_KEY: CERTIFICATE,
};
const DAY_SECONDS = DAY_MS / 1_000;
const folder = mkdtempSync(join(tmpdir(), 'meskot-expiry-'));
afterAll(() => rmSync(folder, { recursive: true }));

const configOf = (env: Variables) =>
  readConfig({ DATABASE_URL: 'postgresql://localhost/meskot', TEMPORAL_ADDRESS: 'localhost:7233', ...env });
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
const NOW = new Date('2027-06-01T12:00:00Z');
const endsOf = (env: Variables) => readExpiries(configOf(env), { db: database.db, clock: () => NOW });
const daysBefore = (end: Date, days: number) => () => new Date(end.getTime() - days * DAY_MS);

async function measured(env: Variables, clock: () => Date): Promise<string[]> {
  const registry = new Registry();
  measureExpiries(registry, { read: () => endsOf(env), clock });
  // The API and the worker of one process share it.
  measureExpiries(registry, { read: () => endsOf(env), clock });
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith('meskot_credential'));
}

async function warnings(env: Variables, clock: () => Date) {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('warn', 'test', { destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  await warnOfExpiries({ read: () => endsOf(env), clock, log });
  return lines;
}

test('a certificate of telebirr ends; of several the last one counts, and a plain key has no end', async () => {
  const what = 'TELEBIRR_PROVIDER_PUBLIC_KEY';
  const withKeys = (...keys: string[]) => endsOf({ ...TELEBIRR, TELEBIRR_PROVIDER_PUBLIC_KEY: keys.join('\n') });
  expect(await withKeys(CERTIFICATE)).toEqual([{ what, expiresAt: ENDS }]);
  expect(await withKeys(TEMPORAL_CERTIFICATE, CERTIFICATE)).toEqual([
    { what, expiresAt: new Date('2126-10-29T12:55:58Z') },
  ]);
  expect(await withKeys(CERTIFICATE, KEY.publicKey)).toEqual([]);
  expect(await endsOf({})).toEqual([]);
});

test("credentials of a channel end with the day before the date of its setting, in Addis Ababa's time", async () => {
  expect(await endsOf({ CBE_BIRR_CREDENTIALS_EXPIRE_ON: '2027-06-30' })).toEqual([
    { what: 'CBE_BIRR_CREDENTIALS_EXPIRE_ON', expiresAt: new Date('2027-06-29T21:00:00Z') },
  ]);
  for (const wrong of ['30.6.2027', '2027-02-30', 'never']) {
    expect(() => configOf({ AWASH_CREDENTIALS_EXPIRE_ON: wrong })).toThrow(
      `AWASH_CREDENTIALS_EXPIRE_ON must be a date such as 2027-06-30, got "${wrong}"`,
    );
  }
});

test('the client certificate for Temporal ends with the first of its chain, and a renewed file counts at once', async () => {
  const path = join(folder, 'client.pem');
  const env = { TEMPORAL_TLS_CLIENT_CERT_PATH: path, TEMPORAL_TLS_CLIENT_KEY_PATH: join(folder, 'client.key') };
  const what = 'TEMPORAL_TLS_CLIENT_CERT_PATH';
  expect(await endsOf(env)).toEqual([]);
  writeFileSync(path, `${TEMPORAL_CERTIFICATE}${CERTIFICATE}`);
  expect(await endsOf(env)).toEqual([{ what, expiresAt: ENDS }]);
  writeFileSync(path, `${TEMPORAL_CERTIFICATE}${TEMPORAL_AUTHORITY}`);
  expect(await endsOf(env)).toEqual([{ what, expiresAt: new Date('2126-10-29T12:55:58Z') }]);
  writeFileSync(path, KEY.publicKey);
  expect(await endsOf(env)).toEqual([]);
});

test('the metric has the seconds until each end, negative after it', async () => {
  const env = { ...TELEBIRR, AWASH_CREDENTIALS_EXPIRE_ON: '2027-12-29' };
  expect(await measured(env, daysBefore(ENDS, 2))).toEqual([
    'meskot_credential_expires_seconds{what="TELEBIRR_PROVIDER_PUBLIC_KEY"} 172800',
    `meskot_credential_expires_seconds{what="AWASH_CREDENTIALS_EXPIRE_ON"} ${172_800 + 13 * 3_600 + 11 * 60 + 2}`,
  ]);
  expect((await measured(env, daysBefore(ENDS, -1)))[0]).toMatch(/ -86400$/);
});

test('from 30 days before an end on, each run of the job warns of it, without the certificate', async () => {
  expect(await warnings(TELEBIRR, daysBefore(ENDS, 30.01))).toEqual([]);
  const [line, ...others] = await warnings(TELEBIRR, daysBefore(ENDS, 29.5));
  expect(others).toEqual([]);
  expect(line).toMatchObject({
    level: 40,
    msg: 'a credential ends soon: renew it (docs/operations/runbooks.md)',
    what: 'TELEBIRR_PROVIDER_PUBLIC_KEY',
    expiresAt: ENDS.toISOString(),
    days: 29,
  });
  expect(JSON.stringify(line)).not.toContain('CERTIFICATE');
  expect(await warnings(TELEBIRR, daysBefore(ENDS, -0.5))).toMatchObject([
    { msg: expect.stringContaining('has ended'), days: -1 },
  ]);
});

/** A set of credentials of a merchant's own account that another operator has activated; returns its id. */
async function activate(till: string, days: { activeFrom: number; retires?: number; ends: number | null }) {
  const set = {
    id: newId('pcr'),
    till,
    merchantId: (await buildMerchant(database.db)).merchantId,
    activeFrom: new Date(NOW.getTime() + days.activeFrom * DAY_MS),
    retiresAt: days.retires === undefined ? null : new Date(NOW.getTime() + days.retires * DAY_MS),
    expiresAt: days.ends === null ? null : new Date(NOW.getTime() + days.ends * DAY_MS),
  };
  await rows(
    database.db,
    `INSERT INTO provider_credential (id, merchant_id, channel, credentials, account, identifiers, expires_at, created_by,
                                      confirmed_by, active_from, retires_at, created_at)
     VALUES (:id, :merchantId, 'AWASH', '', :till, '{}', :expiresAt, 'opr_1', 'opr_2', :activeFrom, :retiresAt, :activeFrom)`,
    set,
  );
  return set.id;
}

test("merchants' own credentials in effect are measured and warned of by their id", async () => {
  const ending = await activate('1', { activeFrom: -9, ends: 10 });
  await activate('2', { activeFrom: -9, ends: null });
  await activate('3', { activeFrom: -9, ends: 10, retires: -1 });
  await activate('4', { activeFrom: 1, ends: 10 });
  const later = await activate('5', { activeFrom: -9, ends: 300 });
  const metrics = await measured({}, () => NOW);
  const expected = [
    `meskot_credential_expires_seconds{what="${ending}"} ${10 * DAY_SECONDS}`,
    `meskot_credential_expires_seconds{what="${later}"} ${300 * DAY_SECONDS}`,
  ];
  expect(metrics.toSorted()).toEqual(expected.toSorted());
  expect(await warnings({}, () => NOW)).toMatchObject([{ what: ending, days: 10 }]);
});

test('without the database the ends in the settings are known all the same', async () => {
  const away = openDatabase({ url: 'postgresql://127.0.0.1:1/none', poolMax: 1, applicationName: 'test' });
  const config = configOf({ AWASH_CREDENTIALS_EXPIRE_ON: '2027-06-30' });
  expect(await readExpiries(config, { db: away, clock: () => NOW })).toMatchObject([
    { what: 'AWASH_CREDENTIALS_EXPIRE_ON' },
  ]);
  await away.destroy();
});
