import { ethiopianDate } from '../calendar/ethiopian-date.ts';
import type { Knex } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { ownerOf, type Owner } from '../lib/owner.ts';
import { ZONE } from './columns.ts';
import { groupPayments } from './payments.ts';
import { readPeriod, type WantedPeriod } from './period.ts';
import { groupToBank } from './settlements.ts';
import { inSnapshot } from './snapshot.ts';
import { addUp, type Group, type Sums } from './source.ts';
import { groupMoneyOut } from './withdrawals.ts';

/** What a period came to, by status and channel, all of it at one instant. Throws as {@link readPeriod} does. */
export async function summarise(db: Knex, owner: Owner, { wanted, now }: { wanted: WantedPeriod; now: Date }) {
  const range = readPeriod(wanted, now);
  const filter = { ...ownerOf(owner), range, statuses: null, channel: null };
  const { asOf, groups } = await inSnapshot(db, async (trx, snapshotAt) => {
    const asked = [groupPayments(trx, filter), groupMoneyOut(trx, filter), groupToBank(trx, filter)] as const;
    return { asOf: snapshotAt, groups: await Promise.all(asked) };
  });
  const [payments, withdrawals, settlements] = groups;
  return {
    period: wanted.period,
    startDate: range.startDate,
    endDate: range.endDate,
    startDateEthiopian: ethiopianDate(range.startDate),
    endDateEthiopian: ethiopianDate(range.endDate),
    timeZone: ZONE,
    currency: 'ETB',
    environment: owner.environment,
    asOf: asOf.toISOString(),
    payments: presentGroups(payments, PAYMENTS),
    withdrawals: presentGroups(withdrawals, MONEY_OUT),
    settlements: presentGroups(settlements, MONEY_OUT),
  };
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
    total: presentSums(addUp(groups, Object.values(names)), names),
    groups: groups.map((group) => ({ status: group.status, channel: group.channel, ...presentSums(group, names) })),
  };
}

function presentSums<Names extends Readonly<Record<string, string>>>({ count, totals }: Sums, names: Names) {
  const sums = Object.entries(names).map(([shown, name]) => [shown, toBirr(totals[name] ?? 0n)]);
  return { count, ...(Object.fromEntries(sums) as Record<keyof Names, number>) };
}
