import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { Badge } from '../../ui/badge.tsx';
import { Button, buttonStyle } from '../../ui/button.tsx';
import { Mono } from '../../ui/copy.tsx';
import { DELIVERY_TEXTS, DELIVERY_TONES } from '../../ui/delivery-status.ts';
import { Panel } from '../../ui/facts.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { formatCount } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { REFRESH_MS } from '../../ui/use-calls.ts';
import { ResendProgress } from '../resend-progress.tsx';
import { useRead, type EventRow } from '../routes.ts';
import { EventDrawer } from './detail.tsx';
import { ResendMany } from './resend-many.tsx';
import { text } from './text.ts';

const FILTERS: readonly Filter[] = [
  {
    kind: 'search',
    name: 'checkoutOrderNo',
    label: text.searchLabel,
    other: { name: 'resourceId', pattern: /^[a-z]+_\w{26}$/ },
  },
  { kind: 'days' },
  { kind: 'several', name: 'status', label: text.status, values: Object.entries(DELIVERY_TEXTS) },
  { kind: 'one', name: 'event', label: text.type },
  { kind: 'one', name: 'subscriptionId', label: text.subscription },
];

const COLUMNS: readonly Column<EventRow>[] = [
  { header: text.event, cell: ({ event }) => event },
  {
    header: text.status,
    narrow: 'second',
    cell: ({ status }) => <Badge tone={DELIVERY_TONES[status]}>{DELIVERY_TEXTS[status]}</Badge>,
  },
  { header: text.resource, cell: ({ resourceId }) => <Mono>{resourceId}</Mono> },
  { header: text.deliveries, align: 'end', narrow: 'none', cell: ({ deliveries }) => formatCount(deliveries.length) },
  { header: text.createdAt, cell: ({ createdAt }) => <Time at={createdAt} seconds /> },
];

/** The events and whether they were delivered. */
export function Events() {
  const state = useFilters(FILTERS);
  const [isResending, setResending] = useState(false);
  const types = useRead('GET /api/checkout/webhooks/event-types', {});
  const subscriptions = useRead('GET /api/checkout/webhooks/subscriptions', {});
  const { job } = state.search;
  return (
    <Page title={text.title} actions={<Actions onResend={() => setResending(true)} />}>
      <div className="flex flex-col gap-4">
        {job !== undefined && (
          <Panel title={text.resendMany}>
            <ResendProgress jobId={job} onClose={() => state.go({ job: undefined })} />
          </Panel>
        )}
        {isResending && (
          <ResendMany
            search={state.chosen}
            onStart={(jobId) => {
              setResending(false);
              state.go({ job: jobId });
            }}
            onClose={() => setResending(false)}
          />
        )}
        <Listing
          label={text.title}
          state={state}
          values={{
            event: (types.data?.data ?? []).map(({ event }) => event),
            subscriptionId: (subscriptions.data?.data ?? []).map((one) => [one.subscriptionId, one.url]),
          }}
          query={useRead(
            'GET /api/checkout/webhooks/events',
            { query: state.query },
            // The stream has every change but later retries.
            { everyMs: REFRESH_MS, enabled: !state.wrongDays },
          )}
          columns={COLUMNS}
          idOf={({ eventId }) => eventId}
          empty={text.noneYet}
          emptyHelp={state.isFiltered ? undefined : text.noneYetHelp}
          drawer={({ id, close }) => <EventDrawer eventId={id} onClose={close} />}
        />
      </div>
    </Page>
  );
}

function Actions({ onResend }: { onResend: () => void }) {
  return (
    <>
      <Button icon="send" onClick={onResend}>
        {text.resendMany}
      </Button>
      <Link to="/events/signature" className={buttonStyle()}>
        {text.helper}
      </Link>
    </>
  );
}
