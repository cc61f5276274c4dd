import type { Queryable } from '../../lib/db.ts';
import {
  countWithdrawals,
  exportWithdrawals,
  groupWithdrawals,
  type ExportedWithdrawal,
} from '../../withdrawals/export.ts';
import type { WithdrawalFilter } from '../../withdrawals/queries.ts';
import { WITHDRAWAL_STATUSES, type WithdrawalStatus } from '../../withdrawals/states.ts';
import { dayColumns, timeColumns, type Column } from './columns.ts';
import { MONEY_OUT_TOTALS, moneyOutColumns, moneyOutTotals } from './payout-columns.ts';
import { sumGroups, createSource, type Group, type ReportFilter, upTo } from './source.ts';

type Row = ExportedWithdrawal;

const COLUMNS: readonly Column<Row>[] = [
  { key: 'withdrawalRequestId', heading: 'Withdrawal ID', cell: (row) => row.id },
  { key: 'requestId', heading: 'Request ID', cell: (row) => row.requestId },
  ...moneyOutColumns<Row>(),
  { key: 'currency', heading: 'Currency', cell: (row) => row.currency },
  { key: 'channel', heading: 'Channel', cell: (row) => row.channel },
  { key: 'destination', heading: 'Destination', cell: (row) => row.destination },
  { key: 'accountName', heading: 'Account Name', cell: (row) => row.accountName },
  { key: 'status', heading: 'Status', cell: (row) => row.status },
  ...dayColumns<Row>('requestDate', 'Request Date', (row) => row.requestedAt),
  ...timeColumns<Row>('requestedAt', 'Requested at', (row) => row.requestedAt),
  { key: 'reason', heading: 'Reason', cell: (row) => row.reason },
  { key: 'providerReference', heading: 'Provider Reference', cell: (row) => row.providerReference },
  ...timeColumns<Row>('completedAt', 'Completed at', (row) => row.completedAt),
  ...timeColumns<Row>('reversedAt', 'Reversed at', (row) => row.reversedAt),
  { key: 'failureCode', heading: 'Failure Code', cell: (row) => row.failure?.code ?? null },
];

/** Withdrawals, as their list shows them. */
export const withdrawalsReport = createSource<Row>({
  statuses: WITHDRAWAL_STATUSES,
  takesChannel: true,
  columns: COLUMNS,
  count: (db, filter, most) => countWithdrawals(db, asListed(filter), most),
  sum: async (db, filter) => sumGroups(await groupMoneyOut(db, filter), MONEY_OUT_TOTALS),
  read: (db, filter, part) => exportWithdrawals(db, asListed(upTo(filter, part.after)), part),
  positionOf: ({ position, id }) => ({ at: position, id }),
});

/** Withdrawals added up by status and channel. */
export async function groupMoneyOut(db: Queryable, filter: ReportFilter): Promise<Group[]> {
  const groups = await groupWithdrawals(db, asListed(filter));
  return groups.map(({ status, channel, count, ...sums }) => ({
    status,
    channel,
    count,
    totals: moneyOutTotals(sums),
  }));
}

function asListed({ statuses, channel, ...rest }: ReportFilter): WithdrawalFilter {
  // Checked at the door against the same list.
  return { ...rest, statuses: statuses as WithdrawalStatus[] | null, channel: channel ?? undefined };
}
