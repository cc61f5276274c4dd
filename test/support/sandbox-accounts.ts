import { publicKeyOf, SANDBOX_MERCHANT_KEY, SANDBOX_PROVIDER_KEY } from '../../src/lib/sandbox-keys.ts';
import { awash } from '../../src/providers/awash/manifest.ts';
import { cbeBirr } from '../../src/providers/cbe-birr/manifest.ts';
import { telebirr } from '../../src/providers/telebirr/manifest.ts';

/** The sandbox's account at telebirr, both halves of its keys. */
export const SANDBOX_TELEBIRR = {
  ...telebirr.sandbox.credentials,
  signatureScheme: 'PSS',
  merchantPrivateKey: SANDBOX_MERCHANT_KEY,
  merchantPublicKey: publicKeyOf(SANDBOX_MERCHANT_KEY),
  providerPrivateKey: SANDBOX_PROVIDER_KEY,
  providerPublicKey: publicKeyOf(SANDBOX_PROVIDER_KEY),
} as const;
export const SANDBOX_CBE_BIRR = cbeBirr.sandbox.credentials;
export const SANDBOX_AWASH = awash.sandbox.credentials;

/** The path of each provider below the simulator's address. */
export const SANDBOX_PATHS = {
  TELEBIRR: telebirr.sandbox.path,
  CBE_BIRR: cbeBirr.sandbox.path,
  AWASH: awash.sandbox.path,
} as const;
