import type { Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import type { Owner } from '../lib/owner.ts';
import type { DayRange, Position } from '../lib/page.ts';
import type { Channel } from '../providers/provider.ts';
import type { Cell, Column } from './columns.ts';

/** What narrows a report; null does not. */
export type ReportFilter = Owner & { range: DayRange; statuses: string[] | null; channel: Channel | null };

/** Rows, and by name what they add up to. */
export type Sums = { count: number; totals: Record<string, Santim> };

/** Rows of one status and channel, added up. */
export type Group = Sums & { status: string; channel: Channel | null };

/** Where the rows of one kind of report come from: the question of the list, under the list's own conditions. */
export type Source = {
  /** The statuses it may be narrowed by; null: it has none. */
  statuses: readonly string[] | null;
  takesChannel: boolean;
  columns: readonly { key: string; heading: string }[];
  sum: (db: Queryable, filter: ReportFilter) => Promise<Sums>;
  /** Rows after a position, in the list's order, as cells in the columns' order; `next` is null at the end. */
  page: (db: Queryable, filter: ReportFilter, after: Position | null) => Promise<SourcePage>;
};
export type SourcePage = { rows: Cell[][]; next: Position | null };

type Typed<Row> = Pick<Source, 'statuses' | 'takesChannel' | 'sum'> & {
  columns: readonly Column<Row>[];
  read: (db: Queryable, filter: ReportFilter, part: { after: Position | null; limit: number }) => Promise<Row[]>;
  positionOf: (row: Row) => Position;
};

/** A source of rows of one type. */
export function createSource<Row>({ read, positionOf, ...source }: Typed<Row>): Source {
  return {
    ...source,
    page: async (db, filter, after) => {
      const found = await read(db, filter, { after, limit: PAGE_ROWS });
      const last = found.length === PAGE_ROWS ? found.at(-1) : undefined;
      const rows = found.map((row) => source.columns.map((column) => column.cell(row)));
      return { rows, next: last ? positionOf(last) : null };
    },
  };
}

/** Rows read at once: some 1 MB. */
const PAGE_ROWS = 1_000;

/** All groups together. */
export function addUp(groups: readonly Group[]): Sums {
  const all: Sums = { count: 0, totals: {} };
  for (const { count, totals } of groups) {
    all.count += count;
    for (const [name, santim] of Object.entries(totals)) all.totals[name] = (all.totals[name] ?? 0n) + santim;
  }
  return all;
}
