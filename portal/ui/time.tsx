import { dayText, formatUtc, instantText, type DayText } from './format.ts';

function Both({ text: { main, other } }: { text: DayText }) {
  return (
    <>
      {main}
      {other !== null && <span className="block text-xs text-quiet">{other}</span>}
    </>
  );
}

/** An instant on the clock of Addis Ababa; UTC appears under the pointer. */
export function Time({ at, seconds = false }: { at: string; seconds?: boolean }) {
  return (
    <time dateTime={at} title={formatUtc(at)} className="inline-block whitespace-nowrap">
      <Both text={instantText(at, { seconds })} />
    </time>
  );
}

/** A day written YYYY-MM-DD. */
export function Day({ day }: { day: string }) {
  return (
    <time dateTime={day} className="inline-block whitespace-nowrap">
      <Both text={dayText(day)} />
    </time>
  );
}
