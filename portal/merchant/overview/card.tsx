import type { ReactNode } from 'react';

import { Section } from '../../ui/facts.tsx';

/** A part of the overview. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="card p-3">
      <Section title={title}>{children}</Section>
    </div>
  );
}
