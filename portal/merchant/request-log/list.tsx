import { Link } from '@tanstack/react-router';

import { Badge, type Tone } from '../../ui/badge.tsx';
import { buttonStyle } from '../../ui/button.tsx';
import { Code, Mono } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useMember } from '../member.ts';
import { useRead, type Key, type LoggedCall } from '../routes.ts';
import { text } from './text.ts';

const REFRESH_MS = 10_000;

const FILTERS: readonly Filter[] = [
  { kind: 'search', name: 'requestId', label: text.searchLabel },
  { kind: 'days' },
  {
    kind: 'one',
    name: 'statusClass',
    label: text.status,
    values: [
      ['2xx', text.success],
      ['3xx', text.redirect],
      ['4xx', text.callerError],
      ['5xx', text.serverError],
    ],
  },
  { kind: 'one', name: 'method', label: text.method, values: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
  { kind: 'one', name: 'route', label: text.route },
  { kind: 'one', name: 'keyId', label: text.key },
];

/** The API calls of the last 30 days. */
export function RequestLog() {
  const { whyNot } = useMember();
  const state = useFilters(FILTERS);
  const calls = useRead(
    'GET /api/checkout/requests',
    { query: state.query },
    { everyMs: REFRESH_MS, enabled: !state.wrongDays },
  );
  const keys = useRead('GET /api/portal/keys', {}).data?.data ?? [];
  const { route } = state.chosen;
  const routes = [...(route === undefined ? [] : [route]), ...(calls.data?.data ?? []).map((call) => call.route)];
  return (
    <Page title={text.title}>
      <p className="mb-4 text-quiet">{text.intro}</p>
      <Listing
        label={text.label}
        state={state}
        values={{
          route: [...new Set(routes)].toSorted(),
          keyId: keys.map(({ keyId }) => [keyId, keyText(keys, keyId)]),
        }}
        query={calls}
        columns={columnsOf(keys)}
        idOf={({ requestId }) => requestId}
        empty={state.isFiltered ? text.none : text.noneYet}
        emptyHelp={state.isFiltered ? text.noneHelp : <NoneYet />}
        whyNot={whyNot('requests:read')}
        drawer={({ id, row, close }) => <CallDrawer requestId={id} listed={row} keys={keys} onClose={close} />}
      />
    </Page>
  );
}

function NoneYet() {
  return (
    <>
      <p>{text.noneYetHelp}</p>
      <Link to="/keys" className={buttonStyle()}>
        {text.toKeys}
      </Link>
    </>
  );
}

function toneOf(status: number): Tone {
  if (status >= 500) return 'bad';
  return status >= 400 ? 'warn' : 'good';
}

/** A key by its name, or by what is known of it. */
export function keyText(keys: readonly Key[], keyId: string): string {
  const key = keys.find((one) => one.keyId === keyId);
  return key ? key.name || key.key : keyId;
}

const columnsOf = (keys: readonly Key[]): readonly Column<LoggedCall>[] => [
  { header: text.call, cell: (call) => <CallText call={call} /> },
  { header: text.status, narrow: 'second', cell: ({ status }) => <Badge tone={toneOf(status)}>{status}</Badge> },
  { header: text.error, cell: ({ errorCode }) => <Mono>{errorCode}</Mono> },
  { header: text.key, cell: ({ keyId }) => keyText(keys, keyId) },
  { header: text.duration, align: 'end', narrow: 'none', cell: ({ durationMs }) => text.milliseconds(durationMs) },
  { header: text.at, cell: ({ at }) => <Time at={at} seconds /> },
];

function CallText({ call: { method, route } }: { call: LoggedCall }) {
  return (
    <code className="font-mono text-xs wrap-anywhere">
      {method} {route}
    </code>
  );
}

type DrawerProps = {
  requestId: string;
  /** undefined: it is not in sight in the list. */
  listed: LoggedCall | undefined;
  keys: readonly Key[];
  onClose: () => void;
};

function CallDrawer({ requestId, listed, keys, onClose }: DrawerProps) {
  const query = useRead('GET /api/checkout/requests', { query: { requestId } }, { enabled: !listed });
  const call = listed ?? query.data?.data.find((one) => one.requestId === requestId);
  return (
    <Drawer title={call ? <CallText call={call} /> : text.requestId} onClose={onClose}>
      {call ? (
        <Call call={call} keys={keys} />
      ) : (
        <Loaded query={query}>{() => <p className="text-quiet">{text.gone}</p>}</Loaded>
      )}
    </Drawer>
  );
}

function Call({ call, keys }: { call: LoggedCall; keys: readonly Key[] }) {
  const { requestId, status, errorCode, keyId, method, route, durationMs, address, at } = call;
  return (
    <>
      <Facts
        rows={{
          [text.status]: <Badge tone={toneOf(status)}>{status}</Badge>,
          [text.error]: errorCode && <Code value={errorCode} name={text.error} />,
          [text.requestId]: <Code value={requestId} name={text.requestId} />,
          [text.key]: keyText(keys, keyId),
          [text.duration]: text.milliseconds(durationMs),
          [text.address]: address,
          [text.at]: <Time at={at} seconds />,
        }}
      />
      <div className="flex flex-wrap gap-2">
        <Link to="/requests" search={{ method, route }} className={buttonStyle()}>
          {text.sameRoute}
        </Link>
        <Link to="/requests" search={{ keyId }} className={buttonStyle()}>
          {text.sameKey}
        </Link>
      </div>
    </>
  );
}
