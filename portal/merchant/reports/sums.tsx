import { channelName } from '../../ui/channel-text.ts';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { birr, formatBirr, formatCount } from '../../ui/format.ts';
import { List, Totals, type Column } from '../../ui/list.tsx';
import { listOf } from '../../ui/search-params.ts';
import { useRead, type ReportSummary } from '../routes.ts';
import { text } from './text.ts';
import { STATUSES, type WantedReport } from './wanted.ts';

type Group = ReportSummary['payments']['groups'][number];

const AMOUNTS = {
  requested: ({ requested }: Group) => requested,
  gross: ({ gross }: Group) => gross,
  fee: ({ fee, feeTax }: Group) => fee + feeTax,
  net: ({ net }: Group) => net,
} as const;
const AMOUNT_NAMES = Object.keys(AMOUNTS) as (keyof typeof AMOUNTS)[];

/** The sums of a period by status and channel: those of the rows that a file of it has. */
export function Sums({ wanted: { kind, days, status, channel } }: { wanted: WantedReport }) {
  const summary = useRead('GET /api/checkout/reports/summary', { query: { period: 'custom', ...days } });
  const statuses = listOf(status);
  const nameOf = (one: string): string => STATUSES[kind].find(([value]) => value === one)?.[1] ?? one;
  const columns: Column<Group>[] = [
    { header: text.status, cell: (group) => nameOf(group.status) },
    {
      header: text.channel,
      narrow: 'second',
      cell: (group) => (group.channel === null ? '–' : channelName(group.channel)),
    },
    { header: text.count, align: 'end', cell: ({ count }) => formatCount(count) },
    ...AMOUNT_NAMES.map((name) => ({
      header: text[name],
      align: 'end' as const,
      ...(name !== 'gross' && { narrow: 'none' as const }),
      cell: (group: Group) => formatBirr(AMOUNTS[name](group)),
    })),
  ];
  return (
    <Loaded query={summary} skeletonRows={5}>
      {({ data }) => {
        const groups = data[kind].groups.filter(
          (group) =>
            (statuses.length === 0 || statuses.includes(group.status)) &&
            (channel === undefined || group.channel === channel),
        );
        if (groups.length === 0) return <Empty title={text.none}>{text.noneHelp}</Empty>;
        return (
          <List
            label={text.sums}
            columns={columns}
            rows={groups}
            idOf={(group) => `${group.status} ${group.channel}`}
            foot={<Totals columns={columns.length} sums={totalsOf(groups)} />}
          />
        );
      }}
    </Loaded>
  );
}

/** Sums of birr in whole santim, so that they are exact. */
const sumOf = (groups: Group[], amount: (group: Group) => number): number =>
  groups.reduce((santim, group) => santim + Math.round(amount(group) * 100), 0) / 100;

function totalsOf(groups: Group[]) {
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  const amounts = AMOUNT_NAMES.map((name) => [text[name], birr(sumOf(groups, AMOUNTS[name]))] as const);
  return [[text.total, formatCount(count)] as const, ...amounts];
}
