import { formatBirr } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { Day, Time } from '../../ui/time.tsx';
import { StatusBadge } from '../../ui/transaction-state.tsx';
import type { TransactionRow } from '../routes.ts';
import { text } from './text.ts';

const birr = (amount: number | undefined): string => (amount === undefined ? '' : formatBirr(amount));
type TransactionColumn = Column<TransactionRow>;

/** The columns that everybody sees, in the contract's order (seed section 1.4). */
export const COLUMNS: readonly TransactionColumn[] = [
  { id: 'checkoutOrderNo', header: text.checkoutOrderNo, cell: (row) => row.checkoutOrderNo },
  {
    id: 'amount',
    header: text.amount,
    sortBy: 'amount',
    align: 'end',
    narrow: 'second',
    cell: (row) => formatBirr(row.amount),
  },
  { id: 'currency', header: text.currency, narrow: 'none', cell: (row) => row.currency },
  {
    id: 'transactionThrough',
    header: text.transactionThrough,
    cell: (row) => row.transactionThrough ?? <span className="text-quiet">{text.notChosen}</span>,
  },
  {
    id: 'transactionDate',
    header: text.transactionDate,
    narrow: 'none',
    cell: (row) => <Day day={row.transactionDate} />,
  },
  {
    id: 'type',
    header: text.type,
    narrow: 'none',
    cell: (row) => <span className="whitespace-nowrap">{row.type}</span>,
  },
  { id: 'status', header: text.status, narrow: 'second', cell: (row) => <StatusBadge status={row.status} /> },
  { id: 'createdAt', header: text.createdAt, sortBy: 'createdAt', cell: (row) => <Time at={row.createdAt} /> },
];

const mono = (value: string | undefined) => value && <code className="font-mono text-xs">{value}</code>;

/** The columns behind "Columns". */
export const MORE_COLUMNS: readonly TransactionColumn[] = [
  { id: 'fee', header: text.fee, align: 'end', narrow: 'none', cell: (row) => birr(row.fee) },
  { id: 'netAmount', header: text.net, align: 'end', narrow: 'none', cell: (row) => birr(row.netAmount) },
  { id: 'customerName', header: text.customerName, narrow: 'none', cell: (row) => row.customerName },
  { id: 'customerEmail', header: text.customerEmail, narrow: 'none', cell: (row) => row.customerEmail },
  { id: 'customerPhone', header: text.customerPhone, narrow: 'none', cell: (row) => row.customerPhone },
  {
    id: 'providerReference',
    header: text.providerReference,
    narrow: 'none',
    cell: (row) => mono(row.providerReference),
  },
  {
    id: 'completedAt',
    header: text.completedAt,
    narrow: 'none',
    cell: (row) => row.completedAt && <Time at={row.completedAt} />,
  },
  { id: 'transactionId', header: text.transactionId, narrow: 'none', cell: (row) => mono(row.transactionId) },
  { id: 'sessionId', header: text.sessionId, narrow: 'none', cell: (row) => mono(row.sessionId) },
];
