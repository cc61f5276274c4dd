import { ledgerChecks } from '../../src/app/ledger-invariants.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import type { Database } from '../../src/lib/db.ts';

/** What every test of money ends with: all that `meskot ledger verify` looks at holds. */
export async function expectLedgerHolds(db: Database): Promise<void> {
  expect(await verifyLedger(db, ledgerChecks)).toEqual([]);
}
