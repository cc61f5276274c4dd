import { channelName } from '../../ui/channel-text.ts';
import { environment } from '../../ui/environment.ts';
import type { Filter } from '../../ui/filter-bar.tsx';
import { formatBirr } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';
import type { Column } from '../../ui/list.tsx';
import { RefundState, STATE_FILTERS } from '../../ui/refund-state.tsx';
import { Time } from '../../ui/time.tsx';
import { listPage } from '../list-page.tsx';
import { MERCHANT_FILTER } from '../merchant-filter.tsx';
import { REFRESH_MS, useRead, type Refund } from '../routes.ts';
import { text as shared } from '../text.ts';

const text = catalogue({
  none: ['There was no refund in the last 30 days.', 'ባለፉት 30 ቀናት ተመላሽ ክፍያ አልነበረም።'],
  search: ['Id or reference', 'መለያ ወይም ማጣቀሻ'],
  reference: ['Reference', 'ማጣቀሻ'],
});

const FILTERS: readonly Filter[] = [
  { kind: 'search', name: 'search', label: text.search },
  ...STATE_FILTERS,
  { kind: 'days' },
  MERCHANT_FILTER,
];

const COLUMNS: readonly Column<Refund>[] = [
  { header: text.reference, cell: ({ reference }) => reference },
  {
    header: shared.amountInBirr,
    align: 'end',
    narrow: 'second',
    cell: ({ amount, paidAmount = amount }) => formatBirr(paidAmount),
  },
  { header: shared.channel, narrow: 'none', cell: ({ channel }) => channelName(channel) },
  { header: shared.status, narrow: 'second', cell: (row) => <RefundState {...row} /> },
  { header: shared.merchant, narrow: 'none', cell: ({ merchantName }) => merchantName },
  { header: shared.requestedAt, cell: ({ requestedAt }) => <Time at={requestedAt} /> },
];

/** The refunds of all merchants in an environment. */
export const Refunds = listPage<Refund>({
  title: shared.refunds,
  filters: FILTERS,
  columns: COLUMNS,
  useRows: (query, options) => {
    const input = { query: { ...query, environment } };
    return useRead('GET /api/ops/refunds', input, { ...options, everyMs: REFRESH_MS });
  },
  idOf: ({ refundId }) => refundId,
  empty: text.none,
  view: 'refund',
});
