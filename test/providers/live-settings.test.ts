import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readConfig, type Variables } from '../../src/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import type { Channel } from '../../src/merchants/channels/channel.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';

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
  [{ TELEBIRR_SIGNATURE_SCHEME: 'MD5' }, 'TELEBIRR_SIGNATURE_SCHEME must be one of PSS, PKCS1, got "MD5"'],
  [{ TELEBIRR_TIMEOUT_MS: '5000' }, 'TELEBIRR_TIMEOUT_MS must be a whole number from 500 to 4500, got "5000"'],
  [{ TELEBIRR_CALLBACK_CIDRS: '10.0.0.0/33' }, 'TELEBIRR_CALLBACK_CIDRS must be networks'],
  [{ CBE_BIRR_BASE_URL: 'cbe' }, 'CBE_BIRR_BASE_URL must be a full address'],
  [{ CBE_BIRR_PAYOUTS: 'yes' }, 'CBE_BIRR_PAYOUTS must be one of true, false'],
])('%j is rejected with the allowed values, without a secret', (changes, message) => {
  const read = () => providersOf({ ...TELEBIRR, ...CBE_BIRR, ...changes });
  expect(read).toThrow(message);
  expect(read).not.toThrow('planted');
});

test('local mode takes no real money, and production sends no credentials in the clear', () => {
  expect(() => providersOf({ ...CBE_BIRR, CBE_BIRR_BASE_URL: 'https://cbe.example.et' })).toThrow(
    'MESKOT_MODE=production',
  );
  const production = { ...REQUIRED, MESKOT_MODE: 'production', ...CBE_BIRR };
  expect(() => readConfig(production, { usesSecrets: false })).toThrow('CBE_BIRR_BASE_URL must be https in production');
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
  expect(providersOf(inOneLine).TELEBIRR.payIn?.merchantPrivateKey).toBe(privateKey.trim());
});
