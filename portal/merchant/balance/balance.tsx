import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { Button } from '../../ui/button.tsx';
import { lastDays } from '../../ui/days.ts';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { ChoiceFilter, DateFilter, ListFilter } from '../../ui/filters.tsx';
import { formatBirr } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Pager } from '../../ui/pager.tsx';
import { listOf } from '../../ui/search-params.ts';
import { Time } from '../../ui/time.tsx';
import { useMember } from '../member.ts';
import { Page } from '../page.tsx';
import { useRead, type BalanceSums, type MovementRow } from '../routes.ts';
import type { BalanceSearch } from './search.ts';
import { ENTRIES_OF, KINDS, text } from './text.ts';

const REFRESH_MS = 15_000;
const LINK = 'text-brand hover:underline';
const ACCOUNTS = ['available', 'reserved'] as const;
const NOTHING: BalanceSearch = {
  account: undefined,
  allDays: undefined,
  startDate: undefined,
  endDate: undefined,
  type: undefined,
  resourceId: undefined,
  page: undefined,
  limit: undefined,
};

/** The balance, and the entries that its numbers are the sums of. */
export function Balance() {
  const search = useSearch({ from: '/balance' });
  return (
    <Page title={text.title}>
      <Amounts />
      <div className="card">
        <Entries search={search} />
      </div>
    </Page>
  );
}

function Amounts() {
  const { whyNot } = useMember();
  const balance = useRead('GET /api/checkout/balance', {}, { everyMs: REFRESH_MS });
  const all = (account: 'available' | 'reserved') => ({ ...NOTHING, account, allDays: 'true' as const });
  const settled = { ...all('reserved'), type: 'SETTLEMENT_PAID,SETTLEMENT_REVERSED' };
  const paid = { status: 'SUCCESS', range: '90d' } as const;
  return (
    <Loaded query={balance} skeletonRows={3} whyNot={whyNot('balance:read')}>
      {({ data }) => (
        <ul className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-5">
          <Amount name={text.available} help={text.availableHelp} birr={data.available}>
            {(number) => (
              <Link to="/balance" search={all('available')} className={LINK}>
                {number}
              </Link>
            )}
          </Amount>
          <Amount name={text.reserved} help={text.reservedHelp} birr={data.reserved}>
            {(number) => (
              <Link to="/balance" search={all('reserved')} className={LINK}>
                {number}
              </Link>
            )}
          </Amount>
          <Amount name={text.total} help={text.totalHelp} birr={data.total}>
            {(number) => (
              <>
                {number}
                <span className="block text-xs font-normal text-quiet">
                  <Link to="/balance" search={all('available')} className={LINK}>
                    {formatBirr(data.available)}
                  </Link>
                  {' + '}
                  <Link to="/balance" search={all('reserved')} className={LINK}>
                    {formatBirr(data.reserved)}
                  </Link>
                </span>
              </>
            )}
          </Amount>
          <Amount name={text.fees} help={text.feesHelp} birr={data.feesToDate}>
            {(number) => (
              <Link to="/transactions" search={paid} className={LINK}>
                {number}
              </Link>
            )}
          </Amount>
          <Amount name={text.settled} help={text.settledHelp} birr={data.netSettled}>
            {(number) => (
              <Link to="/balance" search={settled} className={LINK}>
                {number}
              </Link>
            )}
          </Amount>
        </ul>
      )}
    </Loaded>
  );
}

type AmountProps = { name: string; help: string; birr: number; children: (number: ReactNode) => ReactNode };

function Amount({ name, help, birr, children }: AmountProps) {
  return (
    <li className="card flex flex-col gap-0.5 p-3">
      <span className="font-medium">{name}</span>
      <span className="text-base font-semibold tabular-nums">{children(`${formatBirr(birr)} ETB`)}</span>
      <span className="text-xs text-quiet">{help}</span>
    </li>
  );
}

const signed = (birr: number): string => `${birr > 0 ? '+' : ''}${formatBirr(birr)}`;

const COLUMNS: readonly Column<MovementRow>[] = [
  { id: 'type', header: text.type, cell: ({ type }) => KINDS[type] },
  { id: 'amount', header: text.amount, align: 'end', narrow: 'second', cell: ({ amount }) => signed(amount) },
  {
    id: 'balanceAfter',
    header: text.balanceAfter,
    align: 'end',
    narrow: 'none',
    cell: ({ balanceAfter }) => formatBirr(balanceAfter),
  },
  { id: 'about', header: text.about, cell: (row) => <Resource row={row} /> },
  { id: 'at', header: text.at, cell: ({ createdAt }) => <Time at={createdAt} seconds /> },
];

/** What an entry belongs to. */
function Resource({ row: { resourceType, resourceId } }: { row: MovementRow }) {
  const id = <code className="font-mono text-xs">{resourceId}</code>;
  if (resourceType === 'withdrawal') {
    return (
      <Link to="/withdrawals" search={{ open: resourceId }} className={LINK}>
        {id}
      </Link>
    );
  }
  if (resourceType === 'settlement') {
    return (
      <Link to="/settlements" search={{ open: resourceId }} className={LINK}>
        {id}
      </Link>
    );
  }
  if (resourceType !== 'transaction') return id;
  return (
    <Link to="/transactions/$transactionId" params={{ transactionId: resourceId }} className={LINK}>
      {id}
    </Link>
  );
}

function Entries({ search }: { search: BalanceSearch }) {
  const navigate = useNavigate();
  const { account = 'available', page = 1, limit = 20, startDate, endDate, allDays, type, resourceId } = search;
  const days = startDate && endDate ? { startDate, endDate } : allDays ? { allDays } : resourceId ? {} : lastDays(30);
  const filter = { account, type, resourceId, ...days };
  const query = { ...filter, page, limit };
  const entries = useRead('GET /api/checkout/balance/history', { query }, { everyMs: REFRESH_MS });
  const sums = useRead('GET /api/checkout/balance/history/summary', { query: filter }, { everyMs: REFRESH_MS });
  const change = (changes: Partial<BalanceSearch>): void =>
    void navigate({ to: '/balance', search: { ...search, page: undefined, ...changes } });
  return (
    <section aria-label={ENTRIES_OF[account]}>
      <Filters search={search} onChange={change} />
      <Loaded query={entries} skeletonRows={limit / 2}>
        {({ data: rows, pagination }) => (
          <>
            {rows.length === 0 ? (
              <Empty title={text.none}>{text.noneHelp}</Empty>
            ) : (
              <List
                label={ENTRIES_OF[account]}
                columns={COLUMNS}
                rows={rows}
                idOf={({ entryId }) => entryId}
                foot={sums.data && <Sums sums={sums.data.data} />}
              />
            )}
            {pagination && (
              <Pager
                pagination={pagination}
                query={entries}
                onPage={(wanted) => change({ page: wanted })}
                onLimit={(wanted) => change({ limit: wanted })}
              />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

type SumsProps = { sums: BalanceSums };

/** The sum of the entries of all pages, between the balances before and after them. */
function Sums({ sums: { count, amount, openingBalance, closingBalance } }: SumsProps) {
  const rows = {
    [text.opening]: formatBirr(openingBalance),
    [text.sum]: signed(amount),
    [text.closing]: formatBirr(closingBalance),
  };
  return (
    <tfoot role="rowgroup">
      <tr role="row" className="border-t-2 border-line">
        <td role="cell" colSpan={COLUMNS.length} className="px-3 py-2.5">
          <p className="font-semibold">{text.count(count)}</p>
          <dl className="flex flex-wrap gap-x-6 gap-y-1">
            {Object.entries(rows).map(([name, value]) => (
              <div key={name} className="flex gap-1.5">
                <dt className="text-quiet">{name}</dt>
                <dd className="font-semibold whitespace-nowrap tabular-nums">{value} ETB</dd>
              </div>
            ))}
          </dl>
        </td>
      </tr>
    </tfoot>
  );
}

const NO_DAYS = { startDate: undefined, endDate: undefined, allDays: undefined };

type FilterProps = { search: BalanceSearch; onChange: (changes: Partial<BalanceSearch>) => void };

function Filters({ search, onChange }: FilterProps) {
  const { account = 'available', startDate, endDate, allDays, type, resourceId } = search;
  const isFiltered = [startDate, allDays, type, resourceId].some((value) => value !== undefined);
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <ChoiceFilter
        name={text.account}
        values={ACCOUNTS.map((one) => [one, text[one]] as const)}
        chosen={account}
        onChange={(chosen) => onChange({ account: ACCOUNTS.find((one) => one === chosen) })}
      />
      <DateFilter
        name={text.date}
        value={startDate && endDate ? { startDate, endDate } : null}
        preset={allDays ? text.allDays : text.lastMonth}
        presets={[
          [text.lastMonth, () => onChange({ ...NO_DAYS })],
          [text.allDays, () => onChange({ ...NO_DAYS, allDays: 'true' })],
        ]}
        onChange={(chosen) => onChange({ ...NO_DAYS, ...chosen })}
      />
      <ListFilter
        name={text.type}
        values={Object.entries(KINDS)}
        chosen={listOf(type)}
        onChange={(chosen) => onChange({ type: chosen })}
      />
      {resourceId && <span className="text-quiet">{text.onlyResource(resourceId)}</span>}
      {isFiltered && (
        <Button kind="plain" icon="close" onClick={() => onChange({ ...NOTHING, account })}>
          {text.clearFilters}
        </Button>
      )}
    </div>
  );
}
