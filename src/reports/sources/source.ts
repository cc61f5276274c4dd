import type { Queryable } from '../../lib/db.ts';
import type { Santim } from '../../lib/money.ts';
import type { ListPart } from '../../lib/paginate-newest.ts';
import type { DayRange, Position } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { Channel } from '../../merchants/channels/channel.ts';
import type { ReportRow } from '../queries.ts';
import { type AmountField, type Cell, type Column, type ColumnHead } from './columns.ts';

/** The rows of a report; null filters nothing. */
export type ReportFilter = MerchantScope &
  Pick<ReportRow, 'statuses' | 'channel'> &
  Partial<Pick<ReportRow, 'narrowing'>> & { range: DayRange };

/** The number of rows, and sums by column. */
export type Sums = { count: number; totals: Record<string, Santim> };

/** Sums of the rows of one status and channel. */
export type Group = Sums & { status: string; channel: Channel | null };

type SourceDefinition<Row> = {
  /** The statuses that the rows can be filtered by; null: they have none. */
  statuses: readonly string[] | null;
  takesChannel: boolean;
  columns: readonly Column<Row>[];
  /** The number of rows, counted up to `most`: counting is faster than summing up. */
  count: (db: Queryable, filter: ReportFilter, most: number) => Promise<number>;
  sum: (db: Queryable, filter: ReportFilter) => Promise<Sums>;
  /** Rows in the list's order. */
  read: (db: Queryable, filter: ReportFilter, part: ListPart) => Promise<Row[]>;
};
type ListedRow = { id: string; position: string };

export type Source = ReturnType<typeof createSource>;

export function createSource<Row extends ListedRow>({ read, columns, ...source }: SourceDefinition<Row>) {
  return {
    ...source,
    columns: columns as readonly ColumnHead[],
    /** All rows in the list's order: see {@link readPages}. */
    pages: (db: Queryable, filter: ReportFilter, pageRows: number) =>
      readPages(columns, (part) => read(db, filter, part), pageRows),
  };
}

/** All rows as cells in the columns' order, page by page; one empty page without rows. */
export async function* readPages<Row extends ListedRow>(
  columns: readonly Column<Row>[],
  read: (part: ListPart) => Promise<Row[]>,
  pageRows: number,
): AsyncGenerator<Cell[][]> {
  let after: Position | null = null;
  do {
    const found: Row[] = await read({ after, limit: pageRows });
    yield found.map((row) =>
      columns.map((column) => ('amount' in column ? (row[column.amount] as Santim | null) : column.cell(row))),
    );
    const last = found.length === pageRows ? found.at(-1) : undefined;
    after = last ? { at: last.position, id: last.id } : null;
  } while (after);
}

/** A source whose rows can be summed up by status and channel. */
export type ListSource = ReturnType<typeof createListSource>;

type ListDefinition<Row> = Omit<SourceDefinition<Row>, 'sum'> & {
  group: (db: Queryable, filter: ReportFilter) => Promise<ListGroup<Row>[]>;
};
type GroupSums<Row> = { count: number } & Record<AmountField<Row>, Santim>;
type ListGroup<Row> = GroupSums<Row> & { status: string; channel?: Channel | null };

/** The count of a group of rows, and its sums by column. */
export function sumsOf<Row>(columns: readonly Column<Row>[], group: GroupSums<Row>): Sums {
  const amounts = columns.flatMap((column) => ('amount' in column ? [column] : []));
  return {
    count: group.count,
    totals: Object.fromEntries(amounts.map(({ key, amount }) => [key, group[amount] as Santim])),
  };
}

export function toGroups<Row>(columns: readonly Column<Row>[], groups: readonly ListGroup<Row>[]): Group[] {
  return groups.map((group) => ({
    status: group.status,
    channel: group.channel ?? null,
    ...sumsOf(columns, group),
  }));
}

/** The source of a list of the API: the same rows under the same conditions, in the order of time. */
export function createListSource<Row extends ListedRow>({ group: readGroups, ...list }: ListDefinition<Row>) {
  const amounts = list.columns.flatMap((column) => ('amount' in column ? [column.key] : []));
  const none: Sums = { count: 0, totals: Object.fromEntries(amounts.map((key) => [key, 0n])) };
  const group = async (db: Queryable, filter: ReportFilter): Promise<Group[]> =>
    toGroups(list.columns, await readGroups(db, filter));
  const source = createSource<Row>({
    ...list,
    sum: async (db, filter) => addUp([none, ...(await group(db, filter))]),
    read: (db, filter, part) => list.read(db, before(filter, part.after), part),
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

/** The sums of all, column by column. */
export function addUp(all: readonly Sums[]): Sums {
  const sum: Sums = { count: 0, totals: {} };
  for (const { count, totals } of all) {
    sum.count += count;
    for (const [key, santim] of Object.entries(totals)) sum.totals[key] = (sum.totals[key] ?? 0n) + santim;
  }
  return sum;
}
