import type { Database, Queryable } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { ethiopianDate } from '../settlements/calendar/ethiopian-date.ts';
import { inParts, readPeriod, type RequestedPeriod } from './period.ts';
import { inSnapshot } from './queries.ts';
import { ZONE } from './sources/columns.ts';
import { sumGroups, type Group, type ListSource, type ReportFilter, type Sums } from './sources/source.ts';
import { SOURCES } from './sources/sources.ts';

/** The sums of a period by status and channel, all read at one instant. Throws as {@link readPeriod} does. */
export async function summarise(
  db: Database,
  scope: MerchantScope,
  { requested, now }: { requested: RequestedPeriod; now: Date },
) {
  const range = readPeriod(requested, now);
  const filter = { ...scopeOf(scope), range, statuses: null, channel: null };
  return inSnapshot(db, async (trx, snapshotAt) => {
    const [payments, withdrawals, settlements] = await Promise.all([
      groupInParts(trx, filter, SOURCES.payments),
      groupInParts(trx, filter, SOURCES.withdrawals),
      groupInParts(trx, filter, SOURCES.settlements),
    ]);
    return {
      period: requested.period,
      startDate: range.startDate,
      endDate: range.endDate,
      startDateEthiopian: ethiopianDate(range.startDate),
      endDateEthiopian: ethiopianDate(range.endDate),
      timeZone: ZONE,
      currency: 'ETB',
      environment: scope.environment,
      asOf: snapshotAt.toISOString(),
      payments: presentGroups(payments, PAYMENT_FIELDS),
      withdrawals: presentGroups(withdrawals, PAYOUT_FIELDS),
      settlements: presentGroups(settlements, PAYOUT_FIELDS),
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
      all.set(key, sumBefore ? { ...one, ...sumGroups([sumBefore, one], Object.keys(one.totals)) } : one);
    }
  }
  return [...all].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
}

/** The fields of a summary, and the column that each sums up. */
const PAYMENT_FIELDS = {
  requested: 'amount',
  gross: 'receivedAmount',
  fee: 'fee',
  feeTax: 'feeTax',
  net: 'netAmount',
} as const;
const PAYOUT_FIELDS = {
  requested: 'amount',
  gross: 'paidAmount',
  fee: 'fee',
  feeTax: 'feeTax',
  net: 'totalDebit',
  reserved: 'reserved',
} as const;

function presentGroups<Fields extends Readonly<Record<string, string>>>(groups: readonly Group[], fields: Fields) {
  return {
    total: presentSums(sumGroups(groups, Object.values(fields)), fields),
    groups: groups.map((group) => ({ status: group.status, channel: group.channel, ...presentSums(group, fields) })),
  };
}

function presentSums<Fields extends Readonly<Record<string, string>>>({ count, totals }: Sums, fields: Fields) {
  const sums = Object.entries(fields).map(([field, column]) => [field, toBirr(totals[column] ?? 0n)]);
  return { count, ...(Object.fromEntries(sums) as Record<keyof Fields, number>) };
}
