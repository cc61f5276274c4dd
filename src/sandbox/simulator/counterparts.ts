import type { z } from 'zod';

import { TillAccount } from './cbe-birr/account.ts';
import { createCbeBirr } from './cbe-birr/protocol.ts';
import type { Simulated, SimulatedProtocol } from './channels.ts';
import type { Protocol, ProtocolDeps } from './protocol.ts';
import { TelebirrAccount, telebirrSandboxAccount } from './telebirr/account.ts';
import { createTelebirr } from './telebirr/protocol.ts';

/** What each provider knows of an account. */
export type AccountBy = { telebirr: TelebirrAccount; 'cbe-birr': TillAccount };

type Counterpart<Account> = {
  account: z.ZodType<Account>;
  /** The sandbox's account, whose texts are those of the manifest. */
  sandboxAccount: (credentials: Simulated['sandbox']['credentials']) => Account;
  create: (deps: ProtocolDeps, provider: Simulated, account: Account) => Protocol;
};

/** The simulated messages, by the folder that has them here and at our adapters. */
export const COUNTERPARTS: { [Name in SimulatedProtocol]: Counterpart<AccountBy[Name]> } = {
  telebirr: { account: TelebirrAccount, sandboxAccount: telebirrSandboxAccount, create: createTelebirr },
  'cbe-birr': { account: TillAccount, sandboxAccount: (till) => TillAccount.parse(till), create: createCbeBirr },
};
