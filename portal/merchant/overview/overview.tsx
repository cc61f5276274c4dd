import { Link } from '@tanstack/react-router';

import { channelName } from '../../ui/channel-text.ts';
import type { Days } from '../../ui/days.ts';
import { Panel } from '../../ui/facts.tsx';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { FilterBar, useFilters } from '../../ui/filter-bar.tsx';
import { birr, formatCount, formatDays, formatShare } from '../../ui/format.ts';
import { List } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { providerFailure } from '../../ui/transaction-state.tsx';
import { REFRESH_MS } from '../../ui/use-calls.ts';
import { WrongDays, wrongDaysOf } from '../../ui/wrong-days.tsx';
import { daysOf, RANGE_FILTER } from '../day-ranges.ts';
import { useMember } from '../member.ts';
import { useRead, type TransactionSums } from '../routes.ts';
import { Bars } from './bars.tsx';
import { text } from './text.ts';
import { Endpoints, Waiting } from './waiting.tsx';

const FILTERS = [RANGE_FILTER];

/** How the shop is doing: what is paid, what fails and why, and what waits. */
export function Overview() {
  const { may } = useMember();
  const state = useFilters(FILTERS);
  const days = daysOf(state.chosen);
  const wrong = wrongDaysOf(state.chosen);
  return (
    <Page title={text.title}>
      <div className="card mb-4 *:border-0">
        <FilterBar state={state} />
        {wrong && <WrongDays days={wrong} change={state.change} />}
      </div>
      <div className="grid gap-4 lg:grid-cols-3">
        <div className="flex flex-col gap-4 lg:col-span-2">
          {!wrong && (
            <>
              <Volume days={days} />
              <Channels days={days} />
            </>
          )}
        </div>
        <div className="flex flex-col gap-4">
          <Waiting />
          {may('balance:read') && <BalanceCard />}
          {may('webhooks:read') && <Endpoints />}
          {!wrong && <Failures days={days} />}
        </div>
      </div>
    </Page>
  );
}

function Volume({ days }: { days: Days }) {
  const { may } = useMember();
  const series = useRead(
    'GET /api/checkout/reports/series',
    { query: { ...days } },
    { everyMs: REFRESH_MS, enabled: may('reports:read') },
  );
  if (!may('reports:read')) return null;
  return (
    <Panel title={text.volume}>
      <Loaded query={series} skeletonRows={5}>
        {({ data }) =>
          data.total.count === 0 ? (
            <Empty title={text.none}>{text.noneHelp}</Empty>
          ) : (
            <>
              <p className="text-2xl font-semibold tabular-nums">{birr(data.total.gross)}</p>
              {data.total.refunded > 0 && <p className="text-quiet">{text.refunded(birr(data.total.refunded))}</p>}
              <Bars series={data.series} label={text.volumeOf(formatDays(days))} />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

type Group = TransactionSums['groups'][number];
type OfChannel = { channel: string; count: number; succeeded: number; ended: number };

/** Payments by channel: those that have ended, and those of them that succeeded. */
function byChannel(groups: Group[]): OfChannel[] {
  const channels = [...new Set(groups.map(({ channel }) => channel))].filter((channel) => channel !== null);
  return channels.map((channel) => {
    const own = groups.filter((group) => group.channel === channel);
    const sum = (some: Group[]): number => some.reduce((total, { count }) => total + count, 0);
    return {
      channel,
      count: sum(own),
      succeeded: sum(own.filter(({ status }) => status === 'SUCCESS')),
      ended: sum(own.filter(({ status }) => status !== 'PENDING')),
    };
  });
}

function Channels({ days }: { days: Days }) {
  const filter = { ...days, status: 'ALL', currency: 'ETB' };
  const sums = useRead('GET /api/checkout/txns/summary', { query: filter }, { everyMs: REFRESH_MS });
  return (
    <Panel title={text.channels}>
      <p className="text-quiet">{text.shareHelp}</p>
      <Loaded query={sums} skeletonRows={3}>
        {({ data }) => {
          const rows = byChannel(data.groups);
          if (rows.length === 0) return <Empty title={text.none}>{text.noneHelp}</Empty>;
          return (
            <List
              label={text.channels}
              columns={[
                { header: text.channel, cell: ({ channel }: OfChannel) => channelName(channel) },
                {
                  header: text.share,
                  align: 'end',
                  cell: ({ succeeded, ended }) => (ended === 0 ? '–' : formatShare(succeeded / ended)),
                },
                { header: text.succeeded, align: 'end', cell: (row) => formatCount(row.succeeded) },
                { header: text.allPayments, align: 'end', cell: (row) => formatCount(row.count) },
              ]}
              rows={rows}
              idOf={({ channel }) => channel}
            />
          );
        }}
      </Loaded>
    </Panel>
  );
}

function Failures({ days }: { days: Days }) {
  const { may } = useMember();
  const series = useRead(
    'GET /api/checkout/reports/series',
    { query: { ...days, by: 'failureReason' } },
    { everyMs: REFRESH_MS, enabled: may('reports:read') },
  );
  if (!may('reports:read')) return null;
  return (
    <Panel title={text.failures}>
      <Loaded query={series} skeletonRows={3}>
        {({ data }) => {
          const rows = data.groups.filter(({ key }) => key !== null).toSorted((one, other) => other.count - one.count);
          if (rows.length === 0) return <p className="text-quiet">{text.noFailures}</p>;
          return (
            <List
              label={text.failures}
              columns={[
                {
                  header: text.reason,
                  cell: ({ key }: { key: string | null; count: number }) => providerFailure(key ?? '') ?? key,
                },
                { header: text.payments, align: 'end', narrow: 'second', cell: ({ count }) => formatCount(count) },
              ]}
              rows={rows}
              idOf={({ key }) => key ?? ''}
            />
          );
        }}
      </Loaded>
    </Panel>
  );
}

function BalanceCard() {
  const balance = useRead('GET /api/checkout/balance', {}, { everyMs: REFRESH_MS });
  return (
    <Panel title={text.balance}>
      <Loaded query={balance} skeletonRows={2}>
        {({ data }) => (
          <Link to="/balance" className="flex flex-col hover:underline">
            <span className="text-lg font-semibold tabular-nums">{birr(data.available)}</span>
            <span className="text-quiet">{text.available}</span>
            <span className="mt-1">
              {text.reserved}: {birr(data.reserved)}
            </span>
          </Link>
        )}
      </Loaded>
    </Panel>
  );
}
