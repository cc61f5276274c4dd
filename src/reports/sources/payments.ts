import type { Queryable } from '../../lib/db.ts';
import { TRANSACTION_THROUGH } from '../../merchants/channels/channel.ts';
import {
  countTransactions,
  exportTransactions,
  groupTransactions,
  type ExportedTransaction,
} from '../../payments/export.ts';
import type { TransactionFilter } from '../../payments/queries.ts';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../payments/states.ts';
import { dayColumns, timeColumns, type Column } from './columns.ts';
import { sumGroups, createSource, PAYMENT_TOTALS, type Group, type ReportFilter, upTo } from './source.ts';

type Row = ExportedTransaction;

/** The transaction list's columns in its order, then what else is known of a payment. */
const COLUMNS: readonly Column<Row>[] = [
  { key: 'checkoutOrderNo', heading: 'Checkout Order No', cell: (row) => row.checkoutOrderNo },
  { key: 'amount', heading: 'Amount', cell: (row) => row.amountSantim },
  { key: 'currency', heading: 'Currency', cell: (row) => row.currency },
  {
    key: 'transactionThrough',
    heading: 'Transaction Through',
    cell: (row) => row.channel && TRANSACTION_THROUGH[row.channel],
  },
  ...dayColumns<Row>('transactionDate', 'Transaction Date', (row) => row.createdAt),
  { key: 'type', heading: 'Type', cell: (row) => row.type },
  { key: 'status', heading: 'Status', cell: (row) => row.status },
  ...timeColumns<Row>('createdAt', 'Created at', (row) => row.createdAt),
  { key: 'transactionId', heading: 'Transaction ID', cell: (row) => row.id },
  { key: 'sessionId', heading: 'Session ID', cell: (row) => row.sessionId },
  { key: 'customerName', heading: 'Customer Name', cell: (row) => row.customerName },
  { key: 'customerEmail', heading: 'Customer Email', cell: (row) => row.customerEmail },
  { key: 'customerPhone', heading: 'Customer Phone', cell: (row) => row.customerPhone },
  { key: 'receivedAmount', heading: 'Received Amount', cell: (row) => row.receivedSantim },
  { key: 'fee', heading: 'Fee', cell: (row) => row.feeSantim },
  { key: 'feeTax', heading: 'Fee Tax', cell: (row) => row.feeTaxSantim },
  { key: 'netAmount', heading: 'Net Amount', cell: (row) => row.netSantim },
  { key: 'providerReference', heading: 'Provider Reference', cell: (row) => row.providerReference },
  ...timeColumns<Row>('completedAt', 'Completed at', (row) => row.completedAt),
  { key: 'failureCode', heading: 'Failure Code', cell: (row) => row.failure?.code ?? null },
  { key: 'lateConfirmation', heading: 'Late Confirmation', cell: (row) => (row.confirmedLate ? 'yes' : null) },
  { key: 'held', heading: 'Held', cell: (row) => row.holdReason },
];

/** Payments, as the transaction list shows them. */
export const paymentsReport = createSource<Row>({
  statuses: TRANSACTION_STATUSES,
  takesChannel: true,
  columns: COLUMNS,
  count: (db, filter, most) => countTransactions(db, asListed(filter), most),
  sum: async (db, filter) => sumGroups(await groupPayments(db, filter), PAYMENT_TOTALS),
  read: (db, filter, part) => exportTransactions(db, asListed(upTo(filter, part.after)), part),
  positionOf: ({ position, id }) => ({ at: position, id }),
});

/** Payments added up by status and channel. */
export async function groupPayments(db: Queryable, filter: ReportFilter): Promise<Group[]> {
  const groups = await groupTransactions(db, asListed(filter));
  return groups.map(({ status, channel, count, ...sums }) => ({
    status,
    channel,
    count,
    totals: {
      amount: sums.amountSantim,
      receivedAmount: sums.receivedSantim,
      fee: sums.feeSantim,
      feeTax: sums.feeTaxSantim,
      netAmount: sums.netSantim,
    },
  }));
}

function asListed({ statuses, channel, ...rest }: ReportFilter): TransactionFilter {
  return {
    ...rest,
    // Checked at the door against the same list.
    statuses: statuses as TransactionStatus[] | null,
    currency: 'ETB',
    transactionThrough: channel ? TRANSACTION_THROUGH[channel] : undefined,
  };
}
