import { dayInWords, isWeekend, addDays } from './days.ts';

/** The holidays on which banks are closed, of the days `from` to `until` (YYYY-MM-DD, both included) and no others. */
export type Calendar = { from: string; until: string; closed: ReadonlyMap<string, Closure> };

/** Why a day is closed beside any weekend: "Fasika and Patriots' Day". */
export type Closure = { name: string; provisional: boolean };

/** A day, and in words why nothing is settled on it; null on a business day. */
export type CalendarDay = {
  date: string;
  businessDay: boolean;
  reason: string | null;
  /** A holiday on it is not confirmed and may still move by a day. */
  provisional: boolean;
};

/** A day that does not count: "Timkat, Tuesday 19 January 2027"; "Saturday 21 November 2026". */
export type SkippedDay = { date: string; reason: string; provisional: boolean };

/** A business day that was counted to, and what was passed over on the way. */
export type CountedDay = { date: string; skipped: SkippedDay[] };

/** A calendar of these closed holidays; two on a day share its reason. */
export function calendarOf(
  range: { from: string; until: string },
  holidays: readonly { date: string; name: string; provisional: boolean }[],
): Calendar {
  const closed = new Map<string, Closure>();
  for (const { date, name, provisional } of holidays) {
    const before = closed.get(date);
    closed.set(date, {
      name: before ? `${before.name} and ${name}` : name,
      provisional: provisional || before?.provisional === true,
    });
  }
  return { ...range, closed };
}

/** What a day is. Throws RangeError outside of the calendar: what was not loaded is not known to be open. */
export function calendarDay(calendar: Calendar, day: string): CalendarDay {
  if (day < calendar.from || day > calendar.until) {
    throw new RangeError(`${day} is outside of the calendar, which goes from ${calendar.from} to ${calendar.until}`);
  }
  const closure = calendar.closed.get(day);
  const businessDay = closure === undefined && !isWeekend(day);
  const reason = closure ? `${closure.name}, ${dayInWords(day)}` : dayInWords(day);
  return { date: day, businessDay, reason: businessDay ? null : reason, provisional: closure?.provisional ?? false };
}

/** Whether anything is settled on a day; {@link calendarDay} says why not. */
export function isBusinessDay(calendar: Calendar, day: string): boolean {
  return calendarDay(calendar, day).businessDay;
}

/** The first business day after a day, whether that is one itself or not. */
export function nextBusinessDay(calendar: Calendar, day: string): CountedDay {
  return addBusinessDays(calendar, day, 1);
}

/**
 * The business day that is `count` (1 or more) after a day, which itself is not counted.
 * Throws RangeError when the calendar ends before.
 */
export function addBusinessDays(calendar: Calendar, day: string, count: number): CountedDay {
  if (!Number.isInteger(count) || count < 1) throw new RangeError(`count must be a whole number from 1, got ${count}`);
  const skipped: SkippedDay[] = [];
  let date = day;
  for (let counted = 0; counted < count;) {
    date = addDays(date, 1);
    const { reason, provisional } = calendarDay(calendar, date);
    if (reason === null) counted += 1;
    else skipped.push({ date, reason, provisional });
  }
  return { date, skipped };
}
