import { birr, formatBirr, formatCount, formatDay } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import type { PaymentSeries } from '../routes.ts';
import { text } from './text.ts';

type Interval = PaymentSeries['series'][number];

const [WIDTH, HEIGHT] = [720, 160];
const GAP_SHARE = 0.25;

const COLUMNS: readonly Column<Interval>[] = [
  { header: text.day, cell: ({ startDate }) => formatDay(startDate) },
  { header: text.paid, align: 'end', narrow: 'second', cell: ({ total }) => formatBirr(total.gross) },
  { header: text.payments, align: 'end', cell: ({ total }) => formatCount(total.count) },
];

/** What was paid on each day, as bars and as a table of the same numbers. */
export function Bars({ series, label }: { series: Interval[]; label: string }) {
  const most = Math.max(1, ...series.map(({ total }) => total.gross));
  const step = WIDTH / series.length;
  return (
    <>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} className="h-40 w-full text-brand">
        {series.map(({ startDate, total }, index) => {
          const height = (total.gross / most) * (HEIGHT - 4);
          return (
            <rect
              key={startDate}
              x={index * step + (step * GAP_SHARE) / 2}
              y={HEIGHT - height}
              width={step * (1 - GAP_SHARE)}
              height={Math.max(height, 1)}
              fill="currentColor"
            >
              <title>{`${formatDay(startDate)}: ${birr(total.gross)}`}</title>
            </rect>
          );
        })}
      </svg>
      <details>
        <summary className="text-brand">{text.asTable}</summary>
        <List label={label} columns={COLUMNS} rows={series.toReversed()} idOf={({ startDate }) => startDate} />
      </details>
    </>
  );
}
