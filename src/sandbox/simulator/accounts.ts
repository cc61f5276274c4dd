import { readFileSync } from 'node:fs';

import { z } from 'zod';

import { SIMULATED, type ByProtocol } from './channels.ts';
import { COUNTERPARTS, type AccountBy } from './counterparts.ts';

/** The account of the one merchant that the simulated providers know, per channel. */
export type Accounts = ByProtocol<AccountBy>;

const Accounts = z.strictObject(
  Object.fromEntries(SIMULATED.map(({ id, protocol }) => [id, COUNTERPARTS[protocol].account])),
);

export const SANDBOX_ACCOUNTS = Object.fromEntries(
  SIMULATED.map(({ id, protocol, sandbox }) => [id, COUNTERPARTS[protocol].sandboxAccount(sandbox.credentials)]),
) as Accounts;

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
  if (data) return data as Accounts;
  const problems = error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`The accounts of SIMULATOR_ACCOUNTS_PATH are wrong:\n${problems.join('\n')}`);
}
