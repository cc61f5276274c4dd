import { useLocation } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';

import { Button } from './button.tsx';
import { Drawer } from './dialog.tsx';
import { base } from './environment.ts';
import { Empty, Loaded } from './feedback.tsx';
import { FilterBar } from './filter-bar.tsx';
import { List } from './list.tsx';
import { Pager } from './pager.tsx';
import { stringifySearch } from './search-params.ts';
import { NewRows, useSteadyList, type ListQuery } from './steady-list.tsx';
import { text } from './text.ts';
import { WrongDays } from './wrong-days.tsx';

type ListProps<Row> = ComponentProps<typeof List<Row>>;
type Props<Row> = Pick<ListProps<Row>, 'label' | 'columns' | 'idOf' | 'sort'> &
  Pick<ComponentProps<typeof FilterBar>, 'state' | 'values'> &
  Pick<ComponentProps<typeof Loaded>, 'whyNot'> & {
    query: ListQuery<Row>;
    /** Why there is nothing. Where filters may be the reason, that and a way to clear them stand in its place. */
    empty: string;
    /** The next step, of a list that has its own words for filters. */
    emptyHelp?: ReactNode;
    /** Below the rows: totals, beside the number of rows of all pages; undefined while the former ones are still there. */
    foot?: (total: number | undefined) => ReactNode;
    /** What opens beside the list. `row`: as it is now; undefined: it is not on this page. */
    drawer?: (open: { id: string; row: Row | undefined; close: () => void }) => ReactNode;
    /** The same of rows that are read with the list only: one that is not on this page is said to be so. */
    rowDrawer?: (open: { row: Row; close: () => void }) => ReactNode;
    /** After the filters. */
    children?: ReactNode;
  };

/**
 * A list of the API with its filters and pages. A row opens by its id in the address, and stays in its place while changes
 * arrive.
 */
export function Listing<Row>({ state, query, empty, emptyHelp, foot, drawer, rowDrawer, ...props }: Props<Row>) {
  const { pathname } = useLocation();
  const { search, wrongDays, open, close, go, change } = state;
  const { label, columns, idOf, sort, values, whyNot, children } = props;
  const { list, news } = useSteadyList(query, { key: stringifySearch({ ...search, open: undefined }), idOf });
  const isHidden = state.isFiltered && emptyHelp === undefined;
  const lastPage = list.data?.pagination?.totalPages ?? 0;
  const opens = (drawer ?? rowDrawer) && {
    hrefOf: (row: Row) => base + pathname + stringifySearch({ ...search, open: idOf(row) }),
    onOpen: (row: Row) => go({ open: idOf(row) }),
    openId: open,
  };
  const openRow = query.data?.data.find((row) => idOf(row) === open);
  return (
    <>
      <div className="card">
        {state.filters.length > 0 && (
          <FilterBar state={state} values={values}>
            {children}
          </FilterBar>
        )}
        <NewRows news={news} />
        {wrongDays ? (
          <WrongDays days={wrongDays} change={change} />
        ) : (
          <Loaded query={list} skeletonRows={state.limit / 2} whyNot={whyNot}>
            {({ data: rows, pagination }) => (
              <>
                {rows.length === 0 && lastPage > 0 ? (
                  <Empty title={text.pastLastPage}>
                    <Button onClick={() => change({ page: `${lastPage}` })}>{text.toLastPage}</Button>
                  </Empty>
                ) : rows.length === 0 ? (
                  <Empty title={isHidden ? text.noneMatches : empty}>
                    {isHidden ? <Button onClick={() => state.reset({})}>{text.clearFilters}</Button> : emptyHelp}
                  </Empty>
                ) : (
                  <List
                    {...{ label, columns, rows, idOf }}
                    {...(opens && { open: opens })}
                    {...(sort && { sort })}
                    foot={foot?.(query.isPlaceholderData ? undefined : pagination?.total)}
                  />
                )}
                {pagination && <Pager pagination={pagination} query={list} onChange={change} />}
              </>
            )}
          </Loaded>
        )}
      </div>
      {open && drawer?.({ id: open, row: openRow, close })}
      {open && openRow && rowDrawer?.({ row: openRow, close })}
      {open && !openRow && rowDrawer && query.data && <NotOnPage onClose={close} />}
    </>
  );
}

/** In place of a row that only its address names. */
const NotOnPage = ({ onClose }: { onClose: () => void }) => (
  <Drawer title={text.notOnPage} onClose={onClose}>
    <p className="text-quiet">{text.notOnPageHelp}</p>
  </Drawer>
);
