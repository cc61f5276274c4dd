import { useState } from 'react';

import { Button } from './button.tsx';
import type { Pagination } from './call.ts';
import { text } from './text.ts';
import { noteOwnChange, ownChangeAt } from './use-calls.ts';

type Page<Row> = { data: Row[]; pagination?: Pagination };
/** A page of rows as it was read. */
export type ListQuery<Row> = {
  data: Page<Row> | undefined;
  dataUpdatedAt: number;
  error: Error | null;
  isFetching: boolean;
  isPlaceholderData: boolean;
  refetch: () => Promise<unknown>;
};
/** Rows that are not shown yet. */
type News = { count: number; show: () => void };

/**
 * The rows of a list in the places where they were first shown, with their present values. What came since is `news`, and
 * is shown on demand, after a change by the person, and where no row would move. `key`: of the page and its filter.
 */
export function useSteadyList<Row>(query: ListQuery<Row>, { key, idOf }: { key: string; idOf: (row: Row) => string }) {
  const [shown, setShown] = useState<{ key: string; at: number; page: Page<Row> } | null>(null);
  const { data: present, dataUpdatedAt: at, isPlaceholderData } = query;
  const isDue =
    shown === null ||
    shown.key !== key ||
    shown.page.data.length === 0 ||
    (shown.at < ownChangeAt() && at >= ownChangeAt());
  if (present && !isPlaceholderData && isDue && shown?.page !== present) setShown({ key, at, page: present });

  const byId = new Map(present?.data.map((row) => [idOf(row), row]));
  const page = shown && { ...shown.page, data: shown.page.data.map((row) => byId.get(idOf(row)) ?? row) };
  const refetch = async (): Promise<unknown> => {
    noteOwnChange();
    return query.refetch();
  };
  return { list: { ...query, data: page ?? undefined, refetch }, news: newsOf() };

  function newsOf(): News | null {
    if (!shown || !present || isPlaceholderData || shown.key !== key) return null;
    const isSame =
      present.data.length === shown.page.data.length &&
      present.data.every((row, index) => idOf(row) === idOf(shown.page.data[index] as Row));
    const count = (present.pagination?.total ?? 0) - (shown.page.pagination?.total ?? 0);
    if (isSame && count === 0) return null;
    return { count: Math.max(count, 0), show: () => setShown({ key, at, page: present }) };
  }
}

type SumsQuery<Data> = { data: Data | undefined; isPlaceholderData: boolean };
type SumsOptions<Data, Sums> = {
  sumsOf: (data: Data) => Sums;
  /** Of the filter: the sums of another one never stand below these rows. */
  key: string;
  /** The number of rows that the list shows; undefined: those of another page or filter are still there. */
  total: number | undefined;
};

/** The sums of all rows of a list: those of as many rows as it shows, while newer ones are not shown. */
export function useSteadySums<Data, Sums extends { count: number }>(
  { data, isPlaceholderData }: SumsQuery<Data>,
  { sumsOf, key, total }: SumsOptions<Data, Sums>,
): Sums | undefined {
  const present = data && !isPlaceholderData ? sumsOf(data) : undefined;
  const [shown, setShown] = useState({ key, sums: present });
  const isOther = shown.key !== key;
  const isBetter = present && (present.count === total || shown.sums?.count !== total);
  if (total !== undefined && (isOther || (isBetter && present !== shown.sums))) setShown({ key, sums: present });
  return isOther ? undefined : shown.sums;
}

/** A button above the rows that shows what came since; it takes no room, so that no row moves. */
export function NewRows({ news }: { news: News | null }) {
  return (
    <div role="status" className="sticky top-(--frame-height) z-10 flex h-0 justify-center">
      {news && (
        <Button kind="primary" icon="refresh" className="mt-0.5 h-8 min-h-8 shadow-raised" onClick={news.show}>
          {news.count > 0 ? text.newRows(news.count) : text.listChanged}
        </Button>
      )}
    </div>
  );
}
