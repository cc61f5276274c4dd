import { z } from 'zod';

import { publicKeyOf, SANDBOX_MERCHANT_KEY, SANDBOX_PROVIDER_KEY } from '../../../lib/sandbox-keys.ts';

const text = z.string().min(1).max(500);
const pem = z.string().startsWith('-----BEGIN ').max(50_000);

/** A merchant's account, as telebirr knows it. */
export const TelebirrAccount = z.strictObject({
  appKey: text,
  appSecret: text,
  appId: text,
  merchantCode: text,
  signatureScheme: z.enum(['PSS', 'PKCS1']),
  /** Verifies the merchant's messages. */
  merchantPublicKey: pem,
  /** Signs telebirr's own. */
  providerPrivateKey: pem,
});
export type TelebirrAccount = z.output<typeof TelebirrAccount>;

/** The sandbox's account. */
export const telebirrSandboxAccount = (credentials: Readonly<Record<string, string>>): TelebirrAccount =>
  TelebirrAccount.parse({
    ...credentials,
    signatureScheme: 'PSS',
    merchantPublicKey: publicKeyOf(SANDBOX_MERCHANT_KEY),
    providerPrivateKey: SANDBOX_PROVIDER_KEY,
  });
