import { ethiopianDate } from '../calendar/ethiopian-date.ts';
import { inTransaction, rows, type Knex } from '../lib/db.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import { ownerOf, type Owner } from '../lib/owner.ts';
import { ZONE } from './columns.ts';
import { groupPayments } from './payments.ts';
import { readPeriod, type WantedPeriod } from './period.ts';
import { groupToBank } from './settlements.ts';
import { addUp, type Group, type Sums } from './source.ts';
import { groupMoneyOut } from './withdrawals.ts';

/** What a period came to, by status and channel, all of it at one instant. Throws as {@link readPeriod} does. */
export async function summarise(db: Knex, owner: Owner, { wanted, now }: { wanted: WantedPeriod; now: Date }) {
  const range = readPeriod(wanted, now);
  const filter = { ...ownerOf(owner), range, statuses: null, channel: null };
  const [payments, withdrawals, settlements] = await inTransaction(db, async (trx) => {
    await rows(trx, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    return Promise.all([groupPayments(trx, filter), groupMoneyOut(trx, filter), groupToBank(trx, filter)]);
  });
  return {
    period: wanted.period,
    startDate: range.startDate,
    endDate: range.endDate,
    startDateEthiopian: ethiopianDate(range.startDate),
    endDateEthiopian: ethiopianDate(range.endDate),
    timeZone: ZONE,
    currency: 'ETB',
    environment: owner.environment,
    asOf: now.toISOString(),
    payments: presentGroups(payments, { gross: 'receivedAmount', net: 'netAmount' }),
    withdrawals: presentGroups(withdrawals, { gross: 'amount', net: 'totalDebit' }),
    settlements: presentGroups(settlements, { gross: 'amount', net: 'totalDebit' }),
  };
}

/** Under which names of its totals a kind has gross and net. */
type Names = { gross: string; net: string };

function presentGroups(groups: readonly Group[], names: Names) {
  return {
    total: presentSums(addUp(groups), names),
    groups: groups.map((group) => ({ status: group.status, channel: group.channel, ...presentSums(group, names) })),
  };
}

function presentSums({ count, totals }: Sums, { gross, net }: Names) {
  const birr = (santim: Santim = 0n): number => toBirr(santim);
  return {
    count,
    gross: birr(totals[gross]),
    fee: birr(totals['fee']),
    feeTax: birr(totals['feeTax']),
    net: birr(totals[net]),
  };
}
