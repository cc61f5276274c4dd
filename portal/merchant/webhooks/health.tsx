import { useState } from 'react';

import { lastDays } from '../../ui/days.ts';
import { Loaded } from '../../ui/feedback.tsx';
import { formatCount } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Day } from '../../ui/time.tsx';
import { useRead, type WebhookStats } from '../routes.ts';
import { text } from './text.ts';

const DAYS = 14;

type Counts = WebhookStats['byDay'][number];

/** The deliveries of a subscription in the last days, which are read once they are opened. */
export function Health({ subscriptionId }: { subscriptionId: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="text-brand">{text.health}</summary>
      {isOpen && <Days subscriptionId={subscriptionId} />}
    </details>
  );
}

const othersOf = ({ retrying, pending, skipped }: Counts): number => retrying + pending + skipped;
const countOf = (count: number): string | false => count > 0 && formatCount(count);

const COLUMNS: readonly Column<Counts>[] = [
  { header: text.day, cell: ({ date }) => <Day day={date} /> },
  { header: text.shares, narrow: 'none', cell: (day) => <Bar day={day} /> },
  { header: text.delivered, align: 'end', cell: ({ delivered }) => countOf(delivered) },
  { header: text.failed, align: 'end', cell: ({ failed }) => countOf(failed) },
  { header: text.other, align: 'end', cell: (day) => countOf(othersOf(day)) },
];

/** A bar of each day with deliveries beside its numbers. */
function Days({ subscriptionId }: { subscriptionId: string }) {
  const stats = useRead('GET /api/checkout/webhooks/stats', { query: { ...lastDays(DAYS), subscriptionId } });
  return (
    <Loaded query={stats} skeletonRows={3}>
      {({ data: { byDay } }) => {
        const rows = byDay.toReversed().filter(({ deliveries }) => deliveries > 0);
        if (rows.length === 0) return <p className="text-quiet">{text.noDeliveries}</p>;
        return <List label={text.health} rows={rows} idOf={({ date }) => date} columns={COLUMNS} />;
      }}
    </Loaded>
  );
}

function Bar({ day }: { day: Counts }) {
  const parts = [
    [day.delivered, 'fill-good'],
    [day.failed, 'fill-bad'],
    [othersOf(day), 'fill-strong-line'],
  ] as const;
  const total = Math.max(day.deliveries, 1);
  const starts = parts.map((_part, index) => parts.slice(0, index).reduce((sum, [count]) => sum + count, 0));
  return (
    <svg aria-hidden="true" viewBox="0 0 100 4" preserveAspectRatio="none" className="h-2 w-full min-w-16 rounded">
      {parts.map(([count, fill], index) => (
        <rect
          key={fill}
          x={((starts[index] ?? 0) / total) * 100}
          width={(count / total) * 100}
          height="4"
          className={fill}
        />
      ))}
    </svg>
  );
}
