import { createPayoutExport, type ExportedPayout } from '../ledger/payout-list.ts';
import { snakeCase } from '../lib/db.ts';
import { maskedInSql } from '../lib/mask.ts';
import type { WithdrawalRow } from './queries.ts';

const COLUMNS = [
  'id',
  'requestId',
  'amountSantim',
  'currency',
  'channel',
  'accountName',
  'reason',
  'status',
  'providerReference',
  'failure',
  'requestedAt',
  'completedAt',
  'reversedAt',
] as const;
/** `destination`: the last four digits of the phone, or bank and account. */
type Columns = Pick<WithdrawalRow, (typeof COLUMNS)[number]> & { destination: string };

/** A withdrawal as reports list it. */
export type ExportedWithdrawal = ExportedPayout<Columns>;

/** The withdrawals of the list, for reports. */
export const withdrawalExport = createPayoutExport<Columns>({
  table: 'withdrawal',
  columns: `${COLUMNS.map(snakeCase).join(', ')},
            concat_ws(' ', bank_code, ${maskedInSql('coalesce(phone, account_number)')}) AS destination`,
  groupBy: 'status, channel',
  isPaid: `status = 'SUCCESS'`,
  isOpen: `status = 'PENDING'`,
  paid: 'coalesce(paid_santim, amount_santim)',
  reference: 'provider_reference',
});
