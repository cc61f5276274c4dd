import { DELIVERY_STATUSES } from '../../../src/webhooks/delivery/states.ts';
import { DELIVERY_TEXTS } from '../../ui/delivery-status.ts';
import { environment } from '../../ui/environment.ts';
import type { Filter } from '../../ui/filter-bar.tsx';
import { listPage } from '../list-page.tsx';
import { MERCHANT_FILTER } from '../merchant-filter.tsx';
import { REFRESH_MS, useRead, type Delivery } from '../routes.ts';
import { text as shared } from '../text.ts';
import { BulkResendButton } from './bulk-resend.tsx';
import { COLUMNS } from './columns.tsx';
import { text } from './text.ts';

const FILTERS: readonly Filter[] = [
  { kind: 'search', name: 'checkoutOrderNo', label: text.orderNo },
  {
    kind: 'several',
    name: 'status',
    label: shared.status,
    values: [
      ['DEAD_LETTER', text.deadLetter],
      ['DISMISSED', text.dismissed],
      ...DELIVERY_STATUSES.map((status) => [status, DELIVERY_TEXTS[status]] as const),
    ],
  },
  { kind: 'days' },
  { kind: 'text', name: 'receiverHost', label: text.host },
  { kind: 'text', name: 'event', label: text.event },
  MERCHANT_FILTER,
];

/** The webhook deliveries of all merchants in an environment. */
export const Deliveries = listPage<Delivery>({
  title: text.title,
  filters: FILTERS,
  columns: COLUMNS,
  useRows: (query, options) => {
    const input = { query: { ...query, environment } };
    return useRead('GET /api/ops/webhooks/deliveries', input, { ...options, everyMs: REFRESH_MS });
  },
  idOf: ({ deliveryId }) => deliveryId,
  empty: text.none,
  view: 'delivery',
  actions: ({ chosen }) => <BulkResendButton filter={chosen} />,
});
