import { createPayoutExport, type ExportedPayout } from '../ledger/payout-list.ts';
import { maskedInSql } from '../lib/mask.ts';
import type { WithdrawalRow } from './queries.ts';

type Columns = Pick<
  WithdrawalRow,
  | 'id'
  | 'requestId'
  | 'amountSantim'
  | 'currency'
  | 'channel'
  | 'accountName'
  | 'reason'
  | 'status'
  | 'providerReference'
  | 'failure'
  | 'requestedAt'
  | 'completedAt'
  | 'reversedAt'
> & {
  /** The last four digits of the phone, or bank and account. */
  destination: string;
};

/** A withdrawal as reports list it. */
export type ExportedWithdrawal = ExportedPayout<Columns>;

/** The withdrawals of the list, for reports. */
export const withdrawalExport = createPayoutExport<Columns>({
  table: 'withdrawal',
  columns: `id, request_id, amount_santim, currency, channel, account_name, reason, status, provider_reference, failure,
            requested_at, completed_at, reversed_at,
            concat_ws(' ', bank_code, ${maskedInSql('coalesce(phone, account_number)')}) AS destination`,
  groupBy: 'status, channel',
  isPaid: `status = 'SUCCESS'`,
  isOpen: `status = 'PENDING'`,
  paid: 'coalesce(paid_santim, amount_santim)',
  reference: 'provider_reference',
});
