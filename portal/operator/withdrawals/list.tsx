import { channelName } from '../../ui/channel-text.ts';
import { environment } from '../../ui/environment.ts';
import type { Filter } from '../../ui/filter-bar.tsx';
import { formatBirr } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { Time } from '../../ui/time.tsx';
import { destinationText, STATE_FILTERS, WithdrawalState } from '../../ui/withdrawal-state.tsx';
import { listPage } from '../list-page.tsx';
import { MERCHANT_FILTER } from '../merchant-filter.tsx';
import { useRead, type Withdrawal } from '../routes.ts';
import { text as shared } from '../text.ts';
import { text } from './text.ts';

const FILTERS: readonly Filter[] = [
  { kind: 'search', name: 'search', label: text.search },
  ...STATE_FILTERS,
  { kind: 'days' },
  MERCHANT_FILTER,
];

const COLUMNS: readonly Column<Withdrawal>[] = [
  { header: text.to, cell: destinationText },
  { header: shared.amountInBirr, align: 'end', narrow: 'second', cell: ({ amount }) => formatBirr(amount) },
  { header: shared.channel, narrow: 'none', cell: ({ channel }) => channelName(channel) },
  { header: shared.status, narrow: 'second', cell: (row) => <WithdrawalState {...row} /> },
  { header: text.requestId, cell: ({ requestId }) => requestId },
  { header: shared.merchant, narrow: 'none', cell: ({ merchantName }) => merchantName },
  { header: shared.requestedAt, cell: ({ requestedAt }) => <Time at={requestedAt} /> },
];

/** The withdrawals of all merchants in an environment. */
export const Withdrawals = listPage<Withdrawal>({
  title: shared.withdrawals,
  filters: FILTERS,
  columns: COLUMNS,
  useRows: (query, options) => useRead('GET /api/ops/withdrawals', { query: { ...query, environment } }, options),
  idOf: ({ withdrawalId }) => withdrawalId,
  empty: text.none,
  view: 'withdrawal',
});
