import type { ReportKind } from '../states.ts';
import { balanceReport } from './balance.ts';
import { paymentsReport } from './payments.ts';
import { settlementsReport } from './settlements.ts';
import type { Source } from './source.ts';
import { withdrawalsReport } from './withdrawals.ts';

/** Where the rows of each kind come from. */
export const SOURCES: Readonly<Record<ReportKind, Source>> = {
  payments: paymentsReport,
  withdrawals: withdrawalsReport,
  settlements: settlementsReport,
  balance: balanceReport,
};
