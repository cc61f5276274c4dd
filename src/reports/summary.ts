import type { Database, Queryable } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { inParts, presentDays, readPeriod, type RequestedPeriod } from './period.ts';
import { inSnapshot } from './queries.ts';
import { ZONE } from './sources/columns.ts';
import { addUp, type Group, type ListSource, type ReportFilter, type Sums } from './sources/source.ts';
import { SOURCES } from './sources/sources.ts';
import type { ReportKind } from './states.ts';

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
    const sumsOf = async (kind: (typeof SUMMED_UP)[number]) =>
      presentGroups(kinds.includes(kind) ? await groupInParts(trx, filter, SOURCES[kind]) : []);
    const [payments, refunds, withdrawals, settlements] = await Promise.all(SUMMED_UP.map(sumsOf));
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
export const PART_DAYS = 31;

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
export function presentSums({ count, totals }: Sums) {
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
