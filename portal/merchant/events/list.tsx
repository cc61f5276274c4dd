import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';

import { EVENT_STATUSES } from '../../../src/webhooks/delivery/states.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, buttonStyle } from '../../ui/button.tsx';
import { addressOf } from '../../ui/call.ts';
import { DELIVERY_TEXTS, DELIVERY_TONES } from '../../ui/delivery-status.ts';
import { base } from '../../ui/environment.ts';
import { Panel } from '../../ui/facts.tsx';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { ChoiceFilter, DateFilter, ListFilter } from '../../ui/filters.tsx';
import { formatCount } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Pager } from '../../ui/pager.tsx';
import { listOf } from '../../ui/search-params.ts';
import { NewRows, useSteadyList } from '../../ui/steady-list.tsx';
import { Time } from '../../ui/time.tsx';
import { Page } from '../page.tsx';
import { ResendProgress } from '../resend-progress.tsx';
import { useRead, type EventRow } from '../routes.ts';
import { EventDrawer } from './detail.tsx';
import { ResendMany } from './resend-many.tsx';
import type { EventSearch } from './search.ts';
import { text } from './text.ts';

/** Changes are shown at once, but for later retries. */
const REFRESH_MS = 15_000;

const COLUMNS: readonly Column<EventRow>[] = [
  { id: 'event', header: text.event, cell: ({ event }) => event },
  {
    id: 'status',
    header: text.status,
    narrow: 'second',
    cell: ({ status }) => <Badge tone={DELIVERY_TONES[status]}>{DELIVERY_TEXTS[status]}</Badge>,
  },
  {
    id: 'resource',
    header: text.resource,
    cell: ({ resourceId }) => <code className="font-mono text-xs">{resourceId}</code>,
  },
  {
    id: 'deliveries',
    header: text.deliveries,
    align: 'end',
    narrow: 'none',
    cell: ({ deliveries }) => formatCount(deliveries.length),
  },
  { id: 'createdAt', header: text.createdAt, cell: ({ createdAt }) => <Time at={createdAt} seconds /> },
];

type Filter = { search: EventSearch; onChange: (changes: Partial<EventSearch>) => void };

/** The events and whether they were delivered. */
export function Events() {
  const search = useSearch({ from: '/events' });
  const navigate = useNavigate();
  const { open, job, page = 1, limit = 20, ...filter } = search;
  const [isResending, setResending] = useState(false);
  const query = { ...filter, page, limit };
  const { list: events, news } = useSteadyList(
    useRead('GET /api/checkout/webhooks/events', { query }, { everyMs: REFRESH_MS }),
    { key: JSON.stringify(query), idOf },
  );
  const go = (changes: Partial<EventSearch>): void =>
    void navigate({ to: '/events', search: { ...search, ...changes } });
  const change = (changes: Partial<EventSearch>): void => go({ page: undefined, ...changes });
  return (
    <Page title={text.title} actions={<Actions onResend={() => setResending(true)} />}>
      <div className="flex flex-col gap-4">
        {job !== undefined && (
          <Panel title={text.resendMany}>
            <ResendProgress jobId={job} onClose={() => go({ job: undefined })} />
          </Panel>
        )}
        {isResending && (
          <ResendMany
            search={search}
            onStart={(jobId) => {
              setResending(false);
              go({ job: jobId });
            }}
            onClose={() => setResending(false)}
          />
        )}
        <div className="card">
          <Filters search={search} onChange={change} />
          <NewRows news={news} />
          <Loaded query={events} skeletonRows={limit / 2}>
            {({ data: rows, pagination }) => (
              <>
                {rows.length === 0 ? (
                  <Empty title={text.none}>{text.noneHelp}</Empty>
                ) : (
                  <List
                    label={text.label}
                    columns={COLUMNS}
                    rows={rows}
                    idOf={idOf}
                    open={{
                      hrefOf: ({ eventId }) => base + addressOf('/events', { query: { ...search, open: eventId } }),
                      onOpen: ({ eventId }) => go({ open: eventId }),
                      openId: open,
                    }}
                  />
                )}
                {pagination && (
                  <Pager
                    pagination={pagination}
                    query={events}
                    onPage={(wanted) => change({ page: wanted })}
                    onLimit={(wanted) => change({ limit: wanted })}
                  />
                )}
              </>
            )}
          </Loaded>
        </div>
      </div>
      {open && <EventDrawer eventId={open} onClose={() => go({ open: undefined })} />}
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

const idOf = ({ eventId }: EventRow): string => eventId;

const NOTHING: EventSearch = {
  startDate: undefined,
  endDate: undefined,
  status: undefined,
  event: undefined,
  subscriptionId: undefined,
  resourceId: undefined,
};

function Filters({ search, onChange }: Filter) {
  const { startDate, endDate, status, event, subscriptionId, resourceId } = search;
  const types = useRead('GET /api/checkout/webhooks/event-types', {});
  const subscriptions = useRead('GET /api/checkout/webhooks/subscriptions', {});
  const days = startDate && endDate ? { startDate, endDate } : null;
  const isFiltered = [startDate, status, event, subscriptionId, resourceId].some((value) => value !== undefined);
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <ResourceField key={resourceId} search={search} onChange={onChange} />
      <DateFilter
        name={text.date}
        value={days}
        preset={text.lastMonth}
        presets={[[text.lastMonth, () => onChange({ startDate: undefined, endDate: undefined })]]}
        onChange={onChange}
      />
      <ListFilter
        name={text.status}
        values={EVENT_STATUSES.map((one) => [one, DELIVERY_TEXTS[one]] as const)}
        chosen={listOf(status)}
        onChange={(chosen) => onChange({ status: chosen })}
      />
      <ChoiceFilter
        name={text.type}
        values={(types.data?.data ?? []).map((one) => [one.event, one.event] as const)}
        chosen={event}
        onChange={(chosen) => onChange({ event: chosen })}
      />
      <ChoiceFilter
        name={text.subscription}
        values={(subscriptions.data?.data ?? []).map((one) => [one.subscriptionId, one.url] as const)}
        chosen={subscriptionId}
        onChange={(chosen) => onChange({ subscriptionId: chosen })}
      />
      {isFiltered && (
        <Button kind="plain" icon="close" onClick={() => onChange(NOTHING)}>
          {text.clearFilters}
        </Button>
      )}
    </div>
  );
}

function ResourceField({ search: { resourceId }, onChange }: Filter) {
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const wanted = new FormData(event.currentTarget).get('resourceId');
    onChange({ resourceId: (typeof wanted === 'string' && wanted.trim()) || undefined });
  };
  return (
    <search className="min-w-0 max-sm:w-full">
      <form onSubmit={submit}>
        <input
          name="resourceId"
          type="search"
          maxLength={64}
          defaultValue={resourceId}
          aria-label={text.searchLabel}
          placeholder={text.searchLabel}
          className="control w-full sm:w-60"
        />
      </form>
    </search>
  );
}
