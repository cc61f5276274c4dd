import { useLocation } from '@tanstack/react-router';

import type { CallResult } from '../ui/call.ts';
import { base } from '../ui/environment.ts';
import { Empty, Loaded } from '../ui/feedback.tsx';
import { List, type Column } from '../ui/list.tsx';
import { Pager } from '../ui/pager.tsx';
import { stringifySearch } from '../ui/search-params.ts';
import { FilterBar, type FilterState } from './filters.tsx';

type Props<Row> = {
  label: string;
  state: FilterState;
  query: {
    data: CallResult<readonly Row[]> | undefined;
    error: Error | null;
    dataUpdatedAt: number;
    isFetching: boolean;
    refetch: () => Promise<unknown>;
  };
  columns: readonly Column<Row>[];
  idOf: (row: Row) => string;
  /** Why there is nothing. */
  empty: string;
};

/** A list of the API with its filters and pages. A row opens by its id in the address. */
export function Listing<Row>({ label, state, query, columns, idOf, empty }: Props<Row>) {
  const { pathname } = useLocation();
  const { search, limit, open, go, change } = state;
  return (
    <div className="card">
      {state.filters.length > 0 && <FilterBar state={state} />}
      <Loaded query={query} skeletonRows={limit / 2}>
        {({ data: rows, pagination }) => (
          <>
            {rows.length === 0 ? (
              <Empty title={empty} />
            ) : (
              <List
                label={label}
                columns={columns}
                rows={rows}
                idOf={idOf}
                open={{
                  hrefOf: (row) => base + pathname + stringifySearch({ ...search, open: idOf(row) }),
                  onOpen: (row) => go({ open: idOf(row) }),
                  openId: open,
                }}
              />
            )}
            {pagination && (
              <Pager
                pagination={pagination}
                query={query}
                onPage={(page) => change({ page: String(page) })}
                onLimit={(wanted) => change({ limit: String(wanted) })}
              />
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}
