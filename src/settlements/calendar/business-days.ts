import { addDays, addisDay, HOUR_MS, startOfAddisDay } from '../../lib/dates.ts';

/** The first and the last day of the calendar. Days are texts YYYY-MM-DD and compare as texts. */
export const FIRST_DAY = '2020-01-01';
export const LAST_DAY = '2100-12-31';

export type Calendar = ReturnType<typeof calendarOf>;

/** A day that is no business day, with the reason: "Timkat, Tuesday 19 January 2027"; "Saturday 21 November 2026". */
export type SkippedDay = { date: string; reason: string; provisional: boolean };

/**
 * The calendar of these holidays, on which banks are closed, from `from` until `until` (YYYY-MM-DD, both included). Two on the
 * same day are joined: "Fasika and Patriots' Day".
 */
export function calendarOf(
  range: { from: string; until: string },
  holidays: readonly { date: string; name: string; confirmed: boolean }[],
) {
  const closed = new Map<string, { name: string; provisional: boolean }>();
  for (const { date, name, confirmed } of holidays) {
    const before = closed.get(date);
    const provisional = !confirmed || before?.provisional === true;
    closed.set(date, { name: before ? `${before.name} and ${name}` : name, provisional });
  }
  return { ...range, closed };
}

/**
 * One day of the calendar. `reason`: why it is no business day; null when it is one. `provisional`: a holiday on it is not
 * confirmed and may still move by a day. Throws RangeError outside of the calendar, where no holidays were loaded.
 */
export function calendarDay(calendar: Calendar, day: string) {
  if (day < calendar.from || day > calendar.until) {
    throw new RangeError(`${day} is outside of the calendar, which goes from ${calendar.from} to ${calendar.until}`);
  }
  const closure = calendar.closed.get(day);
  const weekday = new Date(day).getUTCDay();
  const businessDay = closure === undefined && weekday !== 0 && weekday !== 6;
  const reason = closure ? `${closure.name}, ${dayInWords(day)}` : dayInWords(day);
  return { date: day, businessDay, reason: businessDay ? null : reason, provisional: closure?.provisional ?? false };
}

const WRITTEN = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** A day as text: "Tuesday 19 January 2027". */
export function dayInWords(day: string): string {
  return WRITTEN.format(new Date(day)).replace(',', '');
}

/** From this hour in Addis Ababa on, a request counts as made on the next business day. */
const CUT_OFF_HOUR = 15;

/** The days (YYYY-MM-DD) on which a settlement takes effect and is expected, and the days skipped on the way. */
export type SettlementDates = {
  effectiveDate: string;
  expectedFrom: string;
  expectedUntil: string;
  skippedDays: SkippedDay[];
};

/**
 * Effective on the day of the request when that is a business day and before 15:00 in Addis Ababa, else on the next
 * business day; expected one to two business days later. Throws RangeError beyond the end of the calendar.
 */
export function settlementDates(calendar: Calendar, requestedAt: Date): SettlementDates {
  const requestDay = addisDay(requestedAt);
  const isLate = requestedAt.getTime() >= startOfAddisDay(requestDay).getTime() + CUT_OFF_HOUR * HOUR_MS;
  const businessDays: string[] = [];
  const skippedDays: SkippedDay[] = [];
  for (let date = requestDay; businessDays.length < 3; date = addDays(date, 1)) {
    const { reason, provisional } = calendarDay(calendar, date);
    const late = `requested after ${CUT_OFF_HOUR}:00, ${dayInWords(date)}`;
    if (reason !== null) skippedDays.push({ date, reason, provisional });
    else if (isLate && date === requestDay) skippedDays.push({ date, reason: late, provisional: false });
    else businessDays.push(date);
  }
  const [effectiveDate = '', expectedFrom = '', expectedUntil = ''] = businessDays;
  return { effectiveDate, expectedFrom, expectedUntil, skippedDays };
}
