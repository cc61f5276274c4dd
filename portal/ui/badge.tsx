import type { ReactNode } from 'react';

const TONES = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  info: 'bg-info-soft text-info',
  quiet: 'bg-sunken text-quiet',
} as const;

export type Tone = keyof typeof TONES;

/** A state in a word. The word carries the meaning, the colour repeats it. */
export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-block rounded-full border border-transparent px-2 py-px text-xs font-semibold whitespace-nowrap ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}

/** A paragraph that stands out. */
export function Note({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <div className={`rounded-md border border-transparent px-3 py-2 ${TONES[tone]}`}>{children}</div>;
}
