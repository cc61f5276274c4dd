import { channelName } from '../../ui/channel-text.ts';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { birr, formatBirr, formatCount } from '../../ui/format.ts';
import { List, Totals, type Column } from '../../ui/list.tsx';
import { listOf } from '../../ui/search-params.ts';
import { useRead, type ReportSummary } from '../routes.ts';
import { text } from './text.ts';
import { STATUSES, type WantedReport } from './wanted.ts';

type PaymentGroup = ReportSummary['payments']['groups'][number];
type Group = PaymentGroup | ReportSummary['withdrawals']['groups'][number];

const AMOUNTS = {
  requested: ({ requested }: Group) => requested,
  gross: ({ gross }: Group) => gross,
  fee: ({ fee, feeTax }: Group) => fee + feeTax,
  net: ({ net }: Group) => net,
} as const;
const isPayment = (group: Group): group is PaymentGroup => 'refunded' in group;
/** Of payments that were refunded. */
const REFUNDS = {
  refunded: (group: Group) => (isPayment(group) ? group.refunded : 0),
  feeReturned: (group: Group) => (isPayment(group) ? group.feeReturned + group.feeTaxReturned : 0),
  netAfterRefunds: (group: Group) => (isPayment(group) ? group.netAfterRefunds : 0),
} as const;
const ALL = { ...AMOUNTS, ...REFUNDS };
type AmountName = keyof typeof ALL;
/** The columns; of refunds and of fees returned with them only where there are any. */
function namesOf(groups: readonly Group[]): AmountName[] {
  const has = (name: AmountName): boolean => groups.some((group) => ALL[name](group) > 0);
  const names = Object.keys(has('refunded') ? ALL : AMOUNTS) as AmountName[];
  return names.filter((name) => name !== 'feeReturned' || has(name));
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
      cell: (group: Group) => formatBirr(ALL[name](group)),
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
        const names = namesOf(groups);
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
  const amounts = names.map((name) => [text[name], birr(sumOf(groups, ALL[name]))] as const);
  return [[text.totalCount, formatCount(count)] as const, ...amounts];
}
