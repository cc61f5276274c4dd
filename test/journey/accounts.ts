import { generateKeyPairSync, randomBytes } from 'node:crypto';

import type { Accounts } from '../../src/sandbox/simulator/accounts.ts';

/** Live accounts of a company: the settings of the service, their other half at the providers, and what must stay secret. */
export type LiveAccounts = {
  settings: Record<string, string>;
  accounts: Accounts;
  secrets: Record<string, string>;
  /** A key without an operator. */
  foreignPrivateKey: string;
};

const newKeyPair = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
const random = (): string => randomBytes(12).toString('hex');
const till = (code: string) => ({ companyName: 'Meskot', tillCode: code, token: random(), hashKey: random() });
/** A line of the middle of a key, as it would show in a log. */
const bodyOf = (pem: string): string => pem.split('\n')[5] ?? 'no key';

/** New keys and accounts at three providers that answer below this address. */
export function createLiveAccounts(baseUrl: string): LiveAccounts {
  const [merchant, provider] = [newKeyPair(), newKeyPair()];
  const telebirr = { appKey: random(), appSecret: random(), appId: '8000000000000001', merchantCode: '800001' };
  const signatureScheme = 'PSS';
  const [cbeBirr, awash] = [till('900001'), till('900002')];
  return {
    foreignPrivateKey: newKeyPair().privateKey,
    accounts: {
      TELEBIRR: {
        ...telebirr,
        signatureScheme,
        merchantPublicKey: merchant.publicKey,
        providerPrivateKey: provider.privateKey,
      },
      CBE_BIRR: cbeBirr,
      AWASH: awash,
    },
    settings: {
      TELEBIRR_BASE_URL: `${baseUrl}/telebirr`,
      TELEBIRR_PAY_PAGE_URL: `${baseUrl}/telebirr/payment/web/paygate`,
      TELEBIRR_APP_KEY: telebirr.appKey,
      TELEBIRR_APP_SECRET: telebirr.appSecret,
      TELEBIRR_APP_ID: telebirr.appId,
      TELEBIRR_MERCHANT_CODE: telebirr.merchantCode,
      TELEBIRR_MERCHANT_PRIVATE_KEY: merchant.privateKey,
      TELEBIRR_PROVIDER_PUBLIC_KEY: provider.publicKey,
      TELEBIRR_SIGNATURE_SCHEME: signatureScheme,
      TELEBIRR_PAYOUTS: 'true',
      TELEBIRR_REFUNDS: 'true',
      ...settingsOfTill('CBE_BIRR', `${baseUrl}/cbebirr`, cbeBirr),
      ...settingsOfTill('AWASH', `${baseUrl}/awash`, awash),
    },
    secrets: {
      'app key': telebirr.appKey,
      'app secret': telebirr.appSecret,
      'private key': bodyOf(merchant.privateKey),
      'token of CBE Birr': cbeBirr.token,
      'hash key of CBE Birr': cbeBirr.hashKey,
      'token of Awash': awash.token,
      'hash key of Awash': awash.hashKey,
    },
  };
}

function settingsOfTill(channel: string, baseUrl: string, account: ReturnType<typeof till>): Record<string, string> {
  return {
    [`${channel}_BASE_URL`]: baseUrl,
    [`${channel}_COMPANY_NAME`]: account.companyName,
    [`${channel}_TILL_CODE`]: account.tillCode,
    [`${channel}_TOKEN`]: account.token,
    [`${channel}_HASH_KEY`]: account.hashKey,
  };
}
