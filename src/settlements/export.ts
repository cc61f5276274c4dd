import { createPayoutExport, type ExportedPayout } from '../ledger/payout-list.ts';
import { maskedInSql } from '../lib/mask.ts';
import type { SettlementRow } from './queries.ts';

/** A settlement as reports list it; `accountNumber` has only the last four digits. */
export type ExportedSettlement = ExportedPayout<SettlementRow>;

/** The settlements of the list, for reports. */
export const settlementExport = createPayoutExport<SettlementRow>({
  table: 'settlement',
  columns: `*, ${maskedInSql('account_number')} AS account_number`,
  groupBy: 'status',
  isPaid: `status = 'COMPLETED'`,
  isOpen: `status IN ('REQUESTED', 'APPROVED', 'PROCESSING')`,
  paid: 'amount_santim',
  reference: 'bank_reference',
});
