import { readFileSync } from 'node:fs';

import { z } from 'zod';

import { SANDBOX_AWASH, SANDBOX_CBE_BIRR, SANDBOX_TELEBIRR } from '../../lib/sandbox-providers.ts';

const text = z.string().min(1).max(500);
const pem = z.string().startsWith('-----BEGIN ').max(50_000);

const TelebirrAccount = z.strictObject({
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

const TillAccount = z.strictObject({ companyName: text, tillCode: text, token: text, hashKey: text });
export type TillAccount = z.output<typeof TillAccount>;

const Accounts = z.strictObject({ TELEBIRR: TelebirrAccount, CBE_BIRR: TillAccount, AWASH: TillAccount });
/** The account of the one merchant that the simulated providers know, per channel. */
export type Accounts = z.output<typeof Accounts>;

export const SANDBOX_ACCOUNTS: Accounts = {
  TELEBIRR: SANDBOX_TELEBIRR,
  CBE_BIRR: SANDBOX_CBE_BIRR,
  AWASH: SANDBOX_AWASH,
};

/** Accounts from a JSON file, by channel. Throws with what is wrong in it, without its values. */
export function readAccounts(path: string): Accounts {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message;
    throw new Error(`SIMULATOR_ACCOUNTS_PATH cannot be read: ${reason}`, { cause: error });
  }
  const { data, error } = Accounts.safeParse(content);
  if (data) return data;
  const problems = error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`The accounts of SIMULATOR_ACCOUNTS_PATH are wrong:\n${problems.join('\n')}`);
}
