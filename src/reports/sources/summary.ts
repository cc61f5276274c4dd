import type { Knex, Queryable } from '../../lib/db.ts';
import { toBirr } from '../../lib/money.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { ethiopianDate } from '../../settlements/calendar/ethiopian-date.ts';
import { inParts, readPeriod, type WantedPeriod } from '../period.ts';
import { inSnapshot } from '../snapshot.ts';
import { ZONE } from './columns.ts';
import { groupPayments } from './payments.ts';
import { groupToBank } from './settlements.ts';
import { sumGroups, type Group, type ReportFilter, type Sums } from './source.ts';
import { groupMoneyOut } from './withdrawals.ts';

/** What a period came to, by status and channel, all of it at one instant. Throws as {@link readPeriod} does. */
export async function summarise(db: Knex, scope: MerchantScope, { wanted, now }: { wanted: WantedPeriod; now: Date }) {
  const range = readPeriod(wanted, now);
  const filter = { ...scopeOf(scope), range, statuses: null, channel: null };
  const { asOf, groups } = await inSnapshot(db, async (trx, snapshotAt) => {
    const requested = [groupPayments, groupMoneyOut, groupToBank].map(async (group) => inAll(trx, filter, group));
    return { asOf: snapshotAt, groups: await Promise.all(requested) };
  });
  const [payments = [], withdrawals = [], settlements = []] = groups;
  return {
    period: wanted.period,
    startDate: range.startDate,
    endDate: range.endDate,
    startDateEthiopian: ethiopianDate(range.startDate),
    endDateEthiopian: ethiopianDate(range.endDate),
    timeZone: ZONE,
    currency: 'ETB',
    environment: scope.environment,
    asOf: asOf.toISOString(),
    payments: presentGroups(payments, PAYMENTS),
    withdrawals: presentGroups(withdrawals, MONEY_OUT),
    settlements: presentGroups(settlements, MONEY_OUT),
  };
}

/** What one statement may add up: all payments of a year would take longer than the five seconds it has. */
const PART_DAYS = 31;

/** The groups of all parts of a filter's range, each status and channel once. */
async function inAll(
  trx: Queryable,
  filter: ReportFilter,
  group: (trx: Queryable, filter: ReportFilter) => Promise<Group[]>,
): Promise<Group[]> {
  const all = new Map<string, Group>();
  for (const range of inParts(filter.range, PART_DAYS)) {
    for (const one of await group(trx, { ...filter, range })) {
      // Those of no channel come last.
      const key = `${one.status} ${one.channel ?? '~'}`;
      const known = all.get(key);
      all.set(key, known ? { ...known, ...sumGroups([known, one], Object.keys(one.totals)) } : one);
    }
  }
  return [...all].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sums]) => sums);
}

/** What a summary shows, and under which names a kind's totals have it. */
const FEES = { fee: 'fee', feeTax: 'feeTax' } as const;
const PAYMENTS = { requested: 'amount', gross: 'receivedAmount', ...FEES, net: 'netAmount' } as const;
const MONEY_OUT = {
  requested: 'amount',
  gross: 'paidAmount',
  ...FEES,
  net: 'totalDebit',
  reserved: 'reserved',
} as const;

function presentGroups<Names extends Readonly<Record<string, string>>>(groups: readonly Group[], names: Names) {
  return {
    total: presentSums(sumGroups(groups, Object.values(names)), names),
    groups: groups.map((group) => ({ status: group.status, channel: group.channel, ...presentSums(group, names) })),
  };
}

function presentSums<Names extends Readonly<Record<string, string>>>({ count, totals }: Sums, names: Names) {
  const sums = Object.entries(names).map(([shown, name]) => [shown, toBirr(totals[name] ?? 0n)]);
  return { count, ...(Object.fromEntries(sums) as Record<keyof Names, number>) };
}
