import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { Mono } from '../../ui/copy.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { ChoiceFilter } from '../../ui/filters.tsx';
import { BIRR, birr, formatBirr } from '../../ui/format.ts';
import { Totals, type Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { stringifySearch, type Search } from '../../ui/search-params.ts';
import { useSteadySums } from '../../ui/steady-list.tsx';
import { text as kit } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { REFRESH_MS } from '../../ui/use-calls.ts';
import { useMember } from '../member.ts';
import { useRead, type MovementRow } from '../routes.ts';
import { ENTRIES_OF, KINDS, text } from './text.ts';

const LINK = 'text-brand hover:underline';
const ACCOUNTS = ['available', 'reserved', 'fees', 'settled'] as const;
/** The balance, and the entries that its numbers are the sums of. */
export function Balance() {
  return (
    <Page title={text.title}>
      <Amounts />
      <Entries />
    </Page>
  );
}

/** The entries that a number of the balance is the sum of. */
function EntriesLink({ account, children }: { account: (typeof ACCOUNTS)[number]; children: ReactNode }) {
  return (
    <Link to="/balance" search={{ account, allDays: 'true' }} className={LINK}>
      {children}
    </Link>
  );
}

function Amounts() {
  const { whyNot } = useMember();
  const balance = useRead('GET /api/checkout/balance', {}, { everyMs: REFRESH_MS });
  return (
    <Loaded query={balance} skeletonRows={3} whyNot={whyNot('balance:read')}>
      {({ data }) => (
        <ul className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-5">
          <Amount name={text.available} help={text.availableHelp}>
            <EntriesLink account="available">{birr(data.available)}</EntriesLink>
          </Amount>
          <Amount name={text.reserved} help={text.reservedHelp}>
            <EntriesLink account="reserved">{birr(data.reserved)}</EntriesLink>
          </Amount>
          <Amount name={text.total} help={text.totalHelp}>
            {birr(data.total)}
            <span className="block text-xs font-normal text-quiet">
              <EntriesLink account="available">{formatBirr(data.available)}</EntriesLink>
              {' + '}
              <EntriesLink account="reserved">{formatBirr(data.reserved)}</EntriesLink>
            </span>
          </Amount>
          <Amount name={text.fees} help={text.feesHelp}>
            <EntriesLink account="fees">{birr(data.feesToDate)}</EntriesLink>
          </Amount>
          <Amount name={text.settled} help={text.settledHelp}>
            <EntriesLink account="settled">{birr(data.netSettled)}</EntriesLink>
          </Amount>
        </ul>
      )}
    </Loaded>
  );
}

function Amount({ name, help, children }: { name: string; help: string; children: ReactNode }) {
  return (
    <li className="card flex flex-col gap-0.5 p-3">
      <span className="font-medium">{name}</span>
      <span className="text-base font-semibold tabular-nums">{children}</span>
      <span className="text-xs text-quiet">{help}</span>
    </li>
  );
}

const signed = (amount: number): string => (amount > 0 ? '+' : '') + formatBirr(amount);

const COLUMNS: readonly Column<MovementRow>[] = [
  { header: text.type, cell: ({ type }) => KINDS[type] },
  { header: text.amount, align: 'end', narrow: 'second', cell: ({ amount }) => signed(amount) },
  {
    header: text.balanceAfter,
    align: 'end',
    narrow: 'none',
    cell: ({ balanceAfter }) => (balanceAfter === null ? '–' : formatBirr(balanceAfter)),
  },
  { header: text.about, cell: (row) => <Resource row={row} /> },
  { header: text.at, cell: ({ createdAt }) => <Time at={createdAt} seconds /> },
];

/** What an entry belongs to. */
function Resource({ row: { resourceType, resourceId } }: { row: MovementRow }) {
  const id = <Mono>{resourceId}</Mono>;
  if (resourceType === 'withdrawal' || resourceType === 'settlement') {
    return (
      <Link to={`/${resourceType}s`} search={{ open: resourceId }} className={LINK}>
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

const accountOf = ({ account }: Search) => ACCOUNTS.find((one) => one === account) ?? 'available';

const FILTERS: readonly Filter[] = [
  {
    kind: 'own',
    names: [],
    show: ({ search, change }) => (
      <ChoiceFilter
        name={text.account}
        values={ACCOUNTS.map((one) => [one, text[one]] as const)}
        chosen={accountOf(search)}
        onChange={(account) => change({ account })}
      />
    ),
  },
  {
    kind: 'days',
    presets: [
      [kit.lastMonth, {}],
      [text.allDays, { allDays: 'true' }],
    ],
  },
  { kind: 'several', name: 'type', label: text.type, values: Object.entries(KINDS) },
  {
    kind: 'own',
    names: ['resourceId'],
    show: ({ chosen: { resourceId } }) =>
      resourceId && <span className="text-quiet">{text.onlyResource(resourceId)}</span>,
  },
];

function Entries() {
  const state = useFilters(FILTERS);
  const account = accountOf(state.search);
  const query = { ...state.query, account };
  const filter = { ...state.chosen, account };
  return (
    <section aria-label={ENTRIES_OF[account]}>
      <Listing
        label={ENTRIES_OF[account]}
        state={state}
        query={useRead(
          'GET /api/checkout/balance/history',
          { query },
          { everyMs: REFRESH_MS, enabled: !state.wrongDays },
        )}
        columns={COLUMNS}
        idOf={({ entryId }) => entryId}
        empty={text.noneYet}
        emptyHelp={state.isFiltered ? undefined : text.noneYetHelp}
        foot={(total) => <Sums filter={filter} total={total} />}
      />
    </section>
  );
}

/** The sum of the entries of all pages, between the balances before and after them. */
function Sums({ filter, total }: { filter: Search; total: number | undefined }) {
  const summary = useRead('GET /api/checkout/balance/history/summary', { query: filter }, { everyMs: REFRESH_MS });
  const sums = useSteadySums(summary, { sumsOf: ({ data }) => data, key: stringifySearch(filter), total });
  if (!sums) return null;
  const rows = [
    [text.opening, birr(sums.openingBalance)],
    [text.sum, `${signed(sums.amount)} ${BIRR}`],
    [text.closing, birr(sums.closingBalance)],
  ] as const;
  return (
    <Totals columns={COLUMNS.length} sums={rows}>
      <p className="font-semibold">{text.count(sums.count)}</p>
    </Totals>
  );
}
