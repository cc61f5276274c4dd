import type { Queryable } from '../../lib/db.ts';
import type { Santim } from '../../lib/money.ts';
import type { DayRange, Position } from '../../lib/pagination.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { Channel } from '../../merchants/channels/channel.ts';
import type { Cell, Column, ColumnHead } from './columns.ts';

/** What narrows a report; null does not. */
export type ReportFilter = MerchantScope & { range: DayRange; statuses: string[] | null; channel: Channel | null };

/** Rows, and by name what they add up to. */
export type Sums = { count: number; totals: Record<string, Santim> };

/** Rows of one status and channel, added up. */
export type Group = Sums & { status: string; channel: Channel | null };

/** Where the rows of one kind of report come from: the question of the list, under the list's own conditions. */
export type Source = {
  /** The statuses it may be narrowed by; null: it has none. */
  statuses: readonly string[] | null;
  takesChannel: boolean;
  columns: readonly ColumnHead[];
  /** How many rows there are, counted no further than `most`: adding them up takes longer. */
  count: (db: Queryable, filter: ReportFilter, most: number) => Promise<number>;
  sum: (db: Queryable, filter: ReportFilter) => Promise<Sums>;
  /** Rows after a position, in the list's order, as cells in the columns' order; `next` is null at the end. */
  page: (db: Queryable, filter: ReportFilter, part: Part) => Promise<SourcePage>;
};
/** At most `limit` rows after a position; from the beginning without one. */
export type Part = { after: Position | null; limit: number };
export type SourcePage = { rows: Cell[][]; next: Position | null };

type Typed<Row> = Pick<Source, 'statuses' | 'takesChannel' | 'count' | 'sum'> & {
  columns: readonly Column<Row>[];
  read: (db: Queryable, filter: ReportFilter, part: Part) => Promise<Row[]>;
  positionOf: (row: Row) => Position;
};

/** A source of rows of one type. */
export function createSource<Row>({ read, positionOf, ...source }: Typed<Row>): Source {
  return {
    ...source,
    page: async (db, filter, part) => {
      const found = await read(db, filter, part);
      const last = found.length === part.limit ? found.at(-1) : undefined;
      const rows = found.map((row) => source.columns.map((column) => column.cell(row)));
      return { rows, next: last ? positionOf(last) : null };
    },
  };
}

/**
 * A filter whose range ends at a position in the order of time. PostgreSQL would begin each page at the range's end, and
 * read its way to the position: a million rows took minutes.
 */
export function upTo(filter: ReportFilter, after: Position | null): ReportFilter {
  if (after === null) return filter;
  const nextSecond = new Date(Date.parse(`${after.at.slice(0, 19).replace(' ', 'T')}Z`) + 1_000);
  const { until } = filter.range;
  return { ...filter, range: { ...filter.range, until: nextSecond < until ? nextSecond : until } };
}

/** All groups together: of these names, 0 where there are no groups. */
export function sumGroups(groups: readonly Group[], names: readonly string[]): Sums {
  const all: Sums = { count: 0, totals: Object.fromEntries(names.map((name) => [name, 0n])) };
  for (const { count, totals } of groups) {
    all.count += count;
    for (const name of names) all.totals[name] = (all.totals[name] ?? 0n) + (totals[name] ?? 0n);
  }
  return all;
}

/** What is added up of payments. */
export const PAYMENT_TOTALS = ['amount', 'receivedAmount', 'fee', 'feeTax', 'netAmount'] as const;
