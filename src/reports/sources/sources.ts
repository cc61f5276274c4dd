import type { ReportKind } from '../states.ts';
import { balanceSource } from './balance.ts';
import { paymentsSource } from './payments.ts';
import { settlementsSource } from './settlements.ts';
import type { Source } from './source.ts';
import { withdrawalsSource } from './withdrawals.ts';

/** The source of each kind of report. */
export const SOURCES = {
  payments: paymentsSource,
  withdrawals: withdrawalsSource,
  settlements: settlementsSource,
  balance: balanceSource,
} as const satisfies Record<ReportKind, Source>;
