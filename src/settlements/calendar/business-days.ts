import { addDays, addisDay, HOUR_MS, startOfAddisDay } from '../../lib/dates.ts';

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

/** The first and the last day there is a calendar for; days are texts YYYY-MM-DD, so they compare as texts. */
export const FIRST_DAY = '2020-01-01';
export const LAST_DAY = '2100-12-31';

const WRITTEN = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** Whether a day is a Saturday or a Sunday. */
export function isWeekend(day: string): boolean {
  const weekday = new Date(day).getUTCDay();
  return weekday === 0 || weekday === 6;
}

/** A day in words: "Tuesday 19 January 2027". */
export function dayInWords(day: string): string {
  return WRITTEN.format(new Date(day)).replace(',', '');
}

/** From this hour in Addis Ababa on, a request counts as made on the next business day. */
const CUT_OFF_HOUR = 15;

/** The days (YYYY-MM-DD) a settlement is promised for, and each day on the way there that does not count, with why. */
export type SettlementDates = {
  effectiveDate: string;
  earliestExpected: string;
  expectedBy: string;
  reasons: SkippedDay[];
};

/**
 * Effective on the day of the request, or on the next business day from 15:00 in Addis Ababa on and on days that are
 * none; expected one to two business days after that. Throws RangeError when the calendar ends before.
 */
export function settlementDates(calendar: Calendar, requestedAt: Date): SettlementDates {
  const day = addisDay(requestedAt);
  const late = whyNotThatDay(calendar, day, requestedAt);
  const effective = late ? nextBusinessDay(calendar, day) : { date: day, skipped: [] };
  const expected = addBusinessDays(calendar, effective.date, 2);
  return {
    effectiveDate: effective.date,
    earliestExpected: nextBusinessDay(calendar, effective.date).date,
    expectedBy: expected.date,
    reasons: [...(late ? [late] : []), ...effective.skipped, ...expected.skipped],
  };
}

function whyNotThatDay(calendar: Calendar, day: string, requestedAt: Date): SkippedDay | null {
  const { reason, provisional } = calendarDay(calendar, day);
  if (reason !== null) return { date: day, reason, provisional };
  const cutOffMs = startOfAddisDay(day).getTime() + CUT_OFF_HOUR * HOUR_MS;
  if (requestedAt.getTime() < cutOffMs) return null;
  return { date: day, reason: `requested after ${CUT_OFF_HOUR}:00, ${dayInWords(day)}`, provisional: false };
}
