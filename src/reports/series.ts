import type { z } from 'zod';

import { daysFrom } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import { ensureDaysInRange, dayRange } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { groupTransactionsByDay } from '../payments/export.ts';
import { inParts, INTERVALS, presentDays } from './period.ts';
import { inSnapshot } from './queries.ts';
import type { SeriesQuery } from './schema.ts';
import { ZONE } from './sources/columns.ts';
import { addUp, sumsOf, type Sums } from './sources/source.ts';
import { listOfTransactions, TRANSACTION_COLUMNS } from './sources/sources.ts';
import { PART_DAYS, presentSums } from './summary.ts';

const DAYS_MAX = 366;

type Keyed = Sums & { key: string | null };

/**
 * The payments of a range of days in intervals, each with its sums by one key, all read at one instant. The first and the
 * last interval have the days of the range only. Throws INVALID_DATE_RANGE and DATE_RANGE_TOO_WIDE.
 */
export async function readSeries(db: Database, scope: MerchantScope, query: z.output<typeof SeriesQuery>) {
  const { startDate, endDate, interval, by } = query;
  ensureDaysInRange(query, DAYS_MAX);
  const range = dayRange(startDate, endDate);
  const filter = listOfTransactions({ ...scopeOf(scope), range, statuses: null, channel: null });
  return inSnapshot(db, async (trx, asOf) => {
    const byDay = new Map<string, Keyed[]>();
    for (const range of inParts(filter.range, PART_DAYS)) {
      for (const group of await groupTransactionsByDay(trx, { ...filter, range }, by)) {
        const { day, key } = group;
        byDay.set(day, [...(byDay.get(day) ?? []), { key, ...sumsOf(TRANSACTION_COLUMNS, group) }]);
      }
    }
    const intervals = groupBy(daysFrom(startDate, endDate), INTERVALS[interval]);
    const groupsOf = (days: string[]) => presentKeyed(days.flatMap((day) => byDay.get(day) ?? []));
    return {
      startDate,
      endDate,
      interval,
      by,
      timeZone: ZONE,
      currency: 'ETB',
      environment: scope.environment,
      asOf,
      ...groupsOf([...byDay.keys()]),
      series: [...intervals.values()].map((days) => ({
        ...presentDays({ startDate: days[0] ?? '', endDate: days.at(-1) ?? '' }),
        ...groupsOf(days),
      })),
    };
  });
}

/** Sums of all, and by key. */
function presentKeyed(all: Keyed[]) {
  const groups = [...groupBy(all, ({ key }) => key)];
  return {
    total: presentSums(addUp(all)),
    groups: groups
      .toSorted(([one], [other]) => ((one ?? '~') < (other ?? '~') ? -1 : 1))
      .map(([key, sums]) => ({ key, ...presentSums(addUp(sums)) })),
  };
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
