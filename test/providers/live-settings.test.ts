import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readConfig, type Variables } from '../../src/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import type { Channel } from '../../src/merchants/channels/channel.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { SANDBOX_AWASH, SANDBOX_CBE_BIRR, SANDBOX_TELEBIRR } from '../support/sandbox-accounts.ts';

const REQUIRED = { DATABASE_URL: 'postgresql://localhost/meskot', TEMPORAL_ADDRESS: 'localhost:7233' };
const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const TELEBIRR = {
  TELEBIRR_BASE_URL: 'http://127.0.0.1:4100/telebirr',
  TELEBIRR_PAY_PAGE_URL: 'http://127.0.0.1:4100/pay',
  TELEBIRR_APP_KEY: 'app-key',
  TELEBIRR_APP_SECRET: 'app-secret',
  TELEBIRR_APP_ID: '1000',
  TELEBIRR_MERCHANT_CODE: '2000',
  TELEBIRR_MERCHANT_PRIVATE_KEY: privateKey,
  TELEBIRR_PROVIDER_PUBLIC_KEY: publicKey,
};
const CBE_BIRR = {
  CBE_BIRR_BASE_URL: 'http://127.0.0.1:4100/cbebirr',
  CBE_BIRR_COMPANY_NAME: 'Meskot',
  CBE_BIRR_TILL_CODE: '3000',
  CBE_BIRR_TOKEN: 'token',
  CBE_BIRR_HASH_KEY: 'hash-key',
};

const providersOf = (env: Variables) => readConfig({ ...REQUIRED, ...env }).liveProviders;

const inProduction = (env: Variables) =>
  readConfig({ ...REQUIRED, MESKOT_MODE: 'production', ...env }, { usesSecrets: false });

function find(env: Variables, channel: Channel) {
  const http = createHttpClient();
  const options = { http, clock: systemClock, simulatorUrl: 'http://127.0.0.1:1', liveProviders: providersOf(env) };
  return createFindProvider(options)(channel, 'live');
}

test('a live channel has a provider once all its settings are set', () => {
  expect(find({}, 'TELEBIRR')).toBeNull();
  expect(find(TELEBIRR, 'TELEBIRR')).toMatchObject({ channel: 'TELEBIRR' });
  expect(find(TELEBIRR, 'CBE_BIRR')).toBeNull();
  expect(find(CBE_BIRR, 'CBE_BIRR')).toMatchObject({ channel: 'CBE_BIRR' });
  expect(find({ ...TELEBIRR, ...CBE_BIRR }, 'MPESA')).toBeNull();
});

test('settings that are missing leave the channel out and are named', () => {
  const { TELEBIRR_APP_SECRET: _, ...others } = TELEBIRR;
  expect(providersOf(others).TELEBIRR).toMatchObject({ missing: ['TELEBIRR_APP_SECRET'], payIn: null });
  expect(find(others, 'TELEBIRR')).toBeNull();
  expect(providersOf({}).AWASH.missing).toEqual([
    'AWASH_BASE_URL',
    'AWASH_COMPANY_NAME',
    'AWASH_TILL_CODE',
    'AWASH_TOKEN',
    'AWASH_HASH_KEY',
  ]);
});

test('payouts need a contract, and may have an account of their own', () => {
  expect(find(CBE_BIRR, 'CBE_BIRR')?.capabilities.payoutTo).toEqual([]);
  expect(find({ ...CBE_BIRR, CBE_BIRR_PAYOUTS: 'true' }, 'CBE_BIRR')?.capabilities.payoutTo).toEqual(['phone']);
  const own = { ...CBE_BIRR, CBE_BIRR_PAYOUTS: 'true', CBE_BIRR_PAYOUT_TILL_CODE: '3001' };
  expect(providersOf(own).CBE_BIRR.payOut).toEqual({
    companyName: 'Meskot',
    tillCode: '3001',
    token: 'token',
    hashKey: 'hash-key',
  });
});

test.each([
  [{ TELEBIRR_MERCHANT_PRIVATE_KEY: 'planted' }, 'TELEBIRR_MERCHANT_PRIVATE_KEY must be a private key in PEM'],
  [{ TELEBIRR_PROVIDER_PUBLIC_KEY: 'planted' }, 'TELEBIRR_PROVIDER_PUBLIC_KEY must be public keys or certificates'],
  [{ TELEBIRR_MERCHANT_PRIVATE_KEY: '-----BEGIN planted' }, 'TELEBIRR_MERCHANT_PRIVATE_KEY must be a private key'],
  [{ TELEBIRR_PROVIDER_PUBLIC_KEY: '-----BEGIN planted' }, 'TELEBIRR_PROVIDER_PUBLIC_KEY must be public keys'],
  [{ TELEBIRR_SIGNATURE_SCHEME: 'MD5' }, 'TELEBIRR_SIGNATURE_SCHEME must be one of PSS, PKCS1, got "MD5"'],
  [{ TELEBIRR_TIMEOUT_MS: '5000' }, 'TELEBIRR_TIMEOUT_MS must be a whole number from 500 to 4500, got "5000"'],
  [
    { TELEBIRR_CALLS_PER_SECOND: '1e3' },
    'TELEBIRR_CALLS_PER_SECOND must be a number from 0 to 10000, such as 5 or 0.5',
  ],
  [{ TELEBIRR_CALLBACK_CIDRS: '10.0.0.0/33' }, 'TELEBIRR_CALLBACK_CIDRS must be networks'],
  [{ CBE_BIRR_BASE_URL: 'cbe' }, 'CBE_BIRR_BASE_URL must be a full address'],
  [{ CBE_BIRR_PAYOUTS: 'yes' }, 'CBE_BIRR_PAYOUTS must be one of true, false'],
])('%j is rejected with the allowed values, without a secret', (changes, message) => {
  const read = () => providersOf({ ...TELEBIRR, ...CBE_BIRR, ...changes });
  expect(read).toThrow(message);
  expect(read).not.toThrow('planted');
});

test('local mode takes no real money, and production sends no credentials in the clear', () => {
  for (const others of [CBE_BIRR, {}]) {
    const remote = { ...others, CBE_BIRR_BASE_URL: 'https://cbe.example.et' };
    expect(() => providersOf(remote)).toThrow('CBE_BIRR_BASE_URL is "cbe.example.et", but local mode');
  }
  expect(() => inProduction({ CBE_BIRR_BASE_URL: CBE_BIRR.CBE_BIRR_BASE_URL })).toThrow(
    'CBE_BIRR_BASE_URL must be https in production',
  );
  const names = ['TELEBIRR_BASE_URL', 'TELEBIRR_PAY_PAGE_URL', 'AWASH_CALLBACK_BASE_URL'];
  const inTheClear = Object.fromEntries(names.map((name) => [name, 'http://provider.example.et']));
  const problems = names.map((name) => `  ${name} must be https in production`);
  expect(() => inProduction(inTheClear)).toThrow(problems.join('\n'));
  const secured = Object.fromEntries(names.map((name) => [name, 'https://provider.example.et']));
  expect(() => inProduction({ ...TELEBIRR, ...secured })).not.toThrow();
});

test("production refuses the sandbox's credentials, which are published, by name and without their values", () => {
  const pkcs1 = createPrivateKey(SANDBOX_TELEBIRR.merchantPrivateKey).export({ type: 'pkcs1', format: 'pem' });
  const published = {
    TELEBIRR_APP_KEY: SANDBOX_TELEBIRR.appKey,
    TELEBIRR_APP_SECRET: SANDBOX_TELEBIRR.appSecret,
    TELEBIRR_MERCHANT_PRIVATE_KEY: pkcs1.toString(),
    TELEBIRR_PROVIDER_PUBLIC_KEY: `${publicKey}${SANDBOX_TELEBIRR.providerPublicKey}`,
    TELEBIRR_PAYOUT_APP_SECRET: SANDBOX_TELEBIRR.appSecret,
    CBE_BIRR_TOKEN: SANDBOX_CBE_BIRR.token,
    AWASH_PAYOUT_HASH_KEY: SANDBOX_AWASH.hashKey,
  };
  for (const [name, value] of Object.entries(published)) {
    const read = () => inProduction({ [name]: value });
    expect(read).toThrow(`${name} must not be the sandbox's, which is published: set what the provider has issued`);
    expect(read).not.toThrow(value);
  }
  expect(() => readConfig({ ...REQUIRED, ...published })).not.toThrow();
});

test('a setting is read from a file, which must exist, and not be set twice', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'meskot-settings-')), 'key.pem');
  writeFileSync(path, `${privateKey}\n`);
  const { TELEBIRR_MERCHANT_PRIVATE_KEY: _, ...others } = TELEBIRR;
  const fromFile = { ...others, TELEBIRR_MERCHANT_PRIVATE_KEY_FILE: path };
  expect(providersOf(fromFile).TELEBIRR.missing).toEqual([]);
  expect(() => providersOf({ ...fromFile, ...TELEBIRR })).toThrow('must not both be set');
  expect(() => providersOf({ ...others, TELEBIRR_MERCHANT_PRIVATE_KEY_FILE: `${path}.none` })).toThrow(
    'TELEBIRR_MERCHANT_PRIVATE_KEY_FILE cannot be read',
  );
});

test('a private key in one line has \\n for its line breaks', () => {
  const inOneLine = { ...TELEBIRR, TELEBIRR_MERCHANT_PRIVATE_KEY: privateKey.replaceAll('\n', String.raw`\n`) };
  expect(providersOf(inOneLine).TELEBIRR.payIn?.['merchantPrivateKey']).toBe(privateKey.trim());
});
