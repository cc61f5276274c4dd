import { useState, type ReactNode } from 'react';

import { Choice } from '../ui/field.tsx';
import { FormDialog } from '../ui/form.tsx';
import { catalogue } from '../ui/language.ts';

const text = catalogue({
  overlap: ['Overlap', 'አብሮ የሚሠራበት ጊዜ'],
  overlap0: ['Not at all: the old one ends now', 'ምንም፦ አሮጌው አሁን ያበቃል'],
  overlap1: ['1 hour', '1 ሰዓት'],
  overlap24: ['1 day', '1 ቀን'],
  overlap168: ['7 days', '7 ቀናት'],
});

const OVERLAPS = [
  ['0', text.overlap0],
  ['1', text.overlap1],
  ['24', text.overlap24],
  ['168', text.overlap168],
] as const;

type Props = {
  title: string;
  action: string;
  change: { error: unknown; isPending: boolean };
  onRotate: (overlapHours: number) => void;
  onClose: () => void;
  children: ReactNode;
};

/** Asks for how many hours an old key or secret works beside its successor. */
export function RotationDialog({ onRotate, children, ...dialog }: Props) {
  const [hours, setHours] = useState<(typeof OVERLAPS)[number][0]>('24');
  return (
    <FormDialog {...dialog} onSubmit={() => onRotate(Number(hours))}>
      {children}
      <Choice label={text.overlap} options={OVERLAPS} value={hours} onChange={setHours} />
    </FormDialog>
  );
}
