import { withdrawalExport, type ExportedWithdrawal as Row } from '../../withdrawals/export.ts';
import { WITHDRAWAL_STATUSES } from '../../withdrawals/states.ts';
import { dayColumns, PAYOUT_AMOUNTS, textColumns, timeColumns } from './columns.ts';
import { createListSource } from './source.ts';

/** Withdrawals, as their list presents them. */
export const withdrawalsSource = createListSource<Row>({
  statuses: WITHDRAWAL_STATUSES,
  takesChannel: true,
  columns: [
    { key: 'withdrawalRequestId', heading: 'Withdrawal ID', cell: (row) => row.id },
    ...textColumns<Row>('requestId'),
    ...PAYOUT_AMOUNTS,
    ...textColumns<Row>('currency', 'channel', 'destination', 'accountName', 'status'),
    ...dayColumns<Row>('requestDate', 'Request Date', (row) => row.requestedAt),
    ...timeColumns<Row>('requestedAt', 'Requested at', (row) => row.requestedAt),
    ...textColumns<Row>('reason', 'providerReference'),
    ...timeColumns<Row>('completedAt', 'Completed at', (row) => row.completedAt),
    ...timeColumns<Row>('reversedAt', 'Reversed at', (row) => row.reversedAt),
    { key: 'failureCode', heading: 'Failure Code', cell: (row) => row.failure?.code ?? null },
  ],
  ...withdrawalExport,
});
