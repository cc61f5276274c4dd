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
    payments: presentGroups(payments, { ...FEES, gross: 'receivedAmount', net: 'netAmount' }),
    withdrawals: presentGroups(withdrawals, MONEY_OUT),
    settlements: presentGroups(settlements, MONEY_OUT),
  };
}

/** Under which names a kind's totals have what a summary shows. */
type Names = Record<'gross' | 'fee' | 'feeTax' | 'net', string>;
const FEES = { fee: 'fee', feeTax: 'feeTax' } as const;
const MONEY_OUT: Names = { ...FEES, gross: 'amount', net: 'totalDebit' };

function presentGroups(groups: readonly Group[], names: Names) {
  return {
    total: presentSums(addUp(groups, Object.values(names)), names),
    groups: groups.map((group) => ({ status: group.status, channel: group.channel, ...presentSums(group, names) })),
  };
}

function presentSums({ count, totals }: Sums, names: Names) {
  const birr = (name: string): number => toBirr(totals[name] ?? 0n);
  return {
    count,
    gross: birr(names.gross),
    fee: birr(names.fee),
    feeTax: birr(names.feeTax),
    net: birr(names.net),
  };
}
