import { formatInstant, formatUtc } from './format.ts';

/** An instant on the clock of Addis Ababa; UTC appears under the pointer. */
export function Time({ at, seconds = false }: { at: string; seconds?: boolean }) {
  return (
    <time dateTime={at} title={formatUtc(at)} className="whitespace-nowrap">
      {formatInstant(at, { seconds })}
    </time>
  );
}
