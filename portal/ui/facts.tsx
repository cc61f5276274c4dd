import { useState, type ReactNode } from 'react';

import { Icon } from './icon.tsx';

/** Names and their values in two columns. Rows without a value are left out. */
export function Facts({ rows }: { rows: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="grid grid-cols-[8rem_1fr] sm:grid-cols-[10rem_1fr] gap-x-4 gap-y-1.5">
      {Object.entries(rows)
        .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-quiet">{name}</dt>
            <dd className="min-w-0">{value}</dd>
          </div>
        ))}
    </dl>
  );
}

type PartProps = { title: string; actions?: ReactNode; children: ReactNode };

const partOf = (className: string) =>
  function Part({ title, actions, children }: PartProps) {
    return (
      <section className={`flex flex-col ${className}`}>
        <header className="flex flex-wrap items-center justify-between gap-2">
          <h2 className="font-semibold">{title}</h2>
          {actions}
        </header>
        {children}
      </section>
    );
  };

/** A part of a screen or panel with its heading. */
export const Section = partOf('gap-2');

/** A framed part of a page with its heading. */
export const Panel = partOf('card gap-3 p-4');

const WIDE = '(width >= 48rem)';

/** A section of a long page, which begins closed on a narrow screen. */
export function Fold({ title, actions, children }: PartProps) {
  const [isOpen, setOpen] = useState(() => matchMedia(WIDE).matches);
  return (
    <details
      className="group border-t border-line pt-2"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="flex min-h-9 cursor-pointer items-center gap-2">
        <h2 className="font-semibold">{title}</h2>
        <Icon name="down" className="group-open:rotate-180" />
      </summary>
      <div className="flex flex-col gap-2 pt-1">
        {actions && <div>{actions}</div>}
        {children}
      </div>
    </details>
  );
}
