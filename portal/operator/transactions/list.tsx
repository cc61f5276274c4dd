import { TRANSACTION_STATUSES } from '../../../src/payments/states.ts';
import { channelName, CHANNEL_VALUES } from '../../ui/channel-text.ts';
import { environment } from '../../ui/environment.ts';
import type { Filter } from '../../ui/filter-bar.tsx';
import { formatBirr } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { Time } from '../../ui/time.tsx';
import { STATES, StatusBadge } from '../../ui/transaction-state.tsx';
import { listPage } from '../list-page.tsx';
import { MERCHANT_FILTER } from '../merchant-filter.tsx';
import { useRead, type Transaction } from '../routes.ts';
import { text as shared } from '../text.ts';
import { text } from './text.ts';

const FILTERS: readonly Filter[] = [
  { kind: 'search', name: 'checkoutOrderNo', label: text.orderNo },
  {
    kind: 'several',
    name: 'status',
    label: shared.status,
    values: TRANSACTION_STATUSES.map((one) => [one, STATES[one]] as const),
  },
  { kind: 'days' },
  { kind: 'one', name: 'channel', label: shared.channel, values: CHANNEL_VALUES },
  { kind: 'one', name: 'held', label: text.held, values: [['true', text.yes]] },
  { kind: 'one', name: 'late', label: text.late, values: [['true', text.yes]] },
  MERCHANT_FILTER,
];

const COLUMNS: readonly Column<Transaction>[] = [
  { header: text.orderNo, cell: ({ checkoutOrderNo }) => checkoutOrderNo },
  { header: shared.amountInBirr, align: 'end', narrow: 'second', cell: ({ amount }) => formatBirr(amount) },
  { header: shared.merchant, cell: ({ merchantName }) => merchantName },
  { header: shared.status, narrow: 'second', cell: ({ status }) => <StatusBadge status={status} /> },
  { header: shared.channel, cell: ({ transactionThrough }) => transactionThrough && channelName(transactionThrough) },
  { header: text.customer, narrow: 'none', cell: ({ customerPhone }) => customerPhone },
  { header: shared.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The transactions of all merchants in an environment. */
export const Transactions = listPage<Transaction>({
  title: shared.transactions,
  filters: FILTERS,
  columns: COLUMNS,
  useRows: (query, options) => useRead('GET /api/ops/transactions', { query: { ...query, environment } }, options),
  idOf: ({ transactionId }) => transactionId,
  empty: text.none,
  view: 'transaction',
});
