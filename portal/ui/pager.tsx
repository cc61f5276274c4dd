import { Button, IconButton } from './button.tsx';
import type { Pagination } from './call.ts';
import { formatClock } from './format.ts';
import type { Search } from './search-params.ts';
import type { ListQuery } from './steady-list.tsx';
import { text } from './text.ts';

const SIZES = [20, 50, 100];

type Props = {
  pagination: Pagination;
  /** The list as it was loaded. */
  query: Pick<ListQuery<unknown>, 'dataUpdatedAt' | 'isFetching' | 'refetch'>;
  /** Changes the address. */
  onChange: (changes: Search) => void;
};

/** The total of a list and its pages: always there, with one page too. */
export function Pager({ pagination, query, onChange }: Props) {
  const { total, page, limit, totalPages } = pagination;
  const pages = Math.max(totalPages, 1);
  const first = page > pages ? 0 : (page - 1) * limit + 1;
  const last = page > pages ? 0 : Math.min(page * limit, total);
  return (
    <nav
      aria-label={text.pager}
      className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-t border-line px-3 py-2"
    >
      <div className="flex items-center gap-1">
        <p role="status">{total === 0 ? text.noRows : text.range(first, last, total)}</p>
        <span className="ms-2 text-xs text-quiet">
          {text.asOf(formatClock(new Date(query.dataUpdatedAt), { seconds: true }))}
        </span>
        <IconButton
          icon="refresh"
          label={text.refresh}
          disabled={query.isFetching}
          onClick={() => void query.refetch()}
        />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <label className="flex items-center gap-2 text-quiet">
          <span className="max-sm:sr-only">{text.rowsPerPage}</span>
          <select className="control" value={limit} onChange={({ target }) => onChange({ limit: target.value })}>
            {SIZES.map((size) => (
              <option key={size}>{size}</option>
            ))}
          </select>
        </label>
        <span className="text-quiet max-sm:sr-only">{text.pageOf(page, pages)}</span>
        <Button disabled={page <= 1} onClick={() => onChange({ page: `${Math.min(page - 1, pages)}` })} icon="left">
          {text.previous}
        </Button>
        <Button disabled={page >= pages} onClick={() => onChange({ page: `${page + 1}` })}>
          {text.next}
        </Button>
      </div>
    </nav>
  );
}
