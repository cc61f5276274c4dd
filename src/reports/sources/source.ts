import type { Queryable } from '../../lib/db.ts';
import type { Santim } from '../../lib/money.ts';
import type { DayRange, Position } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { Channel } from '../../merchants/channels/channel.ts';
import { cellOf, type AmountField, type Cell, type Column, type ColumnHead } from './columns.ts';

/** The rows of a report; null filters nothing. */
export type ReportFilter = MerchantScope & { range: DayRange; statuses: string[] | null; channel: Channel | null };

/** The number of rows, and sums by column. */
export type Sums = { count: number; totals: Record<string, Santim> };

/** Sums of the rows of one status and channel. */
export type Group = Sums & { status: string; channel: Channel | null };

/** At most `limit` rows after a position; the first ones without a position. */
export type Part = { after: Position | null; limit: number };

/** The rows of one kind of report. */
export type Source = {
  /** The statuses that the rows can be filtered by; null: they have none. */
  statuses: readonly string[] | null;
  takesChannel: boolean;
  columns: readonly ColumnHead[];
  /** The number of rows, counted up to `most`: counting is faster than summing up. */
  count: (db: Queryable, filter: ReportFilter, most: number) => Promise<number>;
  sum: (db: Queryable, filter: ReportFilter) => Promise<Sums>;
  /** Rows in the list's order, as cells in the columns' order; `next` is null at the end. */
  page: (db: Queryable, filter: ReportFilter, part: Part) => Promise<{ rows: Cell[][]; next: Position | null }>;
};

type SourceDefinition<Row> = Omit<Source, 'columns' | 'page'> & {
  columns: readonly Column<Row>[];
  read: (db: Queryable, filter: ReportFilter, part: Part) => Promise<Row[]>;
  positionOf: (row: Row) => Position;
};

/** A source of rows of one type. */
export function createSource<Row>({ read, positionOf, ...source }: SourceDefinition<Row>): Source {
  const page: Source['page'] = async (db, filter, part) => {
    const found = await read(db, filter, part);
    const last = found.length === part.limit ? found.at(-1) : undefined;
    const rows = found.map((row) => source.columns.map((column) => cellOf(column, row)));
    return { rows, next: last ? positionOf(last) : null };
  };
  return { ...source, page };
}

/** A source whose rows can be summed up by status and channel. */
export type ListSource = Source & { group: (db: Queryable, filter: ReportFilter) => Promise<Group[]> };

type ListDefinition<Row, Filter> = Pick<Source, 'takesChannel'> & {
  statuses: readonly string[];
  columns: readonly Column<Row>[];
  listFilter: (filter: ReportFilter) => Filter;
  count: (db: Queryable, filter: Filter, most: number) => Promise<number>;
  read: (db: Queryable, filter: Filter, part: Part) => Promise<Row[]>;
  group: (db: Queryable, filter: Filter) => Promise<ListGroup<Row>[]>;
};
type ListGroup<Row> = { status: string; channel?: Channel | null; count: number } & Record<AmountField<Row>, Santim>;

/** The source of a list of the API: the same rows under the same conditions, in the order of time. */
export function createListSource<Row extends { id: string; position: string }, Filter>(
  list: ListDefinition<Row, Filter>,
): ListSource {
  const { statuses, takesChannel, columns, listFilter } = list;
  const amounts = columns.flatMap((column) => ('amount' in column ? [column] : []));
  const keys = amounts.map(({ key }) => key);
  const group = async (db: Queryable, filter: ReportFilter): Promise<Group[]> => {
    const groups = await list.group(db, listFilter(filter));
    return groups.map((sums) => ({
      status: sums.status,
      channel: sums.channel ?? null,
      count: sums.count,
      totals: Object.fromEntries(amounts.map(({ key, amount }) => [key, sums[amount]])),
    }));
  };
  const source = createSource<Row>({
    statuses,
    takesChannel,
    columns,
    count: (db, filter, most) => list.count(db, listFilter(filter), most),
    sum: async (db, filter) => sumGroups(await group(db, filter), keys),
    read: (db, filter, part) => list.read(db, listFilter(before(filter, part.after)), part),
    positionOf: ({ position, id }) => ({ at: position, id }),
  });
  return { ...source, group };
}

/**
 * The filter with its range cut just after a position in the order of time. With the whole range PostgreSQL starts each
 * page at the range's end and scans to the position, which takes minutes for a million rows.
 */
export function before(filter: ReportFilter, position: Position | null): ReportFilter {
  if (position === null) return filter;
  const nextSecond = new Date(Date.parse(`${position.at.slice(0, 19).replace(' ', 'T')}Z`) + 1_000);
  const { until } = filter.range;
  return { ...filter, range: { ...filter.range, until: nextSecond < until ? nextSecond : until } };
}

/** The sums of all groups, for these columns; 0 without groups. */
export function sumGroups(groups: readonly Group[], keys: readonly string[]): Sums {
  const all: Sums = { count: 0, totals: Object.fromEntries(keys.map((key) => [key, 0n])) };
  for (const { count, totals } of groups) {
    all.count += count;
    for (const key of keys) all.totals[key] = (all.totals[key] ?? 0n) + (totals[key] ?? 0n);
  }
  return all;
}
