import type { z } from 'zod';

import { daysFrom } from '../lib/dates.ts';
import type { Database, Queryable } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { dayRange, ensureDaysInRange } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { inParts, INTERVALS, presentDays, readPeriod, type RequestedPeriod } from './period.ts';
import { inSnapshot } from './queries.ts';
import type { SeriesQuery } from './schema.ts';
import { ZONE } from './sources/columns.ts';
import { addUp, sumsOf, type Group, type ListSource, type ReportFilter, type Sums } from './sources/source.ts';
import { listOfTransactions, SOURCES, TRANSACTION_COLUMNS } from './sources/sources.ts';
import type { ReportKind } from './states.ts';
import { groupTransactionsByDay } from './transactions.ts';

const SUMMED_UP = ['payments', 'refunds', 'withdrawals', 'settlements'] as const;

/** The sums of a period by status and channel, of these kinds, all read at one instant. Throws as {@link readPeriod} does. */
export async function summarise(
  db: Database,
  scope: MerchantScope,
  { requested, kinds, now }: { requested: RequestedPeriod; kinds: readonly ReportKind[]; now: Date },
) {
  const range = readPeriod(requested, now);
  const filter = { ...scopeOf(scope), range, statuses: null, channel: null };
  return inSnapshot(db, async (trx, asOf) => {
    const readSums = async (kind: (typeof SUMMED_UP)[number]) =>
      presentGroups(kinds.includes(kind) ? await groupInParts(trx, filter, SOURCES[kind]) : []);
    const [payments, refunds, withdrawals, settlements] = await Promise.all(SUMMED_UP.map(readSums));
    return {
      period: requested.period,
      ...presentDays(range),
      timeZone: ZONE,
      currency: 'ETB',
      environment: scope.environment,
      asOf,
      payments,
      refunds,
      withdrawals,
      settlements,
    };
  });
}

/** The days that one statement sums up: all payments of a year would exceed the statement timeout of five seconds. */
const PART_DAYS = 31;

/** The groups of a filter's range, read in parts: one group for each status and channel. */
async function groupInParts(trx: Queryable, filter: ReportFilter, { group }: ListSource): Promise<Group[]> {
  const all = new Map<string, Group>();
  for (const range of inParts(filter.range, PART_DAYS)) {
    for (const one of await group(trx, { ...filter, range })) {
      // Groups without a channel are sorted last.
      const key = `${one.status} ${one.channel ?? '~'}`;
      const sumBefore = all.get(key);
      all.set(key, sumBefore ? { ...one, ...addUp([sumBefore, one]) } : one);
    }
  }
  return [...all].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
}

export function presentGroups(groups: readonly Group[]) {
  return {
    total: presentSums(addUp(groups)),
    groups: groups.map((group) => ({ status: group.status, channel: group.channel, ...presentSums(group) })),
  };
}

/** Sums by the columns of payments, refunds, or payouts, each with zeros for what only the others have. */
function presentSums({ count, totals }: Sums) {
  const { amount = 0n, fee = 0n, feeTax = 0n, reserved = 0n } = totals;
  const { receivedAmount, paidAmount = 0n, netAmount, totalDebit = 0n } = totals;
  const { refundedAmount = 0n, feeReturned = 0n, feeTaxReturned = 0n, netAfterRefunds = 0n } = totals;
  return {
    count,
    requested: toBirr(amount),
    gross: toBirr(receivedAmount ?? paidAmount),
    fee: toBirr(fee),
    feeTax: toBirr(feeTax),
    net: toBirr(netAmount ?? totalDebit),
    refunded: toBirr(refundedAmount),
    feeReturned: toBirr(feeReturned),
    feeTaxReturned: toBirr(feeTaxReturned),
    netAfterRefunds: toBirr(netAfterRefunds),
    reserved: toBirr(reserved),
  };
}

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
