import { withdrawalExport, type ExportedWithdrawal as Row } from '../../withdrawals/export.ts';
import type { WithdrawalFilter } from '../../withdrawals/queries.ts';
import { WITHDRAWAL_STATUSES, type WithdrawalStatus } from '../../withdrawals/states.ts';
import { dayColumns, PAYOUT_AMOUNTS, timeColumns } from './columns.ts';
import { createListSource } from './source.ts';

/** Withdrawals, as their list presents them. */
export const withdrawalsSource = createListSource<Row, WithdrawalFilter>({
  statuses: WITHDRAWAL_STATUSES,
  takesChannel: true,
  columns: [
    { key: 'withdrawalRequestId', heading: 'Withdrawal ID', cell: (row) => row.id },
    { key: 'requestId', heading: 'Request ID', cell: (row) => row.requestId },
    ...PAYOUT_AMOUNTS,
    { key: 'currency', heading: 'Currency', cell: (row) => row.currency },
    { key: 'channel', heading: 'Channel', cell: (row) => row.channel },
    { key: 'destination', heading: 'Destination', cell: (row) => row.destination },
    { key: 'accountName', heading: 'Account Name', cell: (row) => row.accountName },
    { key: 'status', heading: 'Status', cell: (row) => row.status },
    ...dayColumns<Row>('requestDate', 'Request Date', (row) => row.requestedAt),
    ...timeColumns<Row>('requestedAt', 'Requested at', (row) => row.requestedAt),
    { key: 'reason', heading: 'Reason', cell: (row) => row.reason },
    { key: 'providerReference', heading: 'Provider Reference', cell: (row) => row.providerReference },
    ...timeColumns<Row>('completedAt', 'Completed at', (row) => row.completedAt),
    ...timeColumns<Row>('reversedAt', 'Reversed at', (row) => row.reversedAt),
    { key: 'failureCode', heading: 'Failure Code', cell: (row) => row.failure?.code ?? null },
  ],
  listFilter: ({ statuses, channel, ...rest }) => ({
    ...rest,
    // Validated against WITHDRAWAL_STATUSES.
    statuses: statuses as WithdrawalStatus[] | null,
    channel: channel ?? undefined,
  }),
  ...withdrawalExport,
});
