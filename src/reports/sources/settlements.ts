import { settlementExport, type ExportedSettlement as Row } from '../../settlements/export.ts';
import { SETTLEMENT_STATUSES } from '../../settlements/states.ts';
import { dayColumns, PAYOUT_AMOUNTS, textColumns, timeColumns } from './columns.ts';
import { createListSource } from './source.ts';

/** Settlements, as their list presents them. */
export const settlementsSource = createListSource<Row>({
  statuses: SETTLEMENT_STATUSES,
  takesChannel: false,
  columns: [
    { key: 'settlementId', heading: 'Settlement ID', cell: (row) => row.id },
    ...textColumns<Row>('requestId'),
    ...PAYOUT_AMOUNTS,
    ...textColumns<Row>('currency'),
    { key: 'bank', heading: 'Bank', cell: (row) => row.bankCode },
    ...textColumns<Row>('accountNumber', 'accountName', 'status'),
    ...dayColumns<Row>('requestDate', 'Request Date', (row) => row.requestedAt),
    ...timeColumns<Row>('requestedAt', 'Requested at', (row) => row.requestedAt),
    { key: 'effectiveDate', heading: 'Effective Date', as: 'day', cell: (row) => row.effectiveDate },
    { key: 'expectedBy', heading: 'Expected by', as: 'day', cell: (row) => row.expectedUntil },
    ...timeColumns<Row>('sentAt', 'Sent at', (row) => row.sentAt),
    ...timeColumns<Row>('creditedAt', 'Credited at', (row) => row.creditedAt),
    ...timeColumns<Row>('returnedAt', 'Returned at', (row) => row.returnedAt),
    ...timeColumns<Row>('completedAt', 'Completed at', (row) => row.completedAt),
    ...textColumns<Row>('bankReference'),
    { key: 'failureCode', heading: 'Failure Code', cell: (row) => row.failure?.code ?? null },
  ],
  ...settlementExport,
});
