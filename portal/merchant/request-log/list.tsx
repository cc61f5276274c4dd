import { Link, useNavigate, useSearch } from '@tanstack/react-router';

import { Badge, type Tone } from '../../ui/badge.tsx';
import { buttonStyle } from '../../ui/button.tsx';
import { addressOf } from '../../ui/call.ts';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { base } from '../../ui/environment.ts';
import { Facts } from '../../ui/facts.tsx';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { List, type Column } from '../../ui/list.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Time } from '../../ui/time.tsx';
import { useMember } from '../member.ts';
import { Page } from '../page.tsx';
import { useRead, type Key, type LoggedCall } from '../routes.ts';
import { Filters, NOTHING } from './filters.tsx';
import type { RequestSearch } from './search.ts';
import { text } from './text.ts';

const REFRESH_MS = 10_000;

/** The API calls of the last 30 days. */
export function RequestLog() {
  const { whyNot } = useMember();
  const search = useSearch({ from: '/requests' });
  const navigate = useNavigate();
  const { open, page = 1, limit = 20, ...filter } = search;
  const calls = useRead('GET /api/checkout/requests', { query: { ...filter, page, limit } }, { everyMs: REFRESH_MS });
  const keys = useRead('GET /api/portal/keys', {}).data?.data ?? [];
  const go = (changes: Partial<RequestSearch>): void =>
    void navigate({ to: '/requests', search: { ...search, ...changes } });
  const change = (changes: Partial<RequestSearch>): void => go({ page: undefined, ...changes });
  const seen = calls.data?.data ?? [];
  return (
    <Page title={text.title}>
      <p className="mb-4 text-quiet">{text.intro}</p>
      <div className="card">
        <Filters search={search} keys={keys} routes={seen.map(({ route }) => route)} onChange={change} />
        <Loaded query={calls} skeletonRows={limit / 2} whyNot={whyNot('requests:read')}>
          {({ data: rows, pagination }) => (
            <>
              {rows.length === 0 ? (
                <NoCalls search={search} />
              ) : (
                <List
                  label={text.label}
                  columns={columnsOf(keys)}
                  rows={rows}
                  idOf={({ requestId }) => requestId}
                  open={{
                    hrefOf: ({ requestId }) => base + addressOf('/requests', { query: { ...search, open: requestId } }),
                    onOpen: ({ requestId }) => go({ open: requestId }),
                    openId: open,
                  }}
                />
              )}
              {pagination && (
                <Pager
                  pagination={pagination}
                  query={calls}
                  onPage={(wanted) => change({ page: wanted })}
                  onLimit={(wanted) => change({ limit: wanted })}
                />
              )}
            </>
          )}
        </Loaded>
      </div>
      {open && (
        <CallDrawer
          requestId={open}
          listed={seen.find(({ requestId }) => requestId === open)}
          keys={keys}
          onClose={() => go({ open: undefined })}
        />
      )}
    </Page>
  );
}

function NoCalls({ search }: { search: RequestSearch }) {
  const isFiltered = Object.keys(NOTHING).some((name) => search[name as keyof RequestSearch] !== undefined);
  if (isFiltered) return <Empty title={text.none}>{text.noneHelp}</Empty>;
  return (
    <Empty title={text.noneYet}>
      <p>{text.noneYetHelp}</p>
      <Link to="/keys" className={buttonStyle()}>
        {text.toKeys}
      </Link>
    </Empty>
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
  { id: 'call', header: text.call, cell: (call) => <CallText call={call} /> },
  {
    id: 'status',
    header: text.status,
    narrow: 'second',
    cell: ({ status }) => <Badge tone={toneOf(status)}>{status}</Badge>,
  },
  { id: 'error', header: text.error, cell: ({ errorCode }) => <code className="font-mono text-xs">{errorCode}</code> },
  { id: 'key', header: text.key, cell: ({ keyId }) => keyText(keys, keyId) },
  {
    id: 'duration',
    header: text.duration,
    align: 'end',
    narrow: 'none',
    cell: ({ durationMs }) => text.milliseconds(durationMs),
  },
  { id: 'at', header: text.at, cell: ({ at }) => <Time at={at} seconds /> },
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
        <Link to="/requests" search={{ ...NOTHING, method, route }} className={buttonStyle()}>
          {text.sameRoute}
        </Link>
        <Link to="/requests" search={{ ...NOTHING, keyId }} className={buttonStyle()}>
          {text.sameKey}
        </Link>
      </div>
    </>
  );
}
