import type { ReactNode } from 'react';

import type { Tone } from './badge.tsx';
import { Time } from './time.tsx';

/** Something that happened; `detail` stands below its title. */
export type TimelineItem = { id: string; at: string; title: ReactNode; tone: Tone; detail?: ReactNode };

const DOTS: Record<Tone, string> = {
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
  info: 'bg-info',
  quiet: 'bg-strong-line',
};

/** What happened, oldest first, on the clock of Addis Ababa. */
export function Timeline({ items }: { items: readonly TimelineItem[] }) {
  const ordered = items.toSorted((one, other) => one.at.localeCompare(other.at));
  return (
    <ol className="flex flex-col">
      {ordered.map(({ id, at, title, tone, detail }) => (
        <li key={id} className="relative flex gap-3 pb-3 last:pb-0">
          <span aria-hidden="true" className="absolute top-4 bottom-0 left-[0.28125rem] w-px bg-line" />
          <span aria-hidden="true" className={`relative mt-1.5 size-2.5 shrink-0 rounded-full ${DOTS[tone]}`} />
          <div className="min-w-0 flex-1">
            <div className="flex flex-wrap justify-between gap-x-3">
              <span className="font-medium">{title}</span>
              <span className="text-xs text-quiet">
                <Time at={at} seconds />
              </span>
            </div>
            {detail && <div className="text-quiet">{detail}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}
