import { addDays } from '../../../src/lib/dates.ts';
import type { Days } from '../../ui/days.ts';

export const PERIODS = ['day', 'week', 'month', 'quarter'] as const;
export type Period = (typeof PERIODS)[number];
export const CALENDARS = ['gregorian', 'ethiopian'] as const;
export type CalendarName = (typeof CALENDARS)[number];

const ETHIOPIAN = new Intl.DateTimeFormat('en-u-ca-ethiopic-nu-latn', {
  month: 'numeric',
  day: 'numeric',
  timeZone: 'UTC',
});

/** Month (1 to 13) and day of month in the Ethiopian calendar. */
function toEthiopian(day: string): { month: number; day: number } {
  const parts = ETHIOPIAN.formatToParts(new Date(day));
  const numberOf = (type: 'month' | 'day'): number => Number(parts.find((part) => part.type === type)?.value);
  return { month: numberOf('month'), day: numberOf('day') };
}

/** The Ethiopian month of a day; Nehase has the five or six days of Pagumen, as in the API's series. */
function ethiopianMonth(day: string): Days & { month: number } {
  const { month, day: dayOfMonth } = toEthiopian(day);
  const startDate = addDays(day, 1 - dayOfMonth - (month === 13 ? 30 : 0));
  if (month < 12) return { startDate, endDate: addDays(startDate, 29), month };
  const isLong = toEthiopian(addDays(startDate, 35)).month === 13;
  return { startDate, endDate: addDays(startDate, isLong ? 35 : 34), month: 12 };
}

/** The fiscal quarter of a day: its year begins in Hamle, the eleventh month. */
function ethiopianQuarter(day: string): Days {
  let first = ethiopianMonth(day);
  while (![11, 2, 5, 8].includes(first.month)) first = ethiopianMonth(addDays(first.startDate, -1));
  let last = first;
  for (let months = 1; months < 3; months += 1) last = ethiopianMonth(addDays(last.endDate, 1));
  return { startDate: first.startDate, endDate: last.endDate };
}

function gregorianMonths(day: string, months: 1 | 3): Days {
  const date = new Date(day);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() - (date.getUTCMonth() % months)];
  const iso = (at: number): string => new Date(at).toISOString().slice(0, 10);
  return { startDate: iso(Date.UTC(year, month, 1)), endDate: iso(Date.UTC(year, month + months, 0)) };
}

/** The days of the period that contains a day. Weeks begin on Monday in both calendars. */
export function periodOf(day: string, { period, calendar }: { period: Period; calendar: CalendarName }): Days {
  if (period === 'day') return { startDate: day, endDate: day };
  if (period === 'week') {
    const startDate = addDays(day, -((new Date(day).getUTCDay() + 6) % 7));
    return { startDate, endDate: addDays(startDate, 6) };
  }
  if (calendar === 'gregorian') return gregorianMonths(day, period === 'month' ? 1 : 3);
  if (period === 'quarter') return ethiopianQuarter(day);
  const { startDate, endDate } = ethiopianMonth(day);
  return { startDate, endDate };
}
