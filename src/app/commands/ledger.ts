import { verifyLedger, type LedgerInvariant } from '../../ledger/verify.ts';
import { COMMON_OPTIONS, runNoun, UsageError, type Verb, type Write } from '../../lib/command-line.ts';
import type { Database } from '../../lib/db.ts';

/** What --help prints. */
export const LEDGER_USAGE = `meskot ledger verify
Looks at every journal, entry and balance, and at what they stand for. Exit code 0: all holds; 1: something is broken,
and the first journal to look at is named. --json prints JSON.
`;

export type LedgerCommandDeps = {
  db: Database;
  /** All that must hold, of every slice that books. */
  checks: readonly LedgerInvariant[];
  write: Write;
};

/** Runs `meskot ledger …`; `args` without the two words. Exit code: 0 all holds, 1 something is broken, 2 wrong usage. */
export async function runLedgerCommand(args: readonly string[], deps: LedgerCommandDeps): Promise<number> {
  let isBroken = false;
  const verify: Verb<typeof COMMON_OPTIONS> = async ({ args: words }) => {
    if (words.length > 0) throw new UsageError(`verify takes no "${words.join(' ')}".`);
    const broken = await verifyLedger(deps.db, deps.checks);
    isBroken = broken.length > 0;
    return deps.checks.map(({ description }) => {
      const found = broken.find(({ check }) => check === description);
      return {
        check: description,
        holds: found ? 'BROKEN' : 'yes',
        broken: found?.count ?? 0,
        first: found?.about ?? null,
        journal: found?.journalId ?? null,
      };
    });
  };
  const code = await runNoun(
    {
      name: 'ledger',
      usage: LEDGER_USAGE,
      options: COMMON_OPTIONS,
      verbs: new Map([['verify', verify]]),
      columns: ['holds', 'check', 'first', 'journal'],
      write: deps.write,
    },
    args,
  );
  return isBroken ? 1 : code;
}
