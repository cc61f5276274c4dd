import {
  SANDBOX_MERCHANT_PRIVATE_KEY,
  SANDBOX_MERCHANT_PUBLIC_KEY,
  SANDBOX_TELEBIRR_PRIVATE_KEY,
  SANDBOX_TELEBIRR_PUBLIC_KEY,
} from './sandbox-keys.ts';

/** What a payment from a sandbox phone does. */
export type SandboxBehaviour =
  | 'approve'
  | 'decline'
  | 'insufficient-funds'
  | 'never'
  | 'approve-slowly'
  | 'approve-after-expiry'
  | 'approve-without-callback'
  | 'approve-wrong-amount';

type SandboxPhone = { phone: string; behaviour: SandboxBehaviour; outcome: string };

/** The only numbers that pay in the sandbox: shown on the page, in the docs and in the refusal of any other number. */
export const SANDBOX_PHONES: readonly SandboxPhone[] = [
  { phone: '0911000001', behaviour: 'approve', outcome: 'approved within a second' },
  { phone: '0911000002', behaviour: 'decline', outcome: 'declined' },
  { phone: '0911000003', behaviour: 'insufficient-funds', outcome: 'insufficient funds' },
  { phone: '0911000004', behaviour: 'never', outcome: 'never answers' },
  { phone: '0911000005', behaviour: 'approve-slowly', outcome: 'approved after 2 minutes' },
  { phone: '0911000006', behaviour: 'approve-after-expiry', outcome: 'approved after the session expired' },
  {
    phone: '0911000007',
    behaviour: 'approve-without-callback',
    outcome: 'approved, callback lost (found by polling)',
  },
  { phone: '0911000008', behaviour: 'approve-wrong-amount', outcome: 'approved with a wrong amount' },
];

/** The sandbox phone written as 09…, 9…, 2519… or +2519…; null for any other number. */
export function findSandboxPhone(phone: string): SandboxPhone | null {
  const local = `0${phone.replace(/^(\+?251|0)/, '')}`;
  return SANDBOX_PHONES.find((known) => known.phone === local) ?? null;
}

/** Where each provider lives below the simulator's own address. */
export const SANDBOX_PATHS = { TELEBIRR: '/telebirr', CBE_BIRR: '/cbebirr', AWASH: '/awash' } as const;

/** telebirr as the sandbox knows it; each side takes its own half of the keys. */
export const SANDBOX_TELEBIRR = {
  appKey: 'c4182ef8-9249-458a-985e-06d191f4d505',
  appSecret: 'sandbox-telebirr-app-secret',
  appId: '1000000000000001',
  merchantCode: '100001',
  signatureScheme: 'PSS',
  merchantPrivateKey: SANDBOX_MERCHANT_PRIVATE_KEY,
  merchantPublicKey: SANDBOX_MERCHANT_PUBLIC_KEY,
  providerPrivateKey: SANDBOX_TELEBIRR_PRIVATE_KEY,
  providerPublicKey: SANDBOX_TELEBIRR_PUBLIC_KEY,
} as const;

/** CBE Birr as the sandbox knows it. */
export const SANDBOX_CBE_BIRR = {
  companyName: 'Meskot',
  tillCode: '200001',
  token: 'sandbox-cbebirr-token',
  hashKey: 'sandbox-cbebirr-hash-key',
} as const;

/** Awash as the sandbox knows it. */
export const SANDBOX_AWASH = { merchantId: '300001', secret: 'sandbox-awash-secret' } as const;
