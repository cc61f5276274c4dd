import { birr, dayText, formatBirr, formatCount, formatDay } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { text as kit } from '../../ui/text.ts';
import type { PaymentSeries } from '../routes.ts';
import { text } from './text.ts';

type Interval = PaymentSeries['series'][number];

/** Of the picture, which is stretched to its place. */
const HEIGHT = 100;
const GAP_SHARE = 0.25;
const PARTS = [1, 0.5, 0];

const COLUMNS: readonly Column<Interval>[] = [
  { header: text.day, cell: ({ startDate }) => formatDay(startDate) },
  { header: text.paid, align: 'end', narrow: 'second', cell: ({ total }) => formatBirr(total.gross) },
  { header: text.payments, align: 'end', cell: ({ total }) => formatCount(total.count) },
];

/** The end of an axis for amounts up to this one: 1, 2, 5, 10, 20, 50 and so on. */
function axisEnd(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return [1, 2, 5].map((times) => times * unit).find((end) => end >= most) ?? 10 * unit;
}

/** What was paid on each day, as bars above their days beside an axis in birr, and as a table of the same numbers. */
export function Bars({ series, label }: { series: Interval[]; label: string }) {
  const end = axisEnd(Math.max(...series.map(({ total }) => total.gross)));
  const ends = [...new Set([series[0], series.at(-1)])].filter((one) => one !== undefined);
  return (
    <>
      <div className="grid grid-cols-[auto_1fr] gap-x-2 gap-y-1 text-xs text-quiet tabular-nums">
        <div aria-hidden="true" className="flex h-40 flex-col justify-between text-end leading-none">
          {PARTS.map((part) => (
            <span key={part}>{formatCount(end * part)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${series.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label}
          className="h-40 w-full text-brand"
        >
          {PARTS.map((part) => (
            <line
              key={part}
              x2={series.length}
              y1={(1 - part) * HEIGHT}
              y2={(1 - part) * HEIGHT}
              className="stroke-line"
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {series.map(({ startDate, total }, index) => {
            const height = (total.gross / end) * HEIGHT;
            return (
              <rect
                key={startDate}
                x={index + GAP_SHARE / 2}
                y={HEIGHT - height}
                width={1 - GAP_SHARE}
                height={height}
                fill="currentColor"
              >
                <title>{kit.about(formatDay(startDate), birr(total.gross))}</title>
              </rect>
            );
          })}
        </svg>
        <div aria-hidden="true" className="col-start-2 flex justify-between">
          {ends.map(({ startDate }) => (
            <span key={startDate}>{dayText(startDate).main}</span>
          ))}
        </div>
      </div>
      <details>
        <summary className="text-brand">{text.asTable}</summary>
        <List label={label} columns={COLUMNS} rows={series.toReversed()} idOf={({ startDate }) => startDate} />
      </details>
    </>
  );
}
