import { verifyLedger, type LedgerInvariant } from '../../ledger/verify.ts';
import type { Database } from '../../lib/db.ts';
import { CommandError, EXIT } from './api-client.ts';
import { printData, type Terminal } from './print.ts';

type Deps = { db: Database; checks: readonly LedgerInvariant[]; terminal: Terminal };

/**
 * `meskot ledger verify`: checks every journal, entry and balance, and prints the result of each invariant. Throws
 * CommandError if one is violated.
 */
export async function verify({ db, checks, terminal }: Deps, { json = false }: { json?: boolean }): Promise<void> {
  const violated = await verifyLedger(db, checks);
  const results = checks.map(({ description }) => {
    const found = violated.find(({ check }) => check === description);
    return {
      check: description,
      holds: found ? 'BROKEN' : 'yes',
      broken: found?.count ?? 0,
      first: found?.about ?? null,
      journal: found?.journalId ?? null,
    };
  });
  printData(terminal, results, { json, columns: ['holds', 'first', 'journal', 'check'] });
  if (violated.length > 0) throw new CommandError(EXIT.failed, `${violated.length} checks are broken.`);
}
