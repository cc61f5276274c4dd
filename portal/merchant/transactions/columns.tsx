import { Mono } from '../../ui/copy.tsx';
import { formatBirr } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { Day, Time } from '../../ui/time.tsx';
import { StatusBadge } from '../../ui/transaction-state.tsx';
import type { TransactionRow } from '../routes.ts';
import { text } from './text.ts';

type TransactionColumn = Column<TransactionRow>;

/** The columns that everybody sees, in the contract's order (seed section 1.4). */
export const COLUMNS: readonly TransactionColumn[] = [
  { header: text.checkoutOrderNo, cell: (row) => row.checkoutOrderNo },
  { header: text.amount, sortBy: 'amount', align: 'end', narrow: 'second', cell: (row) => formatBirr(row.amount) },
  { header: text.currency, narrow: 'none', cell: (row) => row.currency },
  // With the contract's value, not the channel's name.
  {
    header: text.transactionThrough,
    cell: (row) => row.transactionThrough ?? <span className="text-quiet">{text.notChosen}</span>,
  },
  { header: text.transactionDate, narrow: 'none', cell: (row) => <Day day={row.transactionDate} /> },
  { header: text.type, narrow: 'none', cell: (row) => <span className="whitespace-nowrap">{row.type}</span> },
  { header: text.status, narrow: 'second', cell: (row) => <StatusBadge status={row.status} /> },
  { header: text.createdAt, sortBy: 'createdAt', cell: (row) => <Time at={row.createdAt} /> },
];

const birr = (amount: number | undefined): string => (amount === undefined ? '' : formatBirr(amount));

const more = (column: Omit<TransactionColumn, 'narrow'>): TransactionColumn => ({ ...column, narrow: 'none' });

/** The columns behind "Columns", by the name under which a browser keeps the choice. */
export const MORE_COLUMNS: Readonly<Record<string, TransactionColumn>> = {
  fee: more({ header: text.fee, align: 'end', cell: (row) => birr(row.fee) }),
  netAmount: more({ header: text.net, align: 'end', cell: (row) => birr(row.netAmount) }),
  refundedAmount: more({ header: text.refunded, align: 'end', cell: (row) => birr(row.refundedAmount) }),
  customerName: more({ header: text.customerName, cell: (row) => row.customerName }),
  customerEmail: more({ header: text.customerEmail, cell: (row) => row.customerEmail }),
  customerPhone: more({ header: text.customerPhone, cell: (row) => row.customerPhone }),
  providerReference: more({ header: text.providerReference, cell: (row) => <Mono>{row.providerReference}</Mono> }),
  completedAt: more({ header: text.completedAt, cell: ({ completedAt }) => completedAt && <Time at={completedAt} /> }),
  transactionId: more({ header: text.transactionId, cell: (row) => <Mono>{row.transactionId}</Mono> }),
  sessionId: more({ header: text.sessionId, cell: (row) => <Mono>{row.sessionId}</Mono> }),
};
