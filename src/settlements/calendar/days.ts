import { DAY_MS } from '../../lib/dates.ts';

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

/** The day that is `count` days later; earlier when negative. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

/** Every day from one to another, both included. */
export function daysFrom(startDay: string, endDay: string): string[] {
  const days: string[] = [];
  for (let day = startDay; day <= endDay; day = addDays(day, 1)) days.push(day);
  return days;
}

/** Whether a day is a Saturday or a Sunday. */
export function isWeekend(day: string): boolean {
  const weekday = new Date(day).getUTCDay();
  return weekday === 0 || weekday === 6;
}

/** A day in words: "Tuesday 19 January 2027". */
export function dayInWords(day: string): string {
  return WRITTEN.format(new Date(day)).replace(',', '');
}
