import { ledgerChecks } from '../../src/app/ledger-invariants.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import type { Database } from '../../src/lib/db.ts';

/** The last assertion of tests with money: no invariant of `meskot ledger verify` is violated. */
export async function expectLedgerHolds(db: Database): Promise<void> {
  expect(await verifyLedger(db, ledgerChecks)).toEqual([]);
}
