import { channelName } from '../../ui/channel-text.ts';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { birr, formatBirr, formatCount } from '../../ui/format.ts';
import { List, Totals, type Column } from '../../ui/list.tsx';
import { listOf } from '../../ui/search-params.ts';
import { useRead, type ReportSummary } from '../routes.ts';
import { text } from './text.ts';
import { STATUSES, type WantedReport } from './wanted.ts';

type PaymentGroup = ReportSummary['payments']['groups'][number];
/** Of any kind: amounts that only other kinds have are missing. */
type Group = Pick<PaymentGroup, 'status' | 'channel' | 'count'> & Partial<PaymentGroup>;

const AMOUNTS = {
  requested: ({ requested = 0 }: Group) => requested,
  gross: ({ gross = 0 }: Group) => gross,
  fee: ({ fee = 0, feeTax = 0 }: Group) => fee + feeTax,
  net: ({ net = 0 }: Group) => net,
  refunded: ({ refunded = 0 }: Group) => refunded,
  feeReturned: ({ feeReturned = 0, feeTaxReturned = 0 }: Group) => feeReturned + feeTaxReturned,
  netAfterRefunds: ({ netAfterRefunds = 0 }: Group) => netAfterRefunds,
} as const;
type AmountName = keyof typeof AMOUNTS;

const OF_PAYOUTS = ['requested', 'gross', 'fee', 'net'] as const;
const AMOUNTS_OF: Record<WantedReport['kind'], readonly AmountName[]> = {
  payments: [...OF_PAYOUTS, 'refunded', 'feeReturned', 'netAfterRefunds'],
  refunds: ['requested', 'gross', 'feeReturned', 'net'],
  withdrawals: OF_PAYOUTS,
  settlements: OF_PAYOUTS,
};
/** Amounts with a column only where the other one is not zero. */
const ONLY_WITH: Partial<Record<AmountName, AmountName>> = {
  refunded: 'refunded',
  feeReturned: 'feeReturned',
  netAfterRefunds: 'refunded',
};

function namesOf(kind: WantedReport['kind'], groups: readonly Group[]): AmountName[] {
  return AMOUNTS_OF[kind].filter((name) => {
    const other = ONLY_WITH[name];
    return !other || groups.some((group) => AMOUNTS[other](group) > 0);
  });
}

/** The sums of a period by status and channel: those of the rows that a file of it has. */
export function Sums({ wanted: { kind, days, status, channel } }: { wanted: WantedReport }) {
  const summary = useRead('GET /api/checkout/reports/summary', { query: { period: 'custom', ...days } });
  const statuses = listOf(status);
  const nameOf = (one: string): string => STATUSES[kind].find(([value]) => value === one)?.[1] ?? one;
  const columnsOf = (names: readonly AmountName[]): Column<Group>[] => [
    { header: text.status, cell: (group) => nameOf(group.status) },
    {
      header: text.channel,
      narrow: 'second',
      cell: (group) => (group.channel === null ? '–' : channelName(group.channel)),
    },
    { header: text.count, align: 'end', cell: ({ count }) => formatCount(count) },
    ...names.map((name) => ({
      header: text[name],
      align: 'end' as const,
      ...(name !== 'gross' && { narrow: 'none' as const }),
      cell: (group: Group) => formatBirr(AMOUNTS[name](group)),
    })),
  ];
  return (
    <Loaded query={summary} skeletonRows={5}>
      {({ data }) => {
        const groups = (data[kind].groups as Group[]).filter(
          (group) =>
            (statuses.length === 0 || statuses.includes(group.status)) &&
            (channel === undefined || group.channel === channel),
        );
        if (groups.length === 0) return <Empty title={text.none}>{text.noneHelp}</Empty>;
        const names = namesOf(kind, groups);
        const columns = columnsOf(names);
        return (
          <List
            label={text.sums}
            columns={columns}
            rows={groups}
            idOf={(group) => `${group.status} ${group.channel}`}
            foot={<Totals columns={columns.length} sums={totalsOf(groups, names)} />}
          />
        );
      }}
    </Loaded>
  );
}

/** Sums of birr in whole santim, so that they are exact. */
const sumOf = (groups: Group[], amount: (group: Group) => number): number =>
  groups.reduce((santim, group) => santim + Math.round(amount(group) * 100), 0) / 100;

function totalsOf(groups: Group[], names: readonly AmountName[]) {
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  const amounts = names.map((name) => [text[name], birr(sumOf(groups, AMOUNTS[name]))] as const);
  return [[text.totalCount, formatCount(count)] as const, ...amounts];
}
