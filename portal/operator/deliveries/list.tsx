import { DELIVERY_STATUSES } from '../../../src/webhooks/delivery/states.ts';
import { DELIVERY_TEXTS } from '../../ui/delivery-status.ts';
import { environment } from '../../ui/environment.ts';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { useRead } from '../routes.ts';
import { text as shared } from '../text.ts';
import { ViewDrawer } from '../views.tsx';
import { BulkResendButton } from './bulk-resend.tsx';
import { COLUMNS } from './columns.tsx';
import { text } from './text.ts';

const REFRESH_MS = 10_000;

const FILTERS: readonly Filter[] = [
  { kind: 'text', name: 'checkoutOrderNo', label: text.orderNo },
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
  { kind: 'text', name: 'merchantId', label: text.merchantId },
];

/** The webhook deliveries of all merchants in an environment. */
export function Deliveries() {
  const state = useFilters(FILTERS);
  const query = { ...state.query, environment };
  return (
    <Page title={text.title} actions={<BulkResendButton filter={state.chosen} />}>
      <Listing
        label={text.label}
        state={state}
        query={useRead('GET /api/ops/webhooks/deliveries', { query }, { everyMs: REFRESH_MS })}
        columns={COLUMNS}
        idOf={({ deliveryId }) => deliveryId}
        empty={text.none}
        drawer={({ id, close }) => <ViewDrawer kind="delivery" id={id} onClose={close} />}
      />
    </Page>
  );
}
