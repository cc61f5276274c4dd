import { useState } from 'react';

import { Button } from '../../ui/button.tsx';
import { Check } from '../../ui/field.tsx';
import { useFilters, type FilterState } from '../../ui/filter-bar.tsx';
import { birr } from '../../ui/format.ts';
import { Totals } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { onDemand } from '../../ui/on-demand.tsx';
import { Page } from '../../ui/page.tsx';
import { Popover } from '../../ui/popover.tsx';
import { stringifySearch } from '../../ui/search-params.ts';
import { useShortcuts } from '../../ui/shortcuts.ts';
import { useSteadySums } from '../../ui/steady-list.tsx';
import { text as kit } from '../../ui/text.ts';
import { useMember } from '../member.ts';
import { useRead } from '../routes.ts';
import { COLUMNS, MORE_COLUMNS } from './columns.tsx';
import { TransactionDrawer } from './detail.tsx';
import { ExportButton } from './export.tsx';
import { FILTERS } from './filters.tsx';
import { filterOf, sortOf } from './query.ts';
import { text } from './text.ts';
import { ViewMenu } from './views.tsx';

const STORED_AS = 'meskot.columns.transactions';

/** The list of transactions. One filter gives its rows, its totals and its file. */
export function TransactionList() {
  const state = useFilters(FILTERS);
  const [more, setMore] = useState(readColumns);
  const filter = filterOf(state.chosen);
  const sort = sortOf(state.search);
  const { page, limit } = state.query;
  const query = { ...filter, sort, page, limit };
  const listed = useRead('GET /api/checkout/txns/get_all_txns', { query }, { enabled: !state.wrongDays });
  const columns = [...COLUMNS, ...chosenOf(more)];
  return (
    <Page
      title={text.title}
      actions={
        <>
          <ViewMenu state={state} />
          <ExportButton filter={filter} sort={sort} total={listed.data?.pagination?.total} />
          <NewPaymentButton />
        </>
      }
    >
      <Listing
        label={text.rowsLabel}
        state={state}
        query={listed}
        columns={columns}
        idOf={({ transactionId }) => transactionId}
        {...emptyOf(state)}
        sort={{ by: sort, onSort: (by) => state.change({ sort: by }) }}
        foot={(total) => <Sums filter={filter} total={total} columns={columns.length} />}
        drawer={({ id, close }) => <TransactionDrawer transactionId={id} onClose={close} />}
      >
        <ColumnChoice chosen={more} onChange={(chosen) => setMore(storeColumns(chosen))} />
      </Listing>
    </Page>
  );
}

type SumsProps = { filter: ReturnType<typeof filterOf>; total: number | undefined; columns: number };

/** The sums of all rows of the filter, not only of this page. */
function Sums({ filter, total, columns }: SumsProps) {
  const summary = useRead('GET /api/checkout/txns/summary', { query: filter });
  const sums = useSteadySums(summary, { sumsOf: ({ data }) => data.total, key: stringifySearch(filter), total });
  if (!sums) return null;
  const rows = [
    [text.total, text.rows(sums.count)],
    [text.amount, birr(sums.requested)],
    [text.paid, birr(sums.gross)],
    [text.fee, birr(sums.fee + sums.feeTax)],
    [text.net, birr(sums.net)],
    ...(sums.refunded > 0
      ? ([
          [text.refunded, birr(sums.refunded)],
          [text.feeReturned, birr(sums.feeReturned + sums.feeTaxReturned)],
          [text.netAfterRefunds, birr(sums.netAfterRefunds)],
        ] as const)
      : []),
  ] as const;
  return <Totals columns={columns} sums={rows} />;
}

const { Component: NewPayment } = onDemand(() => import('./new-payment.tsx').then((file) => file.NewPayment));

function NewPaymentButton() {
  const { may, whyNot } = useMember();
  const [isOpen, setOpen] = useState(false);
  useShortcuts({ n: () => setOpen(may('checkout:write')) });
  return (
    <>
      <Button kind="primary" icon="plus" whyNot={whyNot('checkout:write')} onClick={() => setOpen(true)}>
        {text.newPayment}
      </Button>
      {isOpen && <NewPayment onClose={() => setOpen(false)} />}
    </>
  );
}

const chosenOf = (ids: readonly string[]) =>
  Object.entries(MORE_COLUMNS).flatMap(([id, column]) => (ids.includes(id) ? column : []));

function readColumns(): string[] {
  return (localStorage.getItem(STORED_AS) ?? '').split(',');
}

function storeColumns(ids: string[]): string[] {
  localStorage.setItem(STORED_AS, ids.join(','));
  return ids;
}

function ColumnChoice({ chosen, onChange }: { chosen: string[]; onChange: (chosen: string[]) => void }) {
  return (
    <div className="ms-auto max-sm:hidden">
      <Popover button={kit.columns} icon="columns" title={kit.columns}>
        {() =>
          Object.entries(MORE_COLUMNS).map(([id, { header }]) => (
            <Check
              key={id}
              label={header}
              isChecked={chosen.includes(id)}
              onChange={(isChecked) => onChange(isChecked ? [...chosen, id] : chosen.filter((one) => one !== id))}
            />
          ))
        }
      </Popover>
    </div>
  );
}

const DAY_NAMES = ['range', 'startDate', 'endDate'];

/** Why there are no rows, and the next step. */
function emptyOf({ chosen, change }: FilterState) {
  const isNarrowed = Object.entries(chosen).some(([name, value]) => value !== undefined && !DAY_NAMES.includes(name));
  const isWide = chosen['range'] === '90d';
  const unfiltered = isWide ? text.noneYet : text.noneInDays;
  const showMore = (): void => change({ range: '90d', startDate: undefined, endDate: undefined });
  const emptyHelp = (
    <>
      <p>{isNarrowed ? text.tryWider : text.firstStep}</p>
      {!isWide && <Button onClick={showMore}>{text.showMore}</Button>}
    </>
  );
  return { empty: isNarrowed ? text.noneInRange : unfiltered, emptyHelp };
}
