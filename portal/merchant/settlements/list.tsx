import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

import { SETTLEMENT_STATUSES } from '../../../src/settlements/states.ts';
import { Button } from '../../ui/button.tsx';
import { addressOf } from '../../ui/call.ts';
import { lastDays } from '../../ui/days.ts';
import { base } from '../../ui/environment.ts';
import { Section } from '../../ui/facts.tsx';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { DateFilter, ListFilter } from '../../ui/filters.tsx';
import { formatBirr, formatDay } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Pager } from '../../ui/pager.tsx';
import { listOf } from '../../ui/search-params.ts';
import { SettlementState, STATES } from '../../ui/settlement-state.tsx';
import { NewRows, useSteadyList } from '../../ui/steady-list.tsx';
import { Time } from '../../ui/time.tsx';
import { useMember } from '../member.ts';
import { Page } from '../page.tsx';
import { birr, Price } from '../quote.tsx';
import { useRead, type SettlementRow } from '../routes.ts';
import { ExpectedDays } from './days.tsx';
import { SettlementDrawer } from './detail.tsx';
import { SettlementForm } from './form.tsx';
import type { SettlementSearch } from './search.ts';
import { text } from './text.ts';

const COLUMNS: readonly Column<SettlementRow>[] = [
  { id: 'requestId', header: text.requestId, cell: ({ requestId }) => requestId },
  { id: 'amount', header: text.amount, align: 'end', narrow: 'second', cell: ({ amount }) => formatBirr(amount) },
  {
    id: 'bankAccount',
    header: text.bankAccount,
    cell: ({ bankAccount }) => `${bankAccount.bankCode} ${bankAccount.accountNumber}`,
  },
  { id: 'status', header: text.status, narrow: 'second', cell: ({ status }) => <SettlementState status={status} /> },
  { id: 'expectedBy', header: text.expectedBy, narrow: 'none', cell: ({ expectedBy }) => formatDay(expectedBy) },
  { id: 'requestedAt', header: text.requestedAt, cell: ({ requestedAt }) => <Time at={requestedAt} /> },
];

/** Settlements: what one requested now would cost and when it arrives, the list, and a new one. */
export function Settlements() {
  const search = useSearch({ from: '/settlements' });
  const navigate = useNavigate();
  const { whyNot } = useMember();
  const [isNew, setNew] = useState(false);
  const { open, page = 1, limit = 20, startDate, endDate, status } = search;
  const days = startDate && endDate ? { startDate, endDate } : lastDays(30);
  const query = { status, ...days, page, limit };
  const { list: settlements, news } = useSteadyList(useRead('GET /api/checkout/settlement', { query }), {
    key: JSON.stringify(query),
    idOf,
  });
  const go = (changes: Partial<SettlementSearch>): void =>
    void navigate({ to: '/settlements', search: { ...search, ...changes } });
  const change = (changes: Partial<SettlementSearch>): void => go({ page: undefined, ...changes });
  const create = (
    <Button kind="primary" icon="plus" whyNot={whyNot('settlements:write')} onClick={() => setNew(true)}>
      {text.newSettlement}
    </Button>
  );
  return (
    <Page title={text.title} actions={create}>
      <IfNow />
      <div className="card">
        <Filters search={search} onChange={change} />
        <NewRows news={news} />
        <Loaded query={settlements} skeletonRows={limit / 2} whyNot={whyNot('settlements:read')}>
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
                    hrefOf: (row) => base + addressOf('/settlements', { query: { ...search, open: row.settlementId } }),
                    onOpen: (row) => go({ open: row.settlementId }),
                    openId: open,
                  }}
                />
              )}
              {pagination && (
                <Pager
                  pagination={pagination}
                  query={settlements}
                  onPage={(wanted) => change({ page: wanted })}
                  onLimit={(wanted) => change({ limit: wanted })}
                />
              )}
            </>
          )}
        </Loaded>
      </div>
      {open && <SettlementDrawer settlementId={open} onClose={() => go({ open: undefined })} />}
      {isNew && <SettlementForm onClose={() => setNew(false)} />}
    </Page>
  );
}

/** The price and the days of a settlement of the whole balance, before anything is typed. */
function IfNow() {
  const quote = useRead('GET /api/checkout/settlement/quote', {});
  return (
    <div className="card mb-4 p-3">
      <Section title={text.ifNow}>
        <Loaded query={quote} skeletonRows={4}>
          {({ data }) => (
            <div className="grid gap-4 lg:grid-cols-2">
              <Price quote={data} />
              <div className="flex flex-col gap-2">
                <ExpectedDays days={data} />
                <p className="text-quiet">
                  {text.limits}: {birr(data.limits.min)} – {birr(data.limits.max)}
                </p>
              </div>
            </div>
          )}
        </Loaded>
      </Section>
    </div>
  );
}

const idOf = (row: SettlementRow): string => row.settlementId;

type FilterProps = { search: SettlementSearch; onChange: (changes: Partial<SettlementSearch>) => void };

function Filters({ search, onChange }: FilterProps) {
  const { startDate, endDate, status } = search;
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
        values={SETTLEMENT_STATUSES.map((one) => [one, STATES[one]] as const)}
        chosen={listOf(status)}
        onChange={(chosen) => onChange({ status: chosen })}
      />
      {(startDate ?? status) !== undefined && (
        <Button
          kind="plain"
          icon="close"
          onClick={() => onChange({ startDate: undefined, endDate: undefined, status: undefined })}
        >
          {text.clearFilters}
        </Button>
      )}
    </div>
  );
}
