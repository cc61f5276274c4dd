import { TRANSACTION_THROUGH } from '../../merchants/channels/channel.ts';
import {
  countTransactions,
  exportTransactions,
  groupTransactions,
  type ExportedTransaction as Row,
} from '../../payments/export.ts';
import type { TransactionFilter } from '../../payments/queries.ts';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../payments/states.ts';
import { dayColumns, textColumns, timeColumns } from './columns.ts';
import { createListSource, type ReportFilter } from './source.ts';

/** Payments: the columns of the transaction list in its order, then further fields. */
export const paymentsSource = createListSource<Row>({
  statuses: TRANSACTION_STATUSES,
  takesChannel: true,
  columns: [
    ...textColumns<Row>('checkoutOrderNo'),
    { key: 'amount', heading: 'Amount', amount: 'amountSantim' },
    ...textColumns<Row>('currency'),
    {
      key: 'transactionThrough',
      heading: 'Transaction Through',
      cell: (row) => row.channel && TRANSACTION_THROUGH[row.channel],
    },
    ...dayColumns<Row>('transactionDate', 'Transaction Date', (row) => row.createdAt),
    ...textColumns<Row>('type', 'status'),
    ...timeColumns<Row>('createdAt', 'Created at', (row) => row.createdAt),
    { key: 'transactionId', heading: 'Transaction ID', cell: (row) => row.id },
    ...textColumns<Row>('sessionId', 'customerName', 'customerEmail', 'customerPhone'),
    { key: 'receivedAmount', heading: 'Received Amount', amount: 'receivedSantim' },
    { key: 'fee', heading: 'Fee', amount: 'feeSantim' },
    { key: 'feeTax', heading: 'Fee Tax', amount: 'feeTaxSantim' },
    { key: 'netAmount', heading: 'Net Amount', amount: 'netSantim' },
    ...textColumns<Row>('providerReference'),
    ...timeColumns<Row>('completedAt', 'Completed at', (row) => row.completedAt),
    { key: 'failureCode', heading: 'Failure Code', cell: (row) => row.failure?.code ?? null },
    { key: 'lateConfirmation', heading: 'Late Confirmation', cell: (row) => (row.confirmedLate ? 'yes' : null) },
    { key: 'held', heading: 'Held', cell: (row) => row.holdReason },
  ],
  count: (db, filter, most) => countTransactions(db, listed(filter), most),
  read: (db, filter, part) => exportTransactions(db, listed(filter), part),
  group: (db, filter) => groupTransactions(db, listed(filter)),
});

/** The filter of the list. */
function listed({ statuses, channel, ...rest }: ReportFilter): TransactionFilter {
  const transactionThrough = channel ? TRANSACTION_THROUGH[channel] : undefined;
  // Statuses are validated against TRANSACTION_STATUSES.
  return { ...rest, statuses: statuses as TransactionStatus[] | null, currency: 'ETB', transactionThrough };
}
