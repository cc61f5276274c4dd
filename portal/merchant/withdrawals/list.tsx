import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

import { CHANNELS } from '../../../src/merchants/channels/channel.ts';
import { WITHDRAWAL_STATUSES } from '../../../src/withdrawals/states.ts';
import { Button } from '../../ui/button.tsx';
import { addressOf } from '../../ui/call.ts';
import { lastDays } from '../../ui/days.ts';
import { base } from '../../ui/environment.ts';
import { Section } from '../../ui/facts.tsx';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { ChoiceFilter, DateFilter, ListFilter } from '../../ui/filters.tsx';
import { formatBirr } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Pager } from '../../ui/pager.tsx';
import { listOf } from '../../ui/search-params.ts';
import { NewRows, useSteadyList } from '../../ui/steady-list.tsx';
import { Time } from '../../ui/time.tsx';
import { destinationText, STATES, WithdrawalState } from '../../ui/withdrawal-state.tsx';
import { useMember } from '../member.ts';
import { Page } from '../page.tsx';
import { useRead, type WithdrawalRow } from '../routes.ts';
import { WithdrawalDrawer } from './detail.tsx';
import { WithdrawalForm } from './form.tsx';
import type { WithdrawalSearch } from './search.ts';
import { SecondPersonPolicy } from './second-person.tsx';
import { text } from './text.ts';

const COLUMNS: readonly Column<WithdrawalRow>[] = [
  { id: 'requestId', header: text.requestId, cell: ({ requestId }) => requestId },
  { id: 'amount', header: text.amount, align: 'end', narrow: 'second', cell: ({ amount }) => formatBirr(amount) },
  { id: 'channel', header: text.channel, narrow: 'none', cell: ({ channel }) => channel },
  { id: 'destination', header: text.destination, cell: destinationText },
  { id: 'status', header: text.status, narrow: 'second', cell: (row) => <WithdrawalState {...row} /> },
  { id: 'requestedAt', header: text.requestedAt, cell: ({ requestedAt }) => <Time at={requestedAt} /> },
];

/** Withdrawals: what they may be, the list, and a new one. */
export function Withdrawals() {
  const search = useSearch({ from: '/withdrawals' });
  const navigate = useNavigate();
  const { whyNot } = useMember();
  const [isNew, setNew] = useState(false);
  const { open, page = 1, limit = 20, startDate, endDate, ...filter } = search;
  const days = startDate && endDate ? { startDate, endDate } : lastDays(30);
  const query = { ...filter, ...days, page, limit };
  const { list: withdrawals, news } = useSteadyList(useRead('GET /api/checkout/withdrawal', { query }), {
    key: JSON.stringify(query),
    idOf,
  });
  const go = (changes: Partial<WithdrawalSearch>): void =>
    void navigate({ to: '/withdrawals', search: { ...search, ...changes } });
  const change = (changes: Partial<WithdrawalSearch>): void => go({ page: undefined, ...changes });
  const create = (
    <Button kind="primary" icon="plus" whyNot={whyNot('withdrawals:write')} onClick={() => setNew(true)}>
      {text.newWithdrawal}
    </Button>
  );
  return (
    <Page title={text.title} actions={create}>
      <Limits />
      <SecondPersonPolicy />
      <div className="card">
        <Filters search={search} onChange={change} />
        <NewRows news={news} />
        <Loaded query={withdrawals} skeletonRows={limit / 2} whyNot={whyNot('withdrawals:read')}>
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
                    hrefOf: (row) =>
                      base + addressOf('/withdrawals', { query: { ...search, open: row.withdrawalRequestId } }),
                    onOpen: (row) => go({ open: row.withdrawalRequestId }),
                    openId: open,
                  }}
                />
              )}
              {pagination && (
                <Pager
                  pagination={pagination}
                  query={withdrawals}
                  onPage={(wanted) => change({ page: wanted })}
                  onLimit={(wanted) => change({ limit: wanted })}
                />
              )}
            </>
          )}
        </Loaded>
      </div>
      {open && <WithdrawalDrawer withdrawalId={open} onClose={() => go({ open: undefined })} />}
      {isNew && <WithdrawalForm onClose={() => setNew(false)} />}
    </Page>
  );
}

/** The limits of each channel that pays out, and what is left today. */
function Limits() {
  const limits = useRead('GET /api/checkout/limits', {});
  const columns = [
    { id: 'channel', header: text.channel, cell: ({ channel }: { channel: string }) => channel },
    ...(['min', 'max', 'daily', 'remainingToday'] as const).map((name) => ({
      id: name,
      header: { min: text.smallest, max: text.largest, daily: text.daily, remainingToday: text.leftToday }[name],
      align: 'end' as const,
      cell: ({ payOut }: { payOut: Record<typeof name, number | null> }) => {
        const amount = payOut[name];
        return amount === null ? text.noDaily : formatBirr(amount);
      },
    })),
  ];
  return (
    <div className="card mb-4 flex flex-col p-3">
      <Section title={text.limits}>
        <p className="text-quiet">{text.limitsHelp}</p>
        <Loaded query={limits} skeletonRows={3}>
          {({ data }) => (
            <List
              label={text.limits}
              columns={columns}
              rows={data.filter(({ payoutTo }) => payoutTo.length > 0)}
              idOf={({ channel }) => channel}
            />
          )}
        </Loaded>
      </Section>
    </div>
  );
}

const idOf = (row: WithdrawalRow): string => row.withdrawalRequestId;

type FilterProps = { search: WithdrawalSearch; onChange: (changes: Partial<WithdrawalSearch>) => void };

const NOTHING: Partial<WithdrawalSearch> = {
  startDate: undefined,
  endDate: undefined,
  status: undefined,
  channel: undefined,
};

function Filters({ search, onChange }: FilterProps) {
  const { startDate, endDate, status, channel } = search;
  const isFiltered = [startDate, status, channel].some((value) => value !== undefined);
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <DateFilter
        name={text.date}
        value={startDate && endDate ? { startDate, endDate } : null}
        preset={text.lastMonth}
        presets={[[text.lastMonth, () => onChange({ startDate: undefined, endDate: undefined })]]}
        onChange={onChange}
      />
      <ListFilter
        name={text.status}
        values={WITHDRAWAL_STATUSES.map((one) => [one, STATES[one]] as const)}
        chosen={listOf(status)}
        onChange={(chosen) => onChange({ status: chosen })}
      />
      <ChoiceFilter
        name={text.channel}
        values={CHANNELS.map((one) => [one, one] as const)}
        chosen={channel}
        onChange={(chosen) => onChange({ channel: chosen })}
      />
      {isFiltered && (
        <Button kind="plain" icon="close" onClick={() => onChange(NOTHING)}>
          {text.clearFilters}
        </Button>
      )}
    </div>
  );
}
