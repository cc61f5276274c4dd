import type { ReactNode } from 'react';

type Props = { title: string; actions?: ReactNode; children: ReactNode };

/** A framed part of a page with its heading. */
export function Panel({ title, actions, children }: Props) {
  return (
    <section className="card flex flex-col gap-3 p-4">
      <header className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-semibold">{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
