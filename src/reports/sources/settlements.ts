import type { Queryable } from '../../lib/db.ts';
import {
  countSettlements,
  exportSettlements,
  groupSettlements,
  type ExportedSettlement,
} from '../../settlements/export.ts';
import type { SettlementFilter } from '../../settlements/queries.ts';
import { SETTLEMENT_STATUSES, type SettlementStatus } from '../../settlements/states.ts';
import { dayColumns, timeColumns, type Column } from './columns.ts';
import { MONEY_OUT_TOTALS, moneyOutColumns, moneyOutTotals } from './payout-columns.ts';
import { sumGroups, createSource, type Group, type ReportFilter, upTo } from './source.ts';

type Row = ExportedSettlement;

const COLUMNS: readonly Column<Row>[] = [
  { key: 'settlementId', heading: 'Settlement ID', cell: (row) => row.id },
  { key: 'requestId', heading: 'Request ID', cell: (row) => row.requestId },
  ...moneyOutColumns<Row>(),
  { key: 'currency', heading: 'Currency', cell: (row) => row.currency },
  { key: 'bank', heading: 'Bank', cell: (row) => row.bankCode },
  { key: 'accountNumber', heading: 'Account Number', cell: (row) => row.accountNumber },
  { key: 'accountName', heading: 'Account Name', cell: (row) => row.accountName },
  { key: 'status', heading: 'Status', cell: (row) => row.status },
  ...dayColumns<Row>('requestDate', 'Request Date', (row) => row.requestedAt),
  ...timeColumns<Row>('requestedAt', 'Requested at', (row) => row.requestedAt),
  { key: 'effectiveDate', heading: 'Effective Date', as: 'day', cell: (row) => row.effectiveDate },
  { key: 'expectedBy', heading: 'Expected by', as: 'day', cell: (row) => row.expectedUntil },
  ...timeColumns<Row>('sentAt', 'Sent at', (row) => row.sentAt),
  ...timeColumns<Row>('creditedAt', 'Credited at', (row) => row.creditedAt),
  ...timeColumns<Row>('returnedAt', 'Returned at', (row) => row.returnedAt),
  ...timeColumns<Row>('completedAt', 'Completed at', (row) => row.completedAt),
  { key: 'bankReference', heading: 'Bank Reference', cell: (row) => row.bankReference },
  { key: 'failureCode', heading: 'Failure Code', cell: (row) => row.failure?.code ?? null },
];

/** Settlements, as their list shows them. */
export const settlementsReport = createSource<Row>({
  statuses: SETTLEMENT_STATUSES,
  takesChannel: false,
  columns: COLUMNS,
  count: (db, filter, most) => countSettlements(db, asListed(filter), most),
  sum: async (db, filter) => sumGroups(await groupToBank(db, filter), MONEY_OUT_TOTALS),
  read: (db, filter, part) => exportSettlements(db, asListed(upTo(filter, part.after)), part),
  positionOf: ({ position, id }) => ({ at: position, id }),
});

/** Settlements added up by status. */
export async function groupToBank(db: Queryable, filter: ReportFilter): Promise<Group[]> {
  const groups = await groupSettlements(db, asListed(filter));
  return groups.map(({ status, count, ...sums }) => ({ status, channel: null, count, totals: moneyOutTotals(sums) }));
}

function asListed({ statuses, ...rest }: ReportFilter): SettlementFilter {
  // Checked at the door against the same list.
  return { ...rest, statuses: statuses as SettlementStatus[] | null };
}
