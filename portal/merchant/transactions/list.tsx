import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';

import { Button } from '../../ui/button.tsx';
import { addressOf } from '../../ui/call.ts';
import { base } from '../../ui/environment.ts';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { Check } from '../../ui/field.tsx';
import { formatBirr } from '../../ui/format.ts';
import { List } from '../../ui/list.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Popover } from '../../ui/popover.tsx';
import { useShortcuts } from '../../ui/shortcuts.ts';
import { NewRows, useSteadyList } from '../../ui/steady-list.tsx';
import { text as kit } from '../../ui/text.ts';
import { useMember } from '../member.ts';
import { Page } from '../page.tsx';
import { useRead, type TransactionRow, type TransactionSums } from '../routes.ts';
import { COLUMNS, MORE_COLUMNS } from './columns.tsx';
import { TransactionDrawer } from './detail.tsx';
import { ExportButton } from './export.tsx';
import { Filters } from './filters.tsx';
import { filterOf, NO_FILTER, type TransactionSearch } from './search.ts';
import { text } from './text.ts';
import { ViewMenu } from './views.tsx';

const STORED_AS = 'meskot.columns.transactions';
const LIMIT_DEFAULT = 20;

/** The list of transactions. One filter gives its rows, its totals and its file. */
export function TransactionList() {
  const search = useSearch({ from: '/transactions' });
  const navigate = useNavigate();
  const [more, setMore] = useState(readColumns);
  const filter = filterOf(search);
  const { page = 1, limit = LIMIT_DEFAULT, sort = '-createdAt' } = search;
  const query = { ...filter, sort, page, limit };
  const { list: listed, news } = useSteadyList(useRead('GET /api/checkout/txns/get_all_txns', { query }), {
    key: JSON.stringify(query),
    idOf,
  });
  const sums = useSums(filter, listed.data?.pagination?.total);
  const go = (changes: Partial<TransactionSearch>): void =>
    void navigate({ to: '/transactions', search: { ...search, ...changes } });
  /** A changed filter shows its first page. */
  const change = (changes: Partial<TransactionSearch>): void => go({ page: undefined, ...changes });
  const columns = [...COLUMNS, ...MORE_COLUMNS.filter(({ id }) => more.includes(id))];
  return (
    <Page
      title={text.title}
      actions={
        <>
          <ViewMenu search={search} onOpen={change} />
          <ExportButton filter={filter} sort={sort} total={listed.data?.pagination?.total} />
          <NewPaymentButton />
        </>
      }
    >
      <div className="card">
        <Filters search={search} onChange={change}>
          <ColumnChoice chosen={more} onChange={(chosen) => setMore(storeColumns(chosen))} />
        </Filters>
        <NewRows news={news} />
        <Loaded query={listed} skeletonRows={limit / 2}>
          {({ data: rows, pagination }) => (
            <>
              {rows.length === 0 ? (
                <NoRows search={search} onChange={change} />
              ) : (
                <List
                  label={text.rowsLabel}
                  columns={columns}
                  rows={rows}
                  idOf={idOf}
                  open={{
                    hrefOf: (row) =>
                      base + addressOf('/transactions', { query: { ...search, open: row.transactionId } }),
                    onOpen: (row) => go({ open: row.transactionId }),
                    openId: search.open,
                  }}
                  sort={{ by: sort, onSort: (by) => change({ sort: by as typeof sort }) }}
                  foot={sums && <Totals sums={sums} columns={columns.length} />}
                />
              )}
              {pagination && (
                <Pager
                  pagination={pagination}
                  query={listed}
                  onPage={(wanted) => change({ page: wanted })}
                  onLimit={(wanted) => change({ limit: wanted })}
                />
              )}
            </>
          )}
        </Loaded>
      </div>
      {search.open && <TransactionDrawer transactionId={search.open} />}
    </Page>
  );
}

const idOf = (row: TransactionRow): string => row.transactionId;

/** The sums of the filter: those of as many rows as are listed, while newer ones are not shown. */
function useSums(query: ReturnType<typeof filterOf>, total: number | undefined): TransactionSums['total'] | undefined {
  const present = useRead('GET /api/checkout/txns/summary', { query }).data?.data.total;
  const [shown, setShown] = useState(present);
  if (present?.count === total && present !== shown) setShown(present);
  return shown?.count === total ? shown : present;
}

/** The sums of all rows of the filter, not only of this page. */
function Totals({ sums, columns }: { sums: TransactionSums['total']; columns: number }) {
  const amounts = [
    [text.amount, sums.requested],
    [text.paid, sums.gross],
    [text.fee, sums.fee + sums.feeTax],
    [text.net, sums.net],
  ] as const;
  return (
    <tfoot role="rowgroup">
      <tr role="row" className="border-t-2 border-line">
        <td role="cell" colSpan={columns} className="px-3 py-2.5">
          <dl className="flex flex-wrap gap-x-6 gap-y-1">
            <div className="flex gap-1.5 font-semibold">
              <dt>{text.total}</dt>
              <dd>{text.rows(sums.count)}</dd>
            </div>
            {amounts.map(([name, amount]) => (
              <div key={name} className="flex gap-1.5">
                <dt className="text-quiet">{name}</dt>
                <dd className="font-semibold whitespace-nowrap tabular-nums">{formatBirr(amount)} ETB</dd>
              </div>
            ))}
          </dl>
        </td>
      </tr>
    </tfoot>
  );
}

const NewPayment = lazy(() => import('./new-payment.tsx').then((file) => ({ default: file.NewPayment })));

function NewPaymentButton() {
  const { may, whyNot } = useMember();
  const [isOpen, setOpen] = useState(false);
  useShortcuts({ n: () => setOpen(may('checkout:write')) });
  return (
    <>
      <Button kind="primary" icon="plus" whyNot={whyNot('checkout:write')} onClick={() => setOpen(true)}>
        {text.newPayment}
      </Button>
      {isOpen && (
        <Suspense>
          <NewPayment onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

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
          MORE_COLUMNS.map(({ id, header }) => (
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

type NoRowsProps = { search: TransactionSearch; onChange: (changes: Partial<TransactionSearch>) => void };

function NoRows({ search, onChange }: NoRowsProps) {
  const { range: _range, startDate: _startDate, endDate: _endDate, ...narrowing } = NO_FILTER;
  const isFiltered = Object.keys(narrowing).some((name) => search[name as keyof TransactionSearch] !== undefined);
  if (!isFiltered && search.range === '90d') return <Empty title={text.noneYet}>{text.firstStep}</Empty>;
  if (search.range === '90d') return <Empty title={text.noneInRange}>{text.tryWider}</Empty>;
  return (
    <Empty title={isFiltered ? text.noneInRange : text.noneInDays}>
      <p>{isFiltered ? text.tryWider : text.firstStep}</p>
      <Button onClick={() => onChange({ range: '90d', startDate: undefined, endDate: undefined })}>
        {text.showMore}
      </Button>
    </Empty>
  );
}
