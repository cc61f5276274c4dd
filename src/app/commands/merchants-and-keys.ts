import type { Config } from '../../config.ts';
import { DEMO_OPERATOR } from '../../demo/seed/operator.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Write } from '../../lib/command-line.ts';
import type { Database } from '../../lib/db.ts';
import { createTransactionRunner } from '../../outbox/record.ts';
import { runKeysCommand } from './keys.ts';
import { runMerchantsCommand } from './merchants.ts';
import { reencryptAll } from './reencrypt.ts';
import { createTerminalCommands } from './terminal.ts';

type Parts = { db: Database; config: Pick<Config, 'API_KEY_PEPPER'>; write: Write };
type KeyParts = Parts & { config: Pick<Config, 'keyRing' | 'KYC_DOCUMENTS_DIR'> };

/** Runs `meskot merchants …`; `args` without the two words. Returns the exit code. */
export async function runMerchants(args: readonly string[], parts: Parts): Promise<number> {
  return runMerchantsCommand(args, { ...parts, ...terminalCommandsOf(parts) });
}

/** Runs `meskot keys …`; `args` without the two words. Returns the exit code (keys/cli.ts). */
export async function runKeys(args: readonly string[], parts: KeyParts): Promise<number> {
  const reencrypt = async (print: (line: string) => void) => reencryptAll(parts, print);
  return runKeysCommand(args, { ...parts, ...terminalCommandsOf(parts), reencrypt });
}

function terminalCommandsOf({ db, config }: Parts) {
  // What it tells Temporal the worker takes from the outbox.
  const runInTransaction = createTransactionRunner(db, () => {});
  const demoOperatorId = DEMO_OPERATOR.id;
  return createTerminalCommands({
    db,
    runInTransaction,
    clock: systemClock,
    pepper: config.API_KEY_PEPPER,
    demoOperatorId,
  });
}
