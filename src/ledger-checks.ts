import { LEDGER_CHECKS, type LedgerCheck } from './ledger/verify.ts';
import { TRANSACTION_CHECKS } from './transactions/ledger-checks.ts';
import { WITHDRAWAL_CHECKS } from './withdrawals/ledger-checks.ts';

/** All that must hold of the ledger and of what it stands for, slice by slice. */
export const ledgerChecks: readonly LedgerCheck[] = [...LEDGER_CHECKS, ...TRANSACTION_CHECKS, ...WITHDRAWAL_CHECKS];
